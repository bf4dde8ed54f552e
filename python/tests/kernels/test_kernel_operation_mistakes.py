# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in what operations of kernels are given: what is said, and at which line."""
import numpy as np
import pytest
import torch
from kernel_mistakes import Mistakes

import tilewright.kernel as tk

M, N = tk.symbols("M N")
X, Y = tk.In[tk.f32, M, N], tk.Out[tk.f32, M, N]
mistake = Mistakes()


def row(x):
    m, = tk.grid(M)
    return m, tk.load(x, [m, 0], [1, N])


@mistake("a ndarray is no value of a kernel", "values are tiles, scalars, indices, sizes and numbers; "
         "tensors are arguments of the kernel")
def array_of_numpy(x: X, y: Y):
    _, t = row(x)
    t + np.ones(3)  # here


@mistake("+: shapes [1, N] and [1, 4] do not fit: N against 4", "extents must be equal for every call, or one of them 1")
def shapes(x: X, y: Y):
    m, t = row(x)
    t + tk.load(x, [m, 0], [1, 4])  # here


@mistake("load of x got 1 position, but the buffer has 2 dimensions: [M, N]", "give one for each dimension")
def positions(x: X, y: Y):
    m, = tk.grid(M)
    tk.load(x, [m], [1, N])  # here


@mistake("exp is not for i64[1]", "it is for floats: cast(x, f32)")
def math_of_integers(x: X, y: Y):
    tk.exp(tk.iota([1]))  # here


@mistake("round_even is not for i64[1]")
def cpp_name(x: X, y: Y):
    tk.round_even(tk.iota([1]))  # here


@mistake("minimum_number is not for i64[4]", "it is for floats; cast converts")
def number_of_integers(x: X, y: Y):
    tk.minimum_number(tk.iota([4]), 1)  # here


@mistake("cast_signed: there is no step from f16 to bf16", "cast goes over a dtype between them")
def no_step(x: X, y: Y):
    tk.cast_signed(tk.zeros([4], tk.f16), tk.bf16)  # here


@mistake('compare: there is no comparison "lt"', "there are ueq, one, ord, uno, ult, ule, ugt and uge; the others are operators")
def no_comparison(x: X, y: Y):
    tk.compare("lt", tk.iota([4]), 1)  # here


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


@mistake("load got a Tile", "it takes an argument of the kernel whose annotation is tk.In, tk.Out or tk.InOut")
def load_of_tile(x: X, y: Y):
    _, t = row(x)
    tk.load(t, [0, 0], [1, 1])  # here


@mistake("load got an Index, which is known only when the program runs",
         "sizes are integers, symbols, and what is made of these: all programs have the same")
def index_as_extent(x: X, y: Y):
    m, = tk.grid(M)
    tk.load(x, [0, 0], [1, m])  # here


@mistake("load got a tuple", "it takes an integer, a size or an Index; tk.grid gives a tuple: m, = tk.grid(M)")
def grid_not_unpacked(x: X, y: Y):
    m = tk.grid(M)
    tk.load(x, [m, 0], [1, 4])  # here


@mistake("a Buffer has no subscripts", "tk.load(x, [m, 0], [1, N]) reads a tile")
def subscript_of_buffer(x: X, y: Y):
    m, = tk.grid(M)
    x[m]  # here


@mistake("a Buffer has no subscripts", "tk.store(y, [m, 0], tile) writes a tile")
def assignment_to_buffer(x: X, y: Y):
    m, t = row(x)
    y[m, 0] = t  # here


@mistake("a Tile has no subscripts", "tk.slice takes a part of a tile, tk.extract the element of a tile of one")
def subscript_of_tile(x: X, y: Y):
    _, t = row(x)
    t[0]  # here


@mistake("a Tile has no subscripts", "tiles do not change: tk.select chooses between elements of two")
def assignment_to_tile(x: X, y: Y):
    _, t = row(x)
    t[0] = 1.0  # here


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


@mistake("exp lacks its argument x", "it is exp(x)")
def too_few(x: X, y: Y):
    tk.exp()  # here


@mistake("exp got 2 arguments, but takes 1", "it is exp(x)")
def too_many(x: X, y: Y):
    _, t = row(x)
    tk.exp(t, t)  # here


@mistake("load got 4 arguments by place, but takes 3",
         "it is load(buffer, positions, extents, *, strides=None, mask=None, pad=None)")
def too_many_by_place(x: X, y: Y):
    tk.load(x, [0, 0], [1, N], 0.0)  # here


@mistake("sum has no argument 'keepdims'", "it is sum(x, axis, keepdim=True)")
def unknown_name(x: X, y: Y):
    _, t = row(x)
    tk.sum(t, 1, keepdims=False)  # here


@mistake("cast got its argument x twice", "it is cast(x, dtype)")
def given_twice(x: X, y: Y):
    _, t = row(x)
    tk.cast(t, x=t)  # here


@mistake("size lacks its argument axis", "it is size(axis)")
def size_of_all(x: X, y: Y):
    x.size()  # here


@mistake("grid got an argument by name", "it is grid(M, N): sizes, by place")
def grid_by_name(x: X, y: Y):
    tk.grid(rows=M)  # here


READS = "tk.load(x, [m, 0], [1, N]) reads a tile of it, which has"


@mistake("a Buffer has no +", READS)
def sum_of_buffer(x: X, y: Y):
    x + 1  # here


@mistake("a Buffer has no *", READS)
def tile_by_buffer(x: X, y: Y):
    _, t = row(x)
    t * x  # here


@mistake("a Buffer has no <", READS)
def comparison_of_buffer(x: X, y: Y):
    x < 1  # here


@mistake("numpy.exp got a Tile", "write tk.exp, which computes when the kernel runs")
def exp_of_numpy(x: X, y: Y):
    _, t = row(x)
    np.exp(t)  # here


@mistake("numpy.arcsin got a Tile", "write tk.asin, which computes when the kernel runs")
def arcsin_of_numpy(x: X, y: Y):
    _, t = row(x)
    np.arcsin(t)  # here


@mistake("numpy.stack got a value of a kernel", "functions of tilewright.kernel compute when the kernel runs; arrays and "
         "tensors are arguments of the kernel")
def stack_of_numpy(x: X, y: Y):
    _, t = row(x)
    np.stack([t, t])  # here


@mistake("numpy.exp got a Buffer", "write tk.exp, which computes when the kernel runs")
def exp_of_buffer(x: X, y: Y):
    np.exp(x)  # here


@mistake("torch.exp got a Tile", "write tk.exp, which computes when the kernel runs")
def exp_of_torch(x: X, y: Y):
    _, t = row(x)
    torch.exp(t)  # here


@mistake("sizes and indices have no **", "write n * n")
def power_of_size(x: X, y: Y):
    N ** 2  # here


@mistake("sizes and indices have no &", "tk.cast(n, tk.i64) is a scalar, which has it")
def bits_of_index(x: X, y: Y):
    m, = tk.grid(M)
    m & 1  # here


@mistake("sizes and indices have no abs()", "write tk.maximum(n, 0 - n)")
def abs_of_index(x: X, y: Y):
    m, = tk.grid(M)
    abs(m)  # here


@mistake("sizes and indices have no divmod()", "write a // b and a % b")
def divmod_of_index(x: X, y: Y):
    m, = tk.grid(M)
    divmod(m, 2)  # here


@mistake("// of N and 0 divides by 0", "divide by a number or size that is 1 or more")
def quotient_by_0(x: X, y: Y):
    N // 0  # here


@mistake("cdiv of M and 0 divides by 0", "divide by a number or size that is 1 or more")
def cdiv_by_0(x: X, y: Y):
    tk.cdiv(M, 0)  # here


@mistake("% divides by 0", "divide by a number or size that is 1 or more")
def remainder_by_0(x: X, y: Y):
    m, = tk.grid(M)
    m % 0  # here


@mistake("* of N * 4611686018427387904 and 4 overflows 64 bits", "sizes are from -2^63 to 2^63 - 1")
def overflow(x: X, y: Y):
    N * 2**62 * 4  # here


@mistake("the grid has no sizes", "say how many programs run: m, = tk.grid(M)")
def grid_of_nothing(x: X, y: Y):
    tk.grid()  # here


def test_buffers_are_written_as_their_declaration():
    seen = []

    def kernel(x: X, y: Y):
        m, t = row(x)
        seen.append(f"{x}, {y!r}")
        tk.store(y, [m, 0], t)

    tk.kernel(kernel).text()
    assert seen == ["x: f32[M, N], y: f32[M, N]"]


@pytest.mark.parametrize("name", mistake.names())
def test_mistake(name):
    mistake.check(name)
