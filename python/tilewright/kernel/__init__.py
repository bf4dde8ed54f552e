# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel language in Python.

    import tilewright.kernel as tk

    M, N = tk.symbols("M N")

    @tk.kernel
    def softmax(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
        m, = tk.grid(M)
        row = tk.load(x, [m, 0], [1, N])
        e = tk.exp(row - tk.max(row, 1))
        tk.store(y, [m, 0], e / tk.sum(e, 1))

    y = softmax(x)

A kernel is a function that is run once, with values that stand for tiles, and leaves a program: what Python
does meanwhile (conditions, range, calls) is done then. docs/python-kernels.md is the reference.
"""
from .._native import KernelError
from .._native.kernel import (
    Buffer, DType, Index, Scalar, Size, Symbol, Tile, abs, acos, acosh, all, any, argmax, argmin,  # noqa: A004
    asin, asinh, atan, atan2, atanh, bf16, broadcast, cast, cast_signed, cast_unsigned, cdiv, ceil, check, compare,
    constant, copysign, cos, cosh, cummax, cummin, cumprod, cumsum, div, div_unsigned, dot, erf, erfc, exp, exp2, expm1,
    extract, f16, f32, f64, floor, fma, full, gather, grid, hint, i1, i8, i16, i32, i64, iota, is_nan, keep, load, log, log1p,
    log2, log10, max, maximum, maximum_number, maximum_unsigned, min, minimum, minimum_number,  # noqa: A004
    minimum_unsigned, pow, prod, program_id, relu, rem, rem_unsigned, reshape, round, round_even,  # noqa: A004
    rsqrt, scatter, select, shift_right_unsigned, sigmoid, sin, sinh, slice, sort, sqrt, store, sum,  # noqa: A004
    symbol, tan, tanh, transpose, trunc, u8, zeros)
from ._control import State, branch, loop, when
from ._declare import In, InOut, Out, dtype, filled, symbols
from ._kernel import Kernel, kernel

inf = float("inf")

__all__ = [
    "Buffer", "DType", "In", "InOut", "Index", "Kernel", "KernelError", "Out", "Scalar", "Size", "State", "Symbol", "Tile",
    "abs", "acos", "acosh", "all", "any", "argmax", "argmin", "asin", "asinh", "atan", "atan2", "atanh", "bf16",
    "branch", "broadcast", "cast", "cast_signed", "cast_unsigned", "cdiv", "ceil", "check", "compare", "constant",
    "copysign", "cos", "cosh", "cummax", "cummin", "cumprod", "cumsum", "div", "div_unsigned", "dot", "dtype", "erf",
    "erfc", "exp", "exp2", "expm1", "extract", "f16", "f32", "f64", "filled", "floor", "fma", "full", "gather", "grid", "hint",
    "i1", "i16", "i32", "i64", "i8", "inf", "iota", "is_nan", "keep", "kernel", "load", "log", "log10", "log1p", "log2",
    "loop", "max", "maximum", "maximum_number", "maximum_unsigned", "min", "minimum", "minimum_number",
    "minimum_unsigned", "pow", "prod", "program_id", "relu", "rem", "rem_unsigned", "reshape", "round", "round_even",
    "rsqrt", "scatter", "select", "shift_right_unsigned", "sigmoid", "sin", "sinh", "slice", "sort", "sqrt", "store",
    "sum", "symbol", "symbols", "tan", "tanh", "transpose", "trunc", "u8", "when", "zeros"]
