# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in kernels written in Python: what is said, and at which line."""
import inspect
import re
import subprocess
import sys
import threading

import pytest

import tilewright
import tilewright.kernel as tk

M, N, K = tk.symbols("M N K")
X, Y = tk.In[tk.f32, M, N], tk.Out[tk.f32, M, N]
MISTAKES = []


def mistake(message, advice=None):
    """A function whose trace says `message` about the line that is marked with `# here`."""
    def add(function):
        MISTAKES.append(pytest.param(function, message, advice, id=f"{function.__code__.co_firstlineno}"))
        return function
    return add


def row(x):
    m, = tk.grid(M)
    return m, tk.load(x, [m, 0], [1, N])


@mistake("+: shapes [1, N] and [1, 4] do not fit: N against 4", "extents must be equal for every call, or one of them 1")
def shapes(x: X, y: Y):
    m, t = row(x)
    t + tk.load(x, [m, 0], [1, 4])  # here


@mistake("load of x got 1 positions, but the buffer has 2 dimensions: [M, N]", "give one for each dimension")
def positions(x: X, y: Y):
    m, = tk.grid(M)
    tk.load(x, [m], [1, N])  # here


@mistake("exp is not for i64[1]", "it is for floats: cast(x, f32)")
def math_of_integers(x: X, y: Y):
    tk.exp(tk.iota([1]))  # here


@mistake("round_even is not for i64[1]")
def cpp_name(x: X, y: Y):
    tk.round_even(tk.iota([1]))  # here


@mistake("kernel no_grid has no grid", "say how many programs run: m, = tk.grid(M)")
def no_grid(x: X, y: Y):  # here: -1
    pass


@mistake("program_id(0) stands before the grid", "say how many programs run first: tk.grid(M)")
def early_id(x: X, y: Y):
    tk.program_id(0)  # here


@mistake("nothing is ever stored to output y", "store to it, or give it a value that it is filled with: "
                                               "tk.Out[dtype, M, N].filled(0)")
def unstored(x: X, y: Y):  # here: -2
    tk.grid(M)


@mistake("size K has the symbol K, which is not of this kernel", "use K as a size of an argument, or annotate one with it: n: K")
def foreign_symbol(x: X, y: Y):
    tk.zeros([K], tk.f32)  # here


@mistake("an Index is known only when the kernel runs, but a condition asks for it while the kernel is traced",
         "tk.select chooses between values, tk.when and tk.branch between what is done; conditions are joined by & | ~")
def condition_of_index(x: X, y: Y):
    m, = tk.grid(M)
    if m:  # here
        pass


@mistake("a Scalar is known only when the kernel runs, but a condition asks for it while the kernel is traced")
def condition(x: X, y: Y):
    m, = tk.grid(M)
    if m == 0:  # here
        pass


@mistake("a Tile is known only when the kernel runs, but a condition asks for it while the kernel is traced")
def maximum_of_python(x: X, y: Y):
    _, t = row(x)
    max(t, t)  # here


@mistake("an Index is known only when the kernel runs, but Python asks for it while the kernel is traced",
         "loops of the program are `for k in tk.loop(n)`; range() and lists unroll")
def range_of_index(x: X, y: Y):
    m, = tk.grid(M)
    for _ in range(m):  # here
        pass


@mistake("size N is not known while the kernel is traced", "ask size.is_constant first, or bind its symbols")
def range_of_size(x: X, y: Y):
    for _ in range(N):  # here
        pass


@mistake("/ of i64[4] does not say how it rounds", "tk.div(a, b) rounds to 0; tk.cast(a, tk.f32) / b is a fraction")
def quotient(x: X, y: Y):
    tk.iota([4]) / 2  # here


@mistake("// of tiles and scalars does not say how it rounds",
         "tk.div(a, b) rounds integers to 0, and tk.floor(a / b) floats down")
def floor_quotient(x: X, y: Y):
    tk.iota([4]) // 2  # here


@mistake("% of tiles and scalars does not say how it rounds",
         "tk.rem(a, b) has the sign of a, as C's; a - b * tk.floor(a / b) that of b")
def remainder(x: X, y: Y):
    tk.iota([4]) % 2  # here


@mistake("an Index has no /", "write a // b or tk.cdiv(a, b), which say how they round")
def quotient_of_index(x: X, y: Y):
    m, = tk.grid(M)
    m / 2  # here


@mistake("break, return or an exception leaves a loop while it is traced",
         "a loop runs all its iterations: its bounds say when it ends, and tk.select what an iteration gives")
def breaks(x: X, y: Y):
    m, t = row(x)
    for k in tk.loop(N):  # here
        break
    tk.store(y, [m, 0], t)


@mistake("break, return or an exception leaves a loop while it is traced")
def returns(x: X, y: Y):
    row(x)
    for k in tk.loop(N):  # here
        return


@mistake("break, return or an exception leaves a loop while it is traced")
def swallows(x: X, y: Y):
    m, t = row(x)
    try:
        for k in tk.loop(N):  # here
            raise ValueError
    except ValueError:
        pass
    tk.store(y, [m, 0], t)


@mistake("an exception leaves a branch while it is traced", "the body of tk.when is traced once, to its end")
def swallows_in_when(x: X, y: Y):
    m, t = row(x)
    try:
        with tk.when(m == 0):  # here
            raise ValueError
    except ValueError:
        pass
    tk.store(y, [m, 0], t)


@mistake("the loop does not carry other", "it carries total: give its first value, tk.loop(..., other=...)")
def not_carried(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, total=t):
        s.other = t  # here


@mistake("the loop does not carry other")
def not_carried_read(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, total=t):
        s.other + 1  # here


@mistake("tile f32[1, N] of FILE:LINE belongs to the body of the loop at FILE:LINE, which has ended",
         "carry it: `for k, s in tk.loop(n, x=first)` has s.x after it; tk.branch gives back what its functions return")
def rebound(x: X, y: Y):
    m, t = row(x)
    for k in tk.loop(N):
        t = t + 1
    tk.store(y, [m, 0], t)  # here


@mistake("the body of the loop returns f32[1, 1] as value 0, but f32[1, N] is carried")
def other_type(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, total=t):
        s.total = tk.sum(t, 1)  # here


@mistake("a loop got 4 bounds", "say loop(end), loop(begin, end) or loop(begin, end, step)")
def bounds(x: X, y: Y):
    for k in tk.loop(0, 1, 2, 3):  # here
        pass


@mistake("the step of the loop is 0")
def no_step(x: X, y: Y):
    for k in tk.loop(0, N, 0):  # here
        pass


@mistake("the body of the loop has not ended", "loops of the program are `for k in tk.loop(n)`")
def kept_open(x: X, y: Y):
    m, t = row(x)
    KEPT.append(tk.loop(N))  # here
    next(KEPT[-1])
    tk.store(y, [m, 0], t)


KEPT = []


@mistake("the body of the loop has not ended, but what is around it ends",
         "loops of the program are `for k in tk.loop(n)`, and nothing else takes their next element")
def crossed(x: X, y: Y):
    for a in tk.loop(N):
        KEPT.append(tk.loop(N))  # here
        next(KEPT[-1])


@mistake("combine returns a Tile, but the loop carries total", "return a dict with a value for each name")
def combined(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, combine=lambda a, b: a.total + b.total, total=t):  # here
        pass


@mistake("combine returns a dict of sum, but the loop carries total")
def combined_names(x: X, y: Y):
    m, t = row(x)
    for k, s in tk.loop(N, combine=lambda a, b: {"sum": a.total + b.total}, total=t):  # here
        pass


@mistake("this loop has a combine, but stands in the body of the loop")
def inner_combine(x: X, y: Y):
    m, t = row(x)
    for k in tk.loop(N):
        for n, s in tk.loop(N, combine=lambda a, b: {"t": a.t + b.t}, t=t):  # here
            pass


@mistake("branch: the first function returns a value, but the second nothing",
         "both return the same: nothing, a value, or a tuple")
def branches(x: X, y: Y):
    m, t = row(x)
    tk.branch(m == 0, lambda: t, lambda: None)  # here


@mistake("branch: value 0 is f32[1, N] from the first branch, but f32[1, 1] from the second")
def branch_types(x: X, y: Y):
    m, t = row(x)
    tk.branch(m == 0, lambda: t, lambda: tk.sum(t, 1))  # here


@mistake("the condition of branch is i64, but must be i1", "compare it: x != 0")
def branch_on_number(x: X, y: Y):
    m, t = row(x)
    tk.branch(tk.extract(tk.iota([1])), lambda: t, lambda: t)  # here


@mistake("when got a Tile", "it takes one number: tk.extract(tile) gives the one in a tile of one element")
def when_tile(x: X, y: Y):
    with tk.when(tk.zeros([1], tk.i1)):  # here
        pass


@mistake("load got a Tile", "it takes an argument of the kernel whose annotation is tk.In, tk.Out or tk.InOut")
def load_of_tile(x: X, y: Y):
    _, t = row(x)
    tk.load(t, [0, 0], [1, 1])  # here


@mistake("load got an Index, which is known only when the program runs",
         "sizes are integers, symbols, and what is made of these: all programs have the same")
def index_as_extent(x: X, y: Y):
    m, = tk.grid(M)
    tk.load(x, [0, 0], [1, m])  # here


@mistake("load got an int", "it takes a list of positions, one for each dimension: [m, 0]")
def positions_without_list(x: X, y: Y):
    tk.load(x, 0, [1, 1])  # here


@mistake("sin got a str", "it takes a Tile; tk.full(shape, number) makes one of a number")
def text_for_tile(x: X, y: Y):
    tk.sin("x")  # here


@mistake("select got a NoneType", "it takes tiles, scalars, sizes and numbers")
def none_for_value(x: X, y: Y):
    tk.select(True, 1.0, None)  # here


@mistake("cast got a float", "it takes a dtype: tk.f32")
def no_dtype(x: X, y: Y):
    _, t = row(x)
    tk.cast(t, 1.5)  # here


@mistake("full got a Tile", "it takes one number: tk.extract(tile) gives the one in a tile of one element")
def full_of_tile(x: X, y: Y):
    _, t = row(x)
    tk.full([2], t)  # here


@mistake("hint got a str", "it takes a list of integers")
def hint_text(x: X, y: Y):
    tk.hint("tile.block", "4")  # here


@mistake("the begin of the loop got a float", "it takes an integer, a size or an Index; tk.extract(tile) gives the "
                                              "number in a tile of one element")
def float_bound(x: X, y: Y):
    for k in tk.loop(0.5, N):  # here
        pass


@mistake('store: there is no atomic "mul"', "there are add, min, max and, for scatter, any")
def atomic(x: X, y: Y):
    m, t = row(x)
    tk.store(y, [m, 0], t, atomic="mul")  # here


@mistake('store of y: atomic="any" is for scatter')
def atomic_any(x: X, y: Y):
    m, t = row(x)
    tk.store(y, [m, 0], t, atomic="any")  # here


@mistake("store to x, which is an input", "declare it with inout or output")
def store_to_input(x: X, y: Y):
    m, t = row(x)
    tk.store(x, [m, 0], t)  # here


@mistake("kernel inner is called while a kernel is traced", "kernels do not call kernels: what they share is a plain function")
def nests(x: X, y: Y):
    inner.text()  # here


@mistake("kernel recurses is called while a kernel is traced")
def recurses(x: X, y: Y):
    tk.kernel(recurses).text()  # here


@mistake("the kernel has more than 100000 operations",
         "loops of Python are unrolled while the kernel is traced: does this one end? Loops of the program are "
         "`for k in tk.loop(n)`")
def endless(x: X, y: Y):
    _, t = row(x)
    while True:
        t = t + 1  # here


@tk.kernel
def inner(x: X, y: Y):
    m, t = row(x)
    tk.store(y, [m, 0], t)


def marked_line(function):
    lines, first = inspect.getsourcelines(function)
    number, text = next((first + i, line) for i, line in enumerate(lines) if "# here" in line)
    return number + int(text.partition("# here:")[2] or 0)


def first_line(function):
    """Before the decorator of this file, which kernels do not have."""
    return function.__code__.co_firstlineno


@pytest.mark.parametrize("function, message, advice", MISTAKES)
def test_mistake(function, message, advice):
    with pytest.raises(tk.KernelError) as caught:
        tk.kernel(function).text()
    error = caught.value
    assert isinstance(error, tilewright.InputError) and error.code == "TW-KERNEL-0003"
    said = error.message
    if "FILE:LINE" in message:
        said = re.sub(r"\S*\.py:\d+", "FILE:LINE", said)
    assert said == message
    if advice is not None:
        assert error.help == advice
    assert error.file == __file__ and error.line == marked_line(function)
    where = f"{error.file}:{error.line}" + (f":{error.column}" if error.column else "")
    assert f"--> {where}, in kernel {function.__name__}" in error.text


def test_place_of_an_operator_is_its_expression():
    def wrong(x: X, y: Y):
        _, t = row(x)
        a = 1; t + tk.zeros([7], tk.f32)  # noqa: E702

    with pytest.raises(tk.KernelError) as caught:
        tk.kernel(wrong).text()
    assert caught.value.column == 16
    innermost = caught.traceback[-1]
    assert innermost.lineno + 1 == caught.value.line  # the traceback ends in the author's line


def test_the_first_mistake_counts():
    """Also when the author's code catches it."""
    def wrong(x: X, y: Y):
        m, t = row(x)
        try:
            tk.sin(1)
        except tk.KernelError:
            pass
        tk.store(y, [m, 0], t)

    with pytest.raises(tk.KernelError, match="sin got an int"):
        tk.kernel(wrong).text()

    def wrong_at_the_end(x: X, y: Y):
        m, t = row(x)
        tk.store(y, [m, 0], t)
        try:
            tk.sin(1)
        except tk.KernelError:
            pass

    with pytest.raises(tk.KernelError, match="sin got an int"):
        tk.kernel(wrong_at_the_end).text()


def test_exceptions_of_the_author_pass():
    class Mine(Exception):
        pass

    def raises(x: X, y: Y):
        for k in tk.loop(N):
            raise Mine("why")

    with pytest.raises(Mine, match="why"):
        tk.kernel(raises).text()
    assert inner.text()

    def recurses_in_python(x: X, y: Y):
        def deeper(t):
            return deeper(t + 1)
        deeper(row(x)[1])

    with pytest.raises(RecursionError):
        tk.kernel(recurses_in_python).text()
    assert inner.text()


def test_outside_of_kernels():
    with pytest.raises(tk.KernelError) as caught:
        tk.zeros([1], tk.f32)
    assert caught.value.message == "zeros is called outside of a kernel"
    assert caught.value.help == "it belongs into a function with @tk.kernel, or one that such a function calls"
    with pytest.raises(tk.KernelError, match="== is called outside of a kernel"):
        M == N
    with pytest.raises(tk.KernelError, match="sizes have no /"):
        M / 2
    assert repr((M + 2 * N) // 3) == "(M + N * 2) floordiv 3" and repr(tk.cdiv(M, 4)) == "M ceildiv 4"
    assert tk.cdiv(7, 4) == 2


def test_values_of_another_trace():
    kept = []

    def first(x: X, y: Y):
        m, t = row(x)
        kept.append(t)
        tk.store(y, [m, 0], t)

    def second(x: X, y: Y):
        m, t = row(x)
        tk.store(y, [m, 0], t + kept[0])

    tk.kernel(first).text()
    with pytest.raises(tk.KernelError, match="belongs to another kernel"):
        tk.kernel(second).text()


DECLARATIONS = [
    (lambda: tk.symbol("2x"), '"2x" cannot be the name of a symbol'),
    (lambda: tk.symbol("N", min=5, max=2), "symbol N cannot have min = 5, max = 2, multiple = 1"),
    (lambda: tk.dtype("T"), "the dtype variable T has no dtypes to choose from"),
    (lambda: tk.In[tk.f32, M].filled(0), "only outputs are filled"),
]


@pytest.mark.parametrize("make, message", DECLARATIONS)
def test_declaration(make, message):
    with pytest.raises(tk.KernelError) as caught:
        make()
    assert caught.value.message == message and caught.value.file == __file__


def no_annotation(x): pass                                            # noqa: E704
def wrong_annotation(x: int): pass                                    # noqa: E704
def no_dtype_in_annotation(x: tk.In[M, N]): pass                      # noqa: E704
def no_size_in_annotation(x: tk.In[tk.f32, "M"]): pass                # noqa: E704
def default(x: X = None): pass                                        # noqa: E704
def variadic(*x): pass                                                # noqa: E704
def parameter_without_default(x: X, *, BM): pass                      # noqa: E704
def parameter_of_text(x: X, *, BM="a"): pass                          # noqa: E704
def other_symbol(n: M): pass                                          # noqa: E704
def unknown_name(x: "Nowhere"): pass                                  # noqa: E704,F821


@pytest.mark.parametrize("function, message", [
    (no_annotation, "argument x has no annotation"),
    (wrong_annotation, "argument x has the annotation <class 'int'>"),
    (no_dtype_in_annotation, "argument x: M is no dtype"),
    (no_size_in_annotation, "argument x: 'M' is no size"),
    (default, "argument x has a default"),
    (variadic, "a kernel has no *x"),
    (parameter_without_default, "parameter BM has no value by default"),
    (parameter_of_text, "parameter BM has 'a' by default"),
    (other_symbol, "argument n brings the symbol M, but is not called so"),
    (unknown_name, "the annotation of x, 'Nowhere', cannot be evaluated: name 'Nowhere' is not defined"),
])
def test_signature(function, message):
    with pytest.raises(tk.KernelError) as caught:
        tk.kernel(function)
    error = caught.value
    assert error.message == message and error.help
    assert (error.file, error.line) == (__file__, first_line(function))


def test_settings():
    with pytest.raises(tk.KernelError, match="has no parameter and no symbol called Q"):
        inner.text(Q=1)
    with pytest.raises(tk.KernelError, match="M is set to 'a'"):
        inner.text(M="a")
    with pytest.raises(tk.KernelError, match="64-bit integers"):
        inner.text(M=2**63)
    assert "[3, N]" in inner.text(M=3)


def test_in_threads():
    errors = []

    def run(i):
        try:
            for _ in range(50):
                assert f"[{i}, N]" in inner.text(M=i)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


SESSION = """
import tilewright.kernel as tk
M, N = tk.symbols("M N")
@tk.kernel
def scale(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)

print(scale.text().splitlines()[0])
@tk.kernel
def wrong(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    tk.exp(tk.iota([1]))

try:
    wrong.text()
except tk.KernelError as error:
    print(error.file, error.line, error.message)

"""


def test_in_a_session():
    """Without any source, as in a REPL."""
    made = subprocess.run([sys.executable, "-i", "-q"], input=SESSION, capture_output=True, text=True, check=True)
    assert "tile.kernel @scale" in made.stdout, made.stderr
    assert "<stdin> 3 exp is not for i64[1]" in made.stdout or "<python-input" in made.stdout


def test_annotations_as_text():
    names = {"__name__": "texts"}
    exec(compile("""from __future__ import annotations
import tilewright.kernel as tk
def make():
    Q = tk.symbol("Q")
    @tk.kernel
    def double(x: tk.In[tk.f32, Q], y: tk.Out[tk.f32, Q], *, B=4):
        q, = tk.grid(tk.cdiv(Q, B))
        tk.store(y, [q * B], tk.load(x, [q * B], [B]) * 2)
    return double
""", "texts.py", "exec"), names)
    assert "grid [Q ceildiv 4]" in names["make"]().text()


def test_no_leaks(run_python):
    """Traces, failed or not, leave nothing behind."""
    assert "exp is not for" in run_python(SESSION)
