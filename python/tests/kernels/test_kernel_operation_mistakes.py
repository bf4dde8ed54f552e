# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in what operations of kernels are given: what is said, and at which line."""
import numpy as np
import pytest
import torch
from kernel_mistakes import M, Mistakes, N, X, Y, row

import tilewright.kernel as tk

mistake = Mistakes()
READS = "tk.load(x, [m, 0], [1, N]) reads a tile of it, which has"
mistake.of_expressions(
    array_of_numpy=(lambda x, y, m, t: t + np.ones(3), "a ndarray is no value of a kernel",
        "values are tiles, scalars, indices, sizes and numbers; tensors are arguments of the kernel"),
    shapes=(lambda x, y, m, t: t + tk.load(x, [m, 0], [1, 4]), "+: shapes [1, N] and [1, 4] do not fit: N against 4",
        "extents must be equal for every call, or one of them 1"),
    positions=(lambda x, y, m, t: tk.load(x, [m], [1, N]),
        "load of x got 1 position, but the buffer has 2 dimensions: [M, N]", "give one for each dimension"),
    math_of_integers=(lambda x, y, m, t: tk.exp(tk.iota([1])), "exp is not for i64[1]", "it is for floats: cast(x, f32)"),
    cpp_name=(lambda x, y, m, t: tk.round_even(tk.iota([1])), "round_even is not for i64[1]"),
    number_of_integers=(lambda x, y, m, t: tk.minimum_number(tk.iota([4]), 1), "minimum_number is not for i64[4]",
        "it is for floats; cast converts"),
    no_step=(lambda x, y, m, t: tk.cast_signed(tk.zeros([4], tk.f16), tk.bf16),
        "cast_signed: there is no step from f16 to bf16", "cast goes over a dtype between them"),
    no_comparison=(lambda x, y, m, t: tk.compare("lt", tk.iota([4]), 1), 'compare: there is no comparison "lt"',
        "there are ueq, one, ord, uno, ult, ule, ugt and uge; the others are operators"),
    quotient=(lambda x, y, m, t: tk.iota([4]) / 2, "/ of i64[4] does not say how it rounds",
        "tk.div(a, b) rounds to 0; tk.cast(a, tk.f32) / b is a fraction"),
    floor_quotient=(lambda x, y, m, t: tk.iota([4]) // 2, "// of tiles and scalars does not say how it rounds",
        "tk.div(a, b) rounds integers to 0, and tk.floor(a / b) floats down"),
    remainder=(lambda x, y, m, t: tk.iota([4]) % 2, "% of tiles and scalars does not say how it rounds",
        "tk.rem(a, b) has the sign of a, as C's; a - b * tk.floor(a / b) that of b"),
    quotient_of_index=(lambda x, y, m, t: m / 2, "an Index has no /",
        "write a // b or tk.cdiv(a, b), which say how they round"),
    load_of_tile=(lambda x, y, m, t: tk.load(t, [0, 0], [1, 1]), "load got a Tile",
        "it takes an argument of the kernel whose annotation is tk.In, tk.Out or tk.InOut"),
    index_as_extent=(lambda x, y, m, t: tk.load(x, [0, 0], [1, m]),
        "load got an Index, which is known only when the program runs",
        "sizes are integers, symbols, and what is made of these: all programs have the same"),
    subscript_of_buffer=(lambda x, y, m, t: x[m], "a Buffer has no subscripts", "tk.load(x, [m, 0], [1, N]) reads a tile"),
    subscript_of_tile=(lambda x, y, m, t: t[0], "a Tile has no subscripts",
        "tk.slice takes a part of a tile, tk.extract the element of a tile of one"),
    positions_without_list=(lambda x, y, m, t: tk.load(x, 0, [1, 1]), "load got an int",
        "it takes a list of positions, one for each dimension: [m, 0]"),
    text_for_tile=(lambda x, y, m, t: tk.sin("x"), "sin got a str",
        "it takes a Tile; tk.full(shape, number) makes one of a number"),
    none_for_value=(lambda x, y, m, t: tk.select(True, 1.0, None), "select got a NoneType",
        "it takes tiles, scalars, sizes and numbers"),
    no_dtype=(lambda x, y, m, t: tk.cast(t, 1.5), "cast got a float", "it takes a dtype: tk.f32"),
    full_of_tile=(lambda x, y, m, t: tk.full([2], t), "full got a Tile",
        "it takes one number: tk.extract(tile) gives the one in a tile of one element"),
    hint_text=(lambda x, y, m, t: tk.hint("tile.block", "4"), "hint got a str", "it takes a list of integers"),
    atomic=(lambda x, y, m, t: tk.store(y, [m, 0], t, atomic="mul"), 'store: there is no atomic "mul"',
        "there are add, min, max and, for scatter, any"),
    atomic_any=(lambda x, y, m, t: tk.store(y, [m, 0], t, atomic="any"), 'store of y: atomic="any" is for scatter'),
    store_to_input=(lambda x, y, m, t: tk.store(x, [m, 0], t), "store to x, which is an input",
        "declare it with inout or output"),
    too_few=(lambda x, y, m, t: tk.exp(), "exp lacks its argument x", "it is exp(x)"),
    too_many=(lambda x, y, m, t: tk.exp(t, t), "exp got 2 arguments, but takes 1", "it is exp(x)"),
    too_many_by_place=(lambda x, y, m, t: tk.load(x, [0, 0], [1, N], 0.0), "load got 4 arguments by place, but takes 3",
        "it is load(buffer, positions, extents, *, strides=None, mask=None, pad=None)"),
    unknown_name=(lambda x, y, m, t: tk.sum(t, 1, keepdims=False), "sum has no argument 'keepdims'",
        "it is sum(x, axis, keepdim=True)"),
    given_twice=(lambda x, y, m, t: tk.cast(t, x=t), "cast got its argument x twice", "it is cast(x, dtype)"),
    size_of_all=(lambda x, y, m, t: x.size(), "size lacks its argument axis", "it is size(axis)"),
    sum_of_buffer=(lambda x, y, m, t: x + 1, "a Buffer has no +", READS),
    tile_by_buffer=(lambda x, y, m, t: t * x, "a Buffer has no *", READS),
    comparison_of_buffer=(lambda x, y, m, t: x < 1, "a Buffer has no <", READS),
    exp_of_numpy=(lambda x, y, m, t: np.exp(t), "numpy.exp got a Tile", "write tk.exp, which computes when the kernel runs"),
    arcsin_of_numpy=(lambda x, y, m, t: np.arcsin(t), "numpy.arcsin got a Tile",
        "write tk.asin, which computes when the kernel runs"),
    stack_of_numpy=(lambda x, y, m, t: np.stack([t, t]), "numpy.stack got a value of a kernel",
        "functions of tilewright.kernel compute when the kernel runs; arrays and tensors are arguments of the kernel"),
    exp_of_buffer=(lambda x, y, m, t: np.exp(x), "numpy.exp got a Buffer",
        "write tk.exp, which computes when the kernel runs"),
    exp_of_torch=(lambda x, y, m, t: torch.exp(t), "torch.exp got a Tile",
        "write tk.exp, which computes when the kernel runs"),
    power_of_size=(lambda x, y, m, t: N ** 2, "sizes and indices have no **", "write n * n"),
    bits_of_index=(lambda x, y, m, t: m & 1, "sizes and indices have no &", "tk.cast(n, tk.i64) is a scalar, which has it"),
    abs_of_index=(lambda x, y, m, t: abs(m), "sizes and indices have no abs()", "write tk.maximum(n, 0 - n)"),
    divmod_of_index=(lambda x, y, m, t: divmod(m, 2), "sizes and indices have no divmod()", "write a // b and a % b"),
    quotient_by_0=(lambda x, y, m, t: N // 0, "// of N and 0 divides by 0", "divide by a number or size that is 1 or more"),
    cdiv_by_0=(lambda x, y, m, t: tk.cdiv(M, 0), "cdiv of M and 0 divides by 0",
        "divide by a number or size that is 1 or more"),
    remainder_by_0=(lambda x, y, m, t: m % 0, "% divides by 0", "divide by a number or size that is 1 or more"),
    overflow=(lambda x, y, m, t: N * 2**62 * 4, "* of N * 4611686018427387904 and 4 overflows 64 bits",
        "sizes are from -2^63 to 2^63 - 1"),
)


@mistake("load got a tuple", "it takes an integer, a size or an Index; tk.grid gives a tuple: m, = tk.grid(M)")
def grid_not_unpacked(x: X, y: Y):
    m = tk.grid(M)
    tk.load(x, [m, 0], [1, 4])  # here


@mistake("a Buffer has no subscripts", "tk.store(y, [m, 0], tile) writes a tile")
def assignment_to_buffer(x: X, y: Y):
    m, t = row(x)
    y[m, 0] = t  # here


@mistake("a Tile has no subscripts", "tiles do not change: tk.select chooses between elements of two")
def assignment_to_tile(x: X, y: Y):
    _, t = row(x)
    t[0] = 1.0  # here


@mistake("grid got an argument by name", "it is grid(M, N): sizes, by place")
def grid_by_name(x: X, y: Y):
    tk.grid(rows=M)  # here


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
