# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registered kernels that write to their arguments, in models: calls of the kernel, of which nobody sees a copy."""
import copy

import pytest
import torch
from torch import nn

import tilewright.kernel as tk
import tilewright.torch
from compare import check, tensors

pytestmark = pytest.mark.usefixtures("fresh")
M, N, T = *tk.symbols("M N"), tk.dtype("T", tk.f32 | tk.f64)


@tk.kernel
def accumulate(x: tk.InOut[T, M, N], y: tk.In[T, N]):
    m, = tk.grid(M)
    tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) + tk.reshape(tk.load(y, [0], [N]), [1, N]))


@tk.kernel
def step(sums: tk.Out[tk.f32, M], x: tk.InOut[tk.f32, M, N], rate: tk.f64, w: tk.InOut[tk.f32, M], last: tk.Out[tk.f32, M]):
    """Outputs and what is written in turns."""
    m, = tk.grid(M)
    row = tk.load(x, [m, 0], [1, N]) * rate
    total = tk.reshape(tk.sum(row, 1), [1])
    old = tk.load(w, [m], [1])
    tk.store(last, [m], old)
    tk.store(w, [m], old + total)
    tk.store(x, [m, 0], row)
    tk.store(sums, [m], total * 2)


add = accumulate.register("tilewright_in_place_test::add")
move = step.register("tilewright_in_place_test::move")


def argument(x, y):
    add(x, y)
    return x * 2


def result(x, y):
    z = x * 3
    add(z, y)
    add(z, y)
    return z + 1, z


def old_value(x, y):
    z = x + 1
    before = z.exp()
    w = z.clone()
    add(z, y)
    return before, w, z, z.sum()


def rows(x, y):
    z = x * 2
    add(z[1:], y)
    return z


def columns(x, y):
    z = x.exp()
    add(z.t(), y[:1].expand(x.shape[0]))
    return z.sum(0), z


def rows_of_argument(x, y):
    add(x[:2], y)
    return x.sum()


def every_second_row(x, y):
    add(x[::2], y)
    z = x.t() * 2
    add(z[:, 1::2], y[:2])
    return z


def a_row_of_each(x, y):
    z = x.expand(2, *x.shape).clone()
    add(z[:, 1], y)
    return z


def several(x, y):
    w = y.new_zeros(x.shape[0])
    sums, last = move(x, 0.5, w)
    more, _ = move(x, 2.0, w)
    return sums, last, w, more


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("f", [argument, result, old_value, rows, columns, rows_of_argument, every_second_row,
                               a_row_of_each, several])
def test_it_is_a_call_of_the_kernel(f, dynamic):
    if dynamic and f in (every_second_row, a_row_of_each):
        pytest.skip("the part is said by strides that are sizes, which a graph cannot ask for")
    x, y = torch.randn(5, 4), torch.randn(4)
    said = tilewright.torch.explain(f, x.clone(), y, dynamic=dynamic)
    assert not said.eager and len(said.graphs) == len(said.graphs[0].programs) == 1, said
    assert "calls the kernel tilewright_in_place_test" in str(said.graphs[0].programs[0].report)
    check(f, x, y, dynamic=dynamic, again=[(torch.randn(7, 4), torch.randn(4))] if dynamic else ())


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("f", [argument, result, old_value, rows, columns, rows_of_argument, every_second_row,
                               a_row_of_each, several])
def test_in_exported_programs(f, decomposed):
    class Model(nn.Module):
        def forward(self, x, y):
            return f(x, y)

    x, y = torch.randn(5, 4), torch.randn(4)
    exported = torch.export.export(Model(), (x, y))
    if decomposed:
        exported = exported.run_decompositions()
    program = tilewright.compile(exported)
    ours, theirs = copy.deepcopy((x, y)), copy.deepcopy((x, y))
    for a, b in zip(tensors((program(*ours), ours)), tensors((f(*theirs), theirs)), strict=True):
        torch.testing.assert_close(a, b)


def test_each_dtype_has_a_kernel():
    def both(x, z, y):
        add(x, y)
        add(z, y.double())
        return x.sum() + z.sum()

    check(both, torch.randn(3, 4), torch.randn(2, 4).double(), torch.randn(4))


def test_beside_what_runs_eagerly():
    def f(x, y):
        z = torch.fft.fft(x).abs()
        add(z, y)
        return torch.fft.fft(z).abs() + z

    check(f, torch.randn(3, 4), torch.randn(4), eager=["fft"])
    said = tilewright.torch.explain(f, torch.randn(3, 4), torch.randn(4))
    assert len(said.graphs[0].programs) == 2 and all("complex64" in line for line in said.eager), said


def test_memory_that_is_written_twice():
    """Two arguments that are one tensor: what a kernel would do is not said, so PyTorch calls it, and explain tells."""
    def f(x):
        z = x * 2
        move(z, 0.5, z[:, 0])
        return z

    said = tilewright.torch.explain(f, torch.randn(3, 4))
    assert any("of the arguments x, w, to which tilewright_in_place_test.move.default writes, two share memory" in line for line in said.eager), said


def test_a_part_of_memory_with_gaps():
    """Of an argument that begins and steps in its memory as no program can be given: explain names the kernel's argument."""
    def f(x, y):
        add(x[::2], y)
        return x * 2

    x = torch.randn(4, 8)[:, :4]
    said = tilewright.torch.explain(f, x, torch.randn(4))
    assert any('argument "x" of tilewright_in_place_test.add.default, which writes to it, has the sizes [2, 4] and the '
               'strides [16, 1] in memory of an argument that has gaps' in line for line in said.eager), said
    check(f, x, torch.randn(4), eager=["as_strided"])


def test_operators_of_others_that_write():
    """They run eagerly; a program that is exported refuses them."""
    @torch.library.custom_op("tilewright_in_place_test::theirs", mutates_args=("x",))
    def theirs(x: torch.Tensor) -> None:
        x.add_(1)

    def f(x):
        z = x * 2
        torch.ops.tilewright_in_place_test.theirs(z)
        return z * 3

    check(f, torch.randn(3), eager=["theirs"])
    said = tilewright.torch.explain(f, torch.randn(3))
    assert len(said.graphs[0].programs) == 2 and "theirs.default writes to its arguments, and is no" in said.eager[0], said
