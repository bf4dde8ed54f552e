# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in what kernels are made of: symbols, dtypes, signatures, the grid, settings."""
import numpy as np
import pytest
from kernel_mistakes import M, Mistakes, N, X, Y, row

import tilewright.kernel as tk

K = tk.symbol("K")
mistake = Mistakes()


@tk.kernel
def inner(x: X, y: Y):
    m, t = row(x)
    tk.store(y, [m, 0], t)


@mistake("kernel no_grid has no grid", "say how many programs run: m, = tk.grid(M)")
def no_grid(x: X, y: Y):  # here: -1
    pass


@mistake("program_id(0) stands before the grid", "say how many programs run first: tk.grid(M)")
def early_id(x: X, y: Y):
    tk.program_id(0)  # here


@mistake("nothing is ever stored to output y", "store to it, or give it a value that it is filled with: "
                                               "tk.Out[dtype, M, N, tk.filled(0)]")
def unstored(x: X, y: Y):  # here: -2
    tk.grid(M)


@mistake("kernel gives_a_tile returns Tile", "a kernel returns nothing: it stores what it computes into its Out and InOut "
                                             "buffers")
def gives_a_tile(x: X, y: Y):  # here: -2
    m, t = row(x)
    tk.store(y, [m, 0], t)
    return t


@mistake("size K has the symbol K, which is not of this kernel", "use K as a size of an argument, or annotate one with it: n: K")
def foreign_symbol(x: X, y: Y):
    tk.zeros([K], tk.f32)  # here


@mistake("kernel inner is called while a kernel is traced", "kernels do not call kernels: what they share is a plain function")
def nests(x: X, y: Y):
    inner.text()  # here


@mistake("kernel recurses is called while a kernel is traced")
def recurses(x: X, y: Y):
    tk.kernel(recurses).text()  # here


@mistake("kernel inner is called while a kernel is traced", "kernels do not call kernels: what they share is a plain function")
def nests_what_is_compiled(x: X, y: Y):
    inner(np.ones((2, 3), np.float32))  # here


@pytest.mark.parametrize("name", mistake.names())
def test_mistake(name):
    inner(np.ones((2, 3), np.float32))  # compiled now
    mistake.check(name)


def yields(x: X, y: Y): yield                                         # noqa: E704
async def awaits(x: X, y: Y): pass                                    # noqa: E704


DECLARATIONS = [
    (lambda: tk.symbol("2x"), '"2x" cannot be the name of a symbol'),
    (lambda: tk.symbol("N", min=5, max=2), "symbol N cannot have min = 5, max = 2, multiple = 1"),
    (lambda: tk.dtype("T"), "the dtype variable T has no dtypes to choose from"),
    (lambda: tk.In[tk.f32, M, tk.filled(0)], "only outputs are filled"),
    (lambda: tk.symbols(5), "5 are no names of symbols"),
    (lambda: tk.kernel(5), "5 is no kernel"),
    (lambda: tk.kernel(print), "<built-in function print> is no kernel"),
    (lambda: tk.kernel(inner), f"{inner!r} is no kernel"),
    (lambda: tk.kernel(yields), "the generator or coroutine yields is no kernel"),
    (lambda: tk.kernel(awaits), "the generator or coroutine awaits is no kernel"),
]


@pytest.mark.parametrize("make, message", DECLARATIONS)
def test_declaration(make, message):
    with pytest.raises(tk.KernelError) as caught:
        make()
    assert caught.value.message == message and caught.value.file == __file__


def no_annotation(x): pass                                            # noqa: E704
def wrong_annotation(x: int): pass                                    # noqa: E704
def no_dtype_in_annotation(x: tk.In[M, N]): pass                      # noqa: E704
def nothing_in_annotation(x: tk.In[()]): pass                         # noqa: E704
def no_size_in_annotation(x: tk.In[tk.f32, "M"]): pass                # noqa: E704
def list_in_annotation(x: tk.In[tk.f32, [M]]): pass                   # noqa: E704
def default(x: X = None): pass                                        # noqa: E704
def variadic(*x): pass                                                # noqa: E704
def parameter_without_default(x: X, *, BM): pass                      # noqa: E704
def parameter_of_text(x: X, *, BM="a"): pass                          # noqa: E704
def other_symbol(n: M): pass                                          # noqa: E704
def other_symbol_for_checkers(n: tk.In[tk.Symbol, M]): pass           # noqa: E704
def no_symbol(n: tk.In[tk.Symbol, 3]): pass                           # noqa: E704
def symbol_that_is_written(n: tk.Out[tk.Symbol, M]): pass             # noqa: E704
def unknown_name(x: "Nowhere"): pass                                  # noqa: E704,F821


SIGNATURES = {
    "no_annotation": "argument x has no annotation",
    "wrong_annotation": "argument x has the annotation <class 'int'>",
    "no_dtype_in_annotation": "argument x: M is no dtype",
    "nothing_in_annotation": "argument x: () is no dtype",
    "no_size_in_annotation": "argument x: 'M' is no size",
    "list_in_annotation": "argument x: [M] is no size",
    "default": "argument x has a default",
    "variadic": "a kernel has no *x",
    "parameter_without_default": "parameter BM has no value by default",
    "parameter_of_text": "parameter BM has 'a' by default",
    "other_symbol": "argument n brings the symbol M, but is not called so",
    "other_symbol_for_checkers": "argument n brings the symbol M, but is not called so",
    "no_symbol": "argument n is annotated with tk.Symbol, but not with one symbol",
    "symbol_that_is_written": "argument n is annotated with tk.Symbol, but not with one symbol",
    "unknown_name": "the annotation of x, 'Nowhere', cannot be evaluated: name 'Nowhere' is not defined",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    function = globals()[name]
    with pytest.raises(tk.KernelError) as caught:
        tk.kernel(function)
    error = caught.value
    assert error.message == SIGNATURES[name] and error.help
    assert (error.file, error.line) == (__file__, function.__code__.co_firstlineno)


def test_settings():
    with pytest.raises(tk.KernelError, match="has no parameter and no symbol called Q"):
        inner.text(Q=1)
    with pytest.raises(tk.KernelError, match="M is set to 'a'"):
        inner.text(M="a")
    with pytest.raises(tk.KernelError, match="from -2\\*\\*63 to"):
        inner.text(M=2**63)
    assert "[3, N]" in inner.text(M=3)
