# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/kernels.md lists, beyond what test_kernel.py has: every function of floats, dtype, atomic, and kind of number."""
import math

import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk

M, N = tk.symbols("M N")
FLOATS = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
          "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sqrt", "rsqrt", "floor", "ceil", "trunc", "round", "round_even"]


@pytest.fixture(scope="module")
def floats():
    """Of each function what it gives of a tile and of a scalar."""
    @tk.kernel
    def each(x: tk.In[tk.f32, N], s: tk.f64, y: tk.Out[tk.f32, len(FLOATS), N], z: tk.Out[tk.f64, len(FLOATS)]):
        tk.grid(1)
        tile = tk.load(x, [0], [N])
        for row, name in enumerate(FLOATS):
            tk.store(y, [row, 0], tk.reshape(getattr(tk, name)(tile), [1, N]))
            tk.store(z, [row], tk.full([1], getattr(tk, name)(s)))

    x = torch.tensor([0.1, 0.5, 0.9, 1.0, 1.5, 2.5, -0.3, -0.5, -2.5])
    return x, *each(x, 0.5)


@pytest.mark.parametrize("row, name", list(enumerate(FLOATS)))
def test_floats(row, name, floats):
    x, of_tile, of_scalar = floats

    def expected(x):
        if name == "round":
            return torch.trunc(x + torch.copysign(torch.tensor(0.5), x))
        return getattr(torch, name.removesuffix("_even"))(x)

    torch.testing.assert_close(of_tile[row], expected(x), rtol=1e-5, atol=1e-6, equal_nan=True)
    torch.testing.assert_close(of_scalar[row], expected(torch.tensor(0.5, dtype=torch.float64)), rtol=1e-6, atol=1e-9,
                               equal_nan=True)


@pytest.mark.parametrize("dtype", list(tk.DType), ids=lambda dtype: dtype.name)
def test_dtypes(dtype):
    def widen(x: tk.In[dtype, N], w: tk.InOut[dtype, N], y: tk.Out[tk.f64, N]):
        n, = tk.grid(N)
        t = tk.load(x, [n], [1])
        tk.store(w, [n], tk.maximum(t, tk.load(w, [n], [1])))
        tk.store(y, [n], tk.cast(t, tk.f64))

    x = torch.tensor([0, 1, 1, 0]) if dtype is tk.i1 else torch.tensor([0, 1, 100, 127])
    theirs = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "bf16": "bfloat16", "u8": "uint8"}
    x = x.to(getattr(torch, theirs.get(dtype.name) or f"int{dtype.name[1:]}"))
    w = torch.zeros_like(x)
    assert tk.kernel(widen)(x, w).tolist() == x.double().tolist() and torch.equal(x, w)


@pytest.mark.parametrize("atomic, expected", [("add", [8, 5]), ("min", [1, 1]), ("max", [2, 2]), ("any", [2, 1])])
def test_atomics(atomic, expected):
    @tk.kernel
    def collect(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, 2, tk.filled(2)], z: tk.Out[tk.f32, 1, tk.filled(1)]):
        n, = tk.grid(N)
        places = tk.rem(tk.iota([3]), 2)
        ones = tk.full([3], 1.0, tk.f32)
        tk.scatter(y, [places], ones if atomic != "any" else tk.select(places == 0, 2.0, ones), atomic=atomic)
        if atomic != "any":
            tk.store(z, [0], tk.load(x, [n], [1]), atomic=atomic)

    x = np.array([4, -1, 3], np.float32)
    y, z = collect(x)
    assert y.tolist() == expected
    assert z[0] == {"add": 7, "min": -1, "max": 4, "any": 1}[atomic]
    assert collect.check(x)


def test_indices_and_sizes():
    @tk.kernel
    def numbers(x: tk.In[tk.f32, N], y: tk.Out[tk.i64, 3, 9], z: tk.Out[tk.f32, 1], *, B=4):
        m, = tk.grid(3)
        made = [m + 1, m - 1, m * 3, m // 2, tk.cdiv(m, 2), m % 2, tk.minimum(m, 1), tk.maximum(m, N), N - tk.cdiv(N, B)]
        for column, each in enumerate(made):
            tk.store(y, [m, column], tk.full([1, 1], tk.cast(each, tk.i64)))
        with tk.when(m == 0):
            tk.store(z, [0], tk.full([1], tk.cast(N, tk.f32) * 0.5))

    y, z = numbers(np.zeros(5, np.float32))
    assert y.tolist() == [[m + 1, m - 1, m * 3, m // 2, math.ceil(m / 2), m % 2, min(m, 1), 5, 3] for m in range(3)]
    assert z == 2.5


def test_grid_of_many_dimensions():
    @tk.kernel
    def count(y: tk.Out[tk.i64, 2, 3, 2, 2]):
        a, b, c, d = tk.grid(2, 3, 2, 2)
        tk.hint("tile.block", [2, 1, 2, 1])
        tk.store(y, [a, b, c, d], tk.full([1, 1, 1, 1], tk.cast(((tk.program_id(0) * 3 + b) * 2 + c) * 2 + d, tk.i64)))

    assert count().ravel().tolist() == list(range(24))


def test_numbers_from_memory_as_positions():
    @tk.kernel
    def pick(x: tk.In[tk.f32, N], places: tk.In[tk.i64, 1], last: tk.i64, y: tk.Out[tk.f32, 2]):
        tk.grid(1)
        place = tk.extract(tk.load(places, [0], [1]))
        tk.store(y, [0], tk.load(x, [place + 1], [1], pad=0.0))
        tk.store(y, [1], tk.load(x, [tk.check(last, N, "place %lld of %lld")], [1]))

    x = np.arange(4, dtype=np.float32)
    assert pick(x, np.array([1]), 3).tolist() == [2, 3]
    with pytest.raises(tilewright.InputError, match="place 4 of 4"):
        pick(x, np.array([1]), 4)


def test_masks_with_strides_and_padding():
    @tk.kernel
    def every_second(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, 8, tk.filled(-1)]):
        tk.grid(1)
        seen = tk.iota([8]) < 5
        tk.store(y, [0], tk.load(x, [1], [8], strides=[2], mask=seen, pad=9.0), mask=tk.iota([8]) != 1, drop=True)

    assert every_second(np.arange(8, dtype=np.float32)).tolist() == [1, -1, 5, 7, 9, 9, 9, 9]


@pytest.mark.parametrize("level", [None, "source", "plan", "loops", "llvm", "assembly"])
def test_levels(level, capsys):
    @tk.kernel
    def double(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
        n, = tk.grid(tk.cdiv(N, 8))
        tk.store(y, [n * 8], tk.sin(tk.load(x, [n * 8], [8])) * 2)  # a function of libm, which all levels call

    double.print(as_=level, target="cpu:x86-64-v3", N=64)
    said = {None: "tile.kernel @double", "source": "TILEWRIGHT_KERNEL(double", "plan": "plan of @", "loops": "scf.", "llvm": "define ",
            "assembly": "ret"}[level]
    assert said in capsys.readouterr().out


def test_help_of_a_kernel():
    T = tk.dtype("T", tk.f32 | tk.i32)

    @tk.kernel
    def scaled(x: tk.In[T, M, N], factor: tk.i64, sums: tk.InOut[tk.f32, 2 * N], y: tk.Out[T, M, N], *, ROWS: int = 4):
        """Scales rows."""

    assert scaled.__doc__ == """Scales rows.

x: T[M, N], In
factor: i64, a number
sums: f32[N * 2], InOut, written in place
y: T[M, N], Out, allocated unless given by name
ROWS = 4: a parameter, given by name
T is f32 or i32

Errors: as of a tilewright.kernel.Kernel, which this is."""


LEAST, MOST = -2**63, 2**63 - 1
FAR_BOUNDS = [(0, MOST, 2**62), (0, MOST, 2**61), (0, MOST, 2**62 + 1), (0, MOST, MOST), (2**62, -2**62, -2**61), (MOST, 0, -2**62),
              (LEAST, MOST, 2**62), (MOST, LEAST, LEAST), (LEAST, LEAST + 5, 2), (MOST - 9, MOST, 3), (MOST, LEAST, 2**62),
              (LEAST, MOST, -2**62), (0, 10, 3), (10, 0, -3), (-5, 5, 4), (5, 0, 1), (5, 5, 1)]


@pytest.mark.parametrize("begin, end, step", FAR_BOUNDS)
def test_far_bounds(begin, end, step):
    """Loops whose bounds are far apart, or whose variable would pass 64 bits: constants, numbers of the call, and both."""
    def kernel(bounds):
        def k(b: tk.i64, e: tk.i64, s: tk.i64, y: tk.Out[tk.i64, 2]):
            tk.grid(1)
            for i, at in tk.loop(*bounds(b, e, s), trips=tk.zeros([1], tk.i64), last=tk.zeros([1], tk.i64)):
                at.trips = at.trips + 1
                at.last = tk.full([1], tk.cast(i, tk.i64))
            tk.store(y, [0], at.trips)
            tk.store(y, [1], at.last)
        return tk.kernel(k)

    all_of_them = range(begin, end, step)
    expected = [len(all_of_them), all_of_them[-1] if all_of_them else 0]
    for bounds in (lambda b, e, s: (begin, end, step), lambda b, e, s: (b, e, step), lambda b, e, s: (begin, e, step),
                   lambda b, e, s: (b, end, step), lambda b, e, s: (b, e, s)):
        of = kernel(bounds)
        assert of(begin, end, step).tolist() == of.interpret(begin, end, step).tolist() == expected


PARTED = [(0, MOST, 2**61), (MOST - 2000, MOST, 3), (1, LEAST, 1), (LEAST, MOST, 2**62), (LEAST, MOST, 2**58 + 1), (-5, MOST, 2**61 - 1),
          (LEAST, LEAST + 700, 7), (MOST, MOST, 5), (MOST - 1, MOST, 2), (0, 1000, 3), (-10, 10, 4), (0, MOST, MOST)]


@pytest.mark.parametrize("begin, end, step", PARTED)
def test_far_parts(begin, end, step):
    """Loops that are run in parts, which would reach beyond 64 bits: bounds are constants, of the call, or one of each."""
    def loop(bounds):
        @tk.kernel
        def k(b: tk.i64, e: tk.i64, x: tk.In[tk.i64, 1], y: tk.Out[tk.i64, 2]):
            tk.grid(1)
            for i, at in tk.loop(*bounds(b, e), step, trips=tk.zeros([1], tk.i64), sum=tk.zeros([1], tk.i64),
                                 combine=lambda a, b: dict(trips=a.trips + b.trips, sum=a.sum + b.sum)):
                at.trips = at.trips + tk.load(x, [0], [1])
                at.sum = at.sum + tk.full([1], tk.cast(i, tk.i64))
            tk.store(y, [0], at.trips)
            tk.store(y, [1], at.sum)
        return k

    one, all_of_them = torch.ones(1, dtype=torch.int64), range(begin, end, step)
    expected = [len(all_of_them), (sum(all_of_them) + 2**63) % 2**64 - 2**63]
    for bounds in (lambda b, e: (begin, end), lambda b, e: (begin, e), lambda b, e: (b, end), lambda b, e: (b, e)):
        of = loop(bounds)
        assert of(begin, end, one).tolist() == of.interpret(begin, end, one).tolist() == expected


@pytest.mark.parametrize("rounds, uses", [(20000, 1), (10000, 2)])
def test_long_expressions(rounds, uses):
    """Plans and code take time in proportion to the operations: in its square, the first would take more than a minute."""
    @tk.kernel
    def k(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N]):
        n, = tk.grid(tk.cdiv(N, 16))
        before, t = tk.zeros([16], tk.f32), tk.load(x, [n * 16], [16])
        for _ in range(rounds):
            before, t = t, (t + 1 if uses == 1 else 0.5 * t + 0.5 * before + 1)
        tk.store(y, [n * 16], t)

    before, t = np.float32(0), np.float32(0)
    for _ in range(rounds):
        before, t = t, t + 1 if uses == 1 else np.float32(0.5) * t + np.float32(0.5) * before + 1
    torch.testing.assert_close(k(torch.zeros(20)), torch.full([20], float(t)), rtol=1e-4, atol=0)


def test_large_symbols():
    """Symbols have a limit, below which sizes that are small multiples do not overflow; others are checked by each call."""
    @tk.kernel
    def k(N: N, y: tk.Out[tk.i64, 3]):
        tk.grid(1)
        for _, at in tk.loop(-N * 2**20, N * 2**20, 2**58, trips=tk.zeros([1], tk.i64)):
            at.trips = at.trips + 1
        tk.store(y, [0], at.trips)
        tk.store(y, [1], tk.full([1], tk.cast(N * 2**20, tk.i64)))
        tk.store(y, [2], tk.full([1], tk.cast(N * 2**24 // 7, tk.i64)))

    for n in (2**38, 2**39 - 1):
        assert k(n).tolist() == k.interpret(n).tolist() == [-(-2 * n * 2**20 // 2**58), n * 2**20, n * 2**24 // 7]
    for of in (k, k.interpret):
        with pytest.raises(tilewright.InputError, match=f"symbol N is {2**40}.*must be at most {2**40 - 1}"):
            of(2**40)
        with pytest.raises(tilewright.InputError, match="overflows"):
            of(2**40 - 1)


@pytest.mark.parametrize("rows", [2**40, 2**62])
def test_empty_and_long(rows):
    """A tensor without elements may have any size."""
    @tk.kernel
    def k(x: tk.In[tk.f32, M, N], y: tk.InOut[tk.i64, 1]):
        tk.grid(1)
        tk.store(y, [0], tk.full([1], tk.cast(N, tk.i64)))

    for of in (k, k.interpret):
        with pytest.raises(tilewright.InputError, match=f"symbol N is {rows}.*must be at most {2**40 - 1}"):
            of(torch.empty(0, rows), torch.zeros(1, dtype=torch.int64))
