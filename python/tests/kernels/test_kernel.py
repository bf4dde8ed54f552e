# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in Python: what the language computes, and calls."""
import copy
import pickle

import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk
from example_kernels import example

M, N = tk.symbols("M N")
X, Y = tk.In[tk.f32, M, N], tk.Out[tk.f32, M, N]
softmax = example("softmax")


def results_of(cases, dtype, a, b):
    """What each function of `cases` gives of the tiles a and b, by one kernel that has all of them."""
    def kernel(a: tk.In[dtype, 4, 6], b: tk.In[dtype, 4, 6], y: tk.Out[dtype, len(cases), 4, 6]):
        tk.grid(1)
        x, z = tk.load(a, [0, 0], [4, 6]), tk.load(b, [0, 0], [4, 6])
        for number, (function, _) in enumerate(cases):
            tk.store(y, [number, 0, 0], tk.reshape(tk.cast(function(x, z), dtype), [1, 4, 6]))
    return tk.kernel(kernel)(a, b)


def number_in(tile):
    return tk.extract(tk.slice(tile, [1, 2], [1, 1]))


a = np.linspace(0.1, 0.9, 24, dtype=np.float32).reshape(4, 6)
b = np.linspace(2.0, -3.0, 24, dtype=np.float32).reshape(4, 6)
n = np.where(b < -1, np.float32("nan"), b)
i, j = np.arange(-12, 12, dtype=np.int32).reshape(4, 6), np.full((4, 6), 5, np.int32)
j[0] = -3
u, v = i.astype(np.uint32), j.astype(np.uint32)
FLOATS = [
    (lambda a, b: a + b, a + b), (lambda a, b: 1 - a * b, 1 - a * b), (lambda a, b: b / a, b / a),
    (lambda a, b: -a ** 2.0, -a**2), (lambda a, b: +a - 1.5, a - 1.5), (lambda a, b: 2 / a, 2 / a),
    (lambda a, b: abs(b), abs(b)), (lambda a, b: tk.minimum(a, b), np.minimum(a, b)),
    (lambda a, b: tk.maximum(b, 0), np.maximum(b, 0)), (lambda a, b: tk.fma(a, b, 1), a * b + 1),
    (lambda a, b: tk.select(a > b, a, b), np.maximum(a, b)), (lambda a, b: tk.select(~(a > b) | (b == 0), 1.0, b), np.where(~(a > b), 1, b)),
    (lambda a, b: tk.select((a >= 0.5) & (b < 0) ^ (b != b), a, 0), np.where((a >= 0.5) & (b < 0), a, 0)),
    (lambda a, b: tk.exp2(a), np.exp2(a)), (lambda a, b: tk.log1p(a), np.log1p(a)), (lambda a, b: tk.sqrt(a), np.sqrt(a)),
    (lambda a, b: tk.sigmoid(b), 1 / (1 + np.exp(-b))), (lambda a, b: tk.relu(b), np.maximum(b, 0)),
    (lambda a, b: tk.atan2(a, b), np.arctan2(a, b)), (lambda a, b: tk.copysign(a, b), np.copysign(a, b)),
    (lambda a, b: tk.pow(a, 3.0), a**3), (lambda a, b: tk.round_even(b), np.round(b)), (lambda a, b: round(b), np.round(b)),
    (lambda a, b: tk.floor(b), np.floor(b)), (lambda a, b: tk.trunc(b), np.trunc(b)), (lambda a, b: tk.ceil(b), np.ceil(b)),
    (lambda a, b: a + tk.sum(b, 1), a + b.sum(1, keepdims=True)), (lambda a, b: a * tk.prod(a, 0), a * a.prod(0)),
    (lambda a, b: a + tk.max(b, -1) - tk.min(b, 0, keepdim=False), a + b.max(1, keepdims=True) - b.min(0)),
    (lambda a, b: tk.cumsum(a, 1), np.cumsum(a, 1)), (lambda a, b: tk.cumprod(a, 0), np.cumprod(a, 0)),
    (lambda a, b: tk.cummax(b, 1, reverse=True), np.maximum.accumulate(b[:, ::-1], 1)[:, ::-1]),
    (lambda a, b: tk.cummin(b, 0), np.minimum.accumulate(b, 0)),
    (lambda a, b: tk.sort(a - b, 1, descending=True)[0], -np.sort(b - a, 1)),
    (lambda a, b: a + tk.cast(tk.sort(b, 0, first=1)[1], tk.f32), a + b.argmin(0)),
    (lambda a, b: tk.cast(tk.argmax(b, 1), tk.f32) + a, a + b.argmax(1)[:, None]),
    (lambda a, b: tk.select(tk.any(b < -2.9, 1), 1.0, a), np.where((b < -2.9).any(1, keepdims=True), 1, a)),
    (lambda a, b: tk.select(tk.all(b < 0, 1), 1.0, a), np.where((b < 0).all(1, keepdims=True), 1, a)),
    (lambda a, b: (a @ tk.transpose(b)) @ b, a @ b.T @ b), (lambda a, b: tk.dot(a, tk.transpose(b, [1, 0]) @ a, b), a @ (b.T @ a) + b),
    (lambda a, b: tk.keep(a * b) - a @ tk.transpose(tk.keep(b * 2)) @ b, a * b - a @ (b * 2).T @ b),
    (lambda a, b: tk.reshape(tk.reshape(a, [2, 12]), [4, 6]), a), (lambda a, b: tk.broadcast(tk.slice(a, [1, 0], [1, 6]), [4, 6]), np.repeat(a[1:2], 4, 0)),
    (lambda a, b: a + tk.extract(tk.slice(b, [1, 2], [1, 1], [1, 3])), a + b[1, 2]),
    (lambda a, b: tk.full([4, 6], -tk.inf, tk.f32), np.full((4, 6), -np.inf)), (lambda a, b: a + tk.zeros([1, 1], tk.f32), a),
    (lambda a, b: a + tk.cast(tk.iota([4, 1], 0), tk.f32) * tk.cast(tk.iota([6], dtype=tk.i32, start=2), tk.f32), a + np.arange(4)[:, None] * np.arange(2, 8)),
    (lambda a, b: a * tk.constant(2, tk.f32) * tk.exp(tk.cast(0, tk.f32)), a * 2),
    (lambda a, b: a * a.shape[1] + b.size(0), a * 6 + 4),
    (lambda a, b: tk.cast(tk.cast(a, tk.bf16), a.dtype), torch.tensor(a).bfloat16().float().numpy()),
    (lambda a, b: a * tk.sin(number_in(b)), a * np.sin(b[1, 2])), (lambda a, b: a * tk.expm1(number_in(a)), a * np.expm1(a[1, 2])),
    (lambda a, b: a * abs(number_in(b)), a * abs(b[1, 2])), (lambda a, b: a + round(number_in(b)), a + np.round(b[1, 2])),
]
# Of floats of which some are NaN: with_nan(b) is n.
NUMBERS = [
    (lambda a, b: tk.is_nan(with_nan(b)), np.isnan(n)), (lambda a, b: tk.minimum_number(a, with_nan(b)), np.fmin(a, n)),
    (lambda a, b: tk.maximum_number(with_nan(b), 0.5), np.fmax(n, 0.5)),
    (lambda a, b: tk.select(tk.is_nan(number_in(with_nan(b))), 1.0, a), a),
    (lambda a, b: tk.compare("ueq", a, with_nan(b)), ~((a < n) | (a > n))),
    (lambda a, b: tk.compare("one", a, with_nan(b)), (a < n) | (a > n)),
    (lambda a, b: tk.compare("ord", a, with_nan(b)), ~np.isnan(n)), (lambda a, b: tk.compare("uno", a, with_nan(b)), np.isnan(n)),
    (lambda a, b: tk.compare("ult", a, with_nan(b)), ~(a >= n)), (lambda a, b: tk.compare("ule", a, with_nan(b)), ~(a > n)),
    (lambda a, b: tk.compare("ugt", a, with_nan(b)), ~(a <= n)), (lambda a, b: tk.compare("uge", a, with_nan(b)), ~(a < n)),
]
INTEGERS = [
    (lambda a, b: tk.div(a, b), np.trunc(i / j)), (lambda a, b: tk.rem(a, b), np.fmod(i, j)),
    (lambda a, b: (a & b) | (a ^ 3), (i & j) | (i ^ 3)), (lambda a, b: ~a, ~i), (lambda a, b: a << 2, i << 2),
    (lambda a, b: a >> 1, i >> 1), (lambda a, b: 7 - a, 7 - i), (lambda a, b: tk.abs(a), abs(i)),
    (lambda a, b: tk.div_unsigned(a, b), u // v), (lambda a, b: tk.rem_unsigned(a, b), u % v),
    (lambda a, b: tk.minimum_unsigned(a, b), np.minimum(u, v)), (lambda a, b: tk.maximum_unsigned(a, b), np.maximum(u, v)),
    (lambda a, b: tk.shift_right_unsigned(a, 3), u >> 3), (lambda a, b: tk.compare("ult", a, b), u < v),
    (lambda a, b: tk.shift_right_unsigned(tk.cast_unsigned(a, tk.i64), 2), u >> 2),
    (lambda a, b: tk.shift_right_unsigned(tk.cast_signed(a, tk.i64), 2), i >> 2),
    (lambda a, b: tk.cast_signed(a > b, tk.i32), -(i > j).astype(np.int32)), (lambda a, b: tk.cast_unsigned(a > b, tk.i32), i > j),
]


def with_nan(tile):
    return tk.select(tile < -1, np.nan, tile)


@pytest.fixture(scope="module")
def results():
    """Of all cases, by the list that they are in."""
    lists = (("floats", FLOATS, tk.f32, a, b), ("numbers", NUMBERS, tk.f32, a, b), ("integers", INTEGERS, tk.i32, i, j))
    return {name: results_of(cases, dtype, *given) for name, cases, dtype, *given in lists}


@pytest.mark.parametrize("case", range(len(FLOATS)))
def test_floats(case, results):
    np.testing.assert_allclose(results["floats"][case], FLOATS[case][1], rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("case", range(len(NUMBERS)))
def test_numbers_and_nan(case, results):
    np.testing.assert_array_equal(results["numbers"][case], np.float32(NUMBERS[case][1]))


@pytest.mark.parametrize("case", range(len(INTEGERS)))
def test_integers(case, results):
    np.testing.assert_array_equal(results["integers"][case], np.asarray(INTEGERS[case][1]).astype(np.int32))


def test_memory():
    @tk.kernel
    def shift(x: X, ids: tk.In[tk.i64, 2], y: Y, z: tk.Out[tk.f32, 2, N], counts: tk.Out[tk.f32, N, tk.filled(1)],
              some: tk.Out[tk.f32, M, N, tk.filled(-1.0)]):
        m, = tk.grid(M)
        tk.store(y, [m, 0], tk.load(x, [m - 1, -1], [1, N], pad=5.0))
        rows = tk.check(tk.load(ids, [0], [2]), M, "row %lld of %lld")
        tk.store(z, [0, 0], tk.load(x, [rows, 0], [2, N]), mask=tk.full([2, 1], m == 0, tk.i1))
        tk.store(counts, [0], tk.reshape(tk.load(x, [m, 0], [1, N]), [N]), atomic="add")
        columns = tk.iota([N])
        tk.scatter(some, [m, tk.rem(columns + 1, 5)], tk.gather(x, [m, columns], mask=columns > 0, pad=9.0),
                   mask=columns < 3)

    x, ids = np.arange(15, dtype=np.float32).reshape(3, 5), np.array([2, 0])
    shifted = np.full((3, 5), 5, np.float32)
    shifted[1:, 1:] = x[:2, :4]
    some = np.full((3, 5), -1, np.float32)
    some[:, 1:4] = x[:, :3]
    some[:, 1] = 9
    for got, expected in zip(shift(x, ids), (shifted, x[ids], 1 + x.sum(0), some)):
        np.testing.assert_array_equal(got, expected)
    with pytest.raises(tilewright.InputError, match="row 7 of 3"):
        shift(x, np.array([2, 7]))


def test_strides_drop_and_hints():
    @tk.kernel
    def halves(x: X, y: Y):
        m, = tk.grid(M)
        tk.hint("tile.block", [4])
        t = tk.load(x, [tk.program_id(0), 1], [1, 3], strides=[1, 2])
        tk.store(y, [m, 0], tk.zeros([1, N], tk.f32))
        tk.store(y, [m, 0], t, strides=[1, 2])
        tk.store(y, [m, -1], t, drop=True)

    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    expected = np.zeros_like(x)
    expected[:, ::2] = x[:, 1::2]
    expected[:, :2] = x[:, 3::2]
    np.testing.assert_array_equal(halves(x), expected)
    assert "tile.block = array<i64: 4>" in halves.text()


def test_loops():
    @tk.kernel
    def sums(x: X, y: tk.Out[tk.f32, M, 4]):
        m, = tk.grid(M)
        for k, s in tk.loop(N, 0, -1, least=tk.full([1, 1], tk.inf, tk.f32), count=0, most=-1.0):
            column = tk.load(x, [m, k - 1], [1, 1])
            s.least, s.count = tk.minimum(s.least, column), s.count + 1
            s.most = tk.maximum(s.most, tk.cast(tk.extract(column), tk.f64))
        for k, t in tk.loop(1, N, 2, odd=tk.zeros([1, 1], tk.f32)):
            t.odd += tk.load(x, [m, k], [1, 1])
        tk.store(y, [m, 0], s.least)
        tk.store(y, [m, 1], tk.full([1, 1], tk.cast(s.count, tk.f32)))
        tk.store(y, [m, 2], tk.full([1, 1], tk.cast(s.most, tk.f32)))
        tk.store(y, [m, 3], t.odd)

    x = np.random.rand(3, 7).astype(np.float32)
    expected = np.stack([x.min(1), np.full(3, 7), x.max(1), x[:, 1::2].sum(1)], 1)
    np.testing.assert_allclose(sums(x), expected, rtol=1e-6)


@pytest.mark.parametrize("commutative", [False, True])
def test_combine(commutative):
    @tk.kernel
    def total(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, 1], *, B=64):
        tk.grid(1)
        for k, s in tk.loop(tk.cdiv(N, B), combine=lambda a, b: dict(acc=a.acc + b.acc), commutative=commutative,
                            acc=tk.zeros([1], tk.f32)):
            s.acc += tk.sum(tk.load(x, [k * B], [B]), 0)
        tk.store(y, [0], s.acc)

    x = torch.arange(1000.0)
    assert total(x) == x.sum()
    assert total.check(x)
    assert ("combine commutative (" if commutative else "combine (") in total.text()


def test_branches():
    @tk.kernel
    def choose(x: X, y: Y, flag: tk.i1):
        m, = tk.grid(M)
        t = tk.load(x, [m, 0], [1, N])
        t = tk.branch(m == 0, lambda: t * 2, lambda: t)
        one, two = tk.branch(flag, lambda: (t, m + 1), lambda: (-t, m))
        tk.store(y, [m, 0], one + tk.cast(tk.cast(two, tk.i64), tk.f32))
        with tk.when((m == 1) & flag):
            tk.store(y, [m, 0], tk.zeros([1, N], tk.f32))
        tk.branch(m == 2, lambda: tk.store(y, [m, 0], tk.full([1, N], 7.0, tk.f32)), lambda: None)

    x = np.ones((4, 3), np.float32)
    np.testing.assert_array_equal(choose(x, False), [[-2] * 3, [0] * 3, [7] * 3, [2] * 3])
    np.testing.assert_array_equal(choose(x, True)[:3], [[3] * 3, [0] * 3, [7] * 3])


def test_sizes_and_symbols():
    T = tk.symbol("T")

    @tk.kernel
    def repeat(x: tk.In[tk.f32, 2 * N + 1], T: T, y: tk.Out[tk.f32, T, 2 * N + 1]):  # noqa: F821
        t, = tk.grid(T)
        assert not N.is_constant or int(N) == 2
        tk.store(y, [t, 0], tk.reshape(tk.load(x, [0], [2 * N + 1]), [1, 2 * N + 1]))

    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(repeat(x, 3), np.stack([x] * 3))
    assert "[5]" in repeat.text(N=2)
    with pytest.raises(tilewright.InputError, match=r"N\*2\+1, which no whole number makes 4"):
        repeat(np.zeros(4, np.float32), 3)


def test_sizes_are_dynamic_and_programs_kept():
    softmax._calls._programs.clear()
    for shape in ((5, 7), (1, 1), (0, 3), (17, 64)):
        x = torch.randn(shape)
        torch.testing.assert_close(softmax(x), torch.softmax(x, 1))
    x = np.random.rand(3, 4).astype(np.float32)
    assert isinstance(softmax(x), np.ndarray) and isinstance(softmax(x=x), np.ndarray)
    assert len(softmax._calls._programs) == 1


def test_parameters_are_constants():
    @tk.kernel
    def scale(x: X, y: Y, *, BN=4, times=2, on=True):
        m, n = tk.grid(M, tk.cdiv(N, BN))
        assert isinstance(BN, int) and isinstance(on, bool)
        t = tk.load(x, [m, n * BN], [1, BN])
        for _ in range(times if on else 0):
            t = t * 2
        tk.store(y, [m, n * BN], t)

    x = torch.ones(3, 10)
    assert (scale(x) == 4).all() and (scale(x, times=3, BN=7) == 8).all() and (scale(x, on=False) == 1).all()
    assert len(scale._calls._programs) == 3
    assert scale(x, times=3, BN=7) is not None and len(scale._calls._programs) == 3


def test_dtype_variables():
    T = tk.dtype("T", tk.f32 | tk.bf16 | tk.i32)

    @tk.kernel
    def double(x: tk.In[T, N], w: tk.In[T, N], y: tk.Out[T, N]):
        n, = tk.grid(N)
        tk.store(y, [n], tk.load(x, [n], [1]) + tk.cast(tk.load(w, [n], [1]), T))

    for dtype in (torch.float32, torch.bfloat16, torch.int32):
        x = torch.arange(5).to(dtype)
        assert torch.equal(double(x, x), 2 * x)
    with pytest.raises(tilewright.InputError, match='argument "w" is f32, but "x" is i32'):
        double(torch.zeros(3, dtype=torch.int32), torch.zeros(3))
    with pytest.raises(tilewright.InputError, match='argument "x" has the dtype i8'):
        double(torch.zeros(3, dtype=torch.int8), torch.zeros(3))
    with pytest.raises(tk.KernelError, match="T is f64, which is not one of f32, bf16, i32"):
        double.text(T=tk.f64)
    assert "bf16" in double.text(T=tk.bf16)


def test_in_out_is_written_in_place():
    @tk.kernel
    def add(x: tk.InOut[tk.f32, M, N], y: tk.In[tk.f32, N], scale: tk.f64):
        m, = tk.grid(M)
        with tk.when(m != 1):
            tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) + scale * tk.load(y, [0], [N]))

    x, y = torch.randn(3, 5), torch.randn(5)
    expected = x + 2.5 * y
    expected[1] = x[1]
    before = x.data_ptr()
    assert add(x, y, 2.5) is None
    torch.testing.assert_close(x, expected)
    assert x.data_ptr() == before
    again = x.numpy()
    add(again, y.numpy(), scale=0.0)
    new = add.interpret(x, y, 2.5)
    assert not torch.equal(new, x) and add.check(x, y, 2.5)
    frozen = np.zeros((3, 5), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(tilewright.InputError) as caught:
        add(frozen, y.numpy(), 1.0)
    assert caught.value.code == "TW-PYTHON-0004"


def test_outputs_in_memory_that_is_given(refusal):
    x, y = torch.randn(4, 6), torch.empty(4, 6)
    assert softmax(x, y=y) is y
    torch.testing.assert_close(y, torch.softmax(x, 1))
    unaligned = np.zeros(25, np.float32)[1:].reshape(4, 6)
    softmax(x.numpy(), y=unaligned)
    np.testing.assert_allclose(unaligned, y.numpy(), rtol=1e-6)
    with refusal("TW-RUNTIME-0011", 'the memory for output "y" is f32[3, 6], but the output f32[4, 6]'):
        softmax(x, y=torch.empty(3, 6))
    nothing = torch.empty(0, 6)  # has no address either
    assert softmax(torch.randn(0, 6), y=nothing) is nothing
    with refusal("TW-RUNTIME-0011", 'the memory for output "y" is f32[0, 6], but the output f32[4, 6]'):
        softmax(x, y=nothing)
    with refusal("TW-RUNTIME-0014", 'the memory for output "y" has no data'):
        softmax(x, y=torch._to_functional_tensor(y))
    with refusal("TW-RUNTIME-0010", 'the memory for output "y" is f64[4, 6], but the output f32[4, 6]'):
        softmax(x, y=torch.empty(4, 6, dtype=torch.float64))
    with refusal("TW-PYTHON-0004"):
        softmax(x, y=x)
    with refusal("TW-PYTHON-0004"):
        softmax(x, y=torch.empty(6, 4).t())


def test_wrong_calls(refusal):
    x = torch.randn(4, 6)
    with refusal("TW-PYTHON-0003", "kernel softmax: it takes 1 argument, but 2 are given"):
        softmax(x, x)
    with refusal("TW-PYTHON-0003", 'kernel softmax: argument "x" is missing', "it takes x; by name alone outputs (y)"):
        softmax()
    with refusal("TW-PYTHON-0003", 'kernel softmax: argument "x" is given twice'):
        softmax(x, x=x)
    with refusal("TW-PYTHON-0003", 'kernel softmax: there is no argument and no parameter "z"'):
        softmax(x, z=x)
    with refusal("TW-PYTHON-0003", 'kernel softmax: output "y" is given'):
        softmax.interpret(x, y=x)
    with refusal("TW-PYTHON-0001"):
        softmax(3)
    with refusal("TW-RUNTIME-0010", 'kernel softmax: input "x" is f64, but the kernel takes f32'):
        softmax(x.double())
    with refusal("TW-RUNTIME-0011", 'kernel softmax: input "x" has 1 dimension, but the kernel takes 2'):
        softmax(x[0])


def test_interpreter_and_check():
    x = torch.randn(3, 4)
    torch.testing.assert_close(softmax.interpret(x), torch.softmax(x, 1))
    exact = softmax.interpret(x, f64=True)
    torch.testing.assert_close(exact, torch.softmax(x.double(), 1), rtol=1e-12, atol=1e-12)
    found = softmax.check(x)
    assert found and not found.findings and found.comparisons[0]["output"] == "y"
    assert "all 12 elements agree" in str(found)

    @tk.kernel
    def races(x: X, y: Y):
        m, = tk.grid(M)
        tk.store(y, [0, 0], tk.load(x, [m, 0], [1, N]))

    found = races.check(x)
    assert not found and {each["buffer"] for each in found.findings} == {"y"}
    assert "TW-INTERPRETER" in str(found)


def test_print(capsys):
    softmax.print(N=8)
    assert "tensor<1x8xf32>" in capsys.readouterr().out
    for level in ("loops", "llvm", "assembly"):
        softmax.print(as_=level, target="cpu:x86-64-v3")
        assert len(capsys.readouterr().out) > 500
    with pytest.raises(tilewright.Error, match="there is no level") as caught:
        softmax.print(as_="ptx")
    assert caught.value.help == "the levels are source, plan, loops, llvm and assembly"


def test_a_file_of_a_kernel(tmp_path, refusal):
    T = tk.dtype("T", tk.f32 | tk.f64)

    @tk.kernel
    def add(x: tk.In[T, M, N], y: tk.InOut[T, M, N], scale: tk.f64, z: tk.Out[T, M, N], *, BM=1):
        m, = tk.grid(tk.cdiv(M, BM))
        t = tk.load(x, [m * BM, 0], [BM, N])
        tk.store(z, [m * BM, 0], t * scale)
        tk.store(y, [m * BM, 0], t + tk.load(y, [m * BM, 0], [BM, N]))

    path = tmp_path / "add.so"
    assert "add" in str(add.compile_to_file(path, BM=4, T=tk.f64))
    program = tilewright.load(path)
    assert [(each.name, each.dtype) for each in program.inputs] == [("x", "f64"), ("y", "f64"), ("scale", "f64")]
    for rows in (3, 8):
        x, y = np.random.rand(rows, 5), np.ones((rows, 5))
        np.testing.assert_array_equal(program(x, y, 2.0), x * 2)
        np.testing.assert_array_equal(y, x + 1)
    with refusal("TW-DRIVER-0002"):
        add.compile_to_file(path, target="fpga")
    with refusal("TW-PYTHON-0005", "path"):
        add.compile_to_file(7)
    with refusal("TW-KERNEL-0003"):
        add.compile_to_file(path, T=tk.i8)


def test_description():
    @tk.kernel(name="other")
    def kernel(x: X, y: Y):
        """What it does."""
        tk.store(y, [0, 0], tk.load(x, [0, 0], [M, N]))
        tk.grid(1)

    assert kernel.name == "other" and kernel.__doc__.startswith("What it does.\n") and "@other(" in kernel.text()
    assert repr(kernel).startswith("<kernel other of ")
    assert repr(tk.In[tk.f32, M, 2 * N]).startswith("in ")


def test_a_kernel_in_a_model():
    """Its text is a kernel for tilewright.compile."""
    @torch.library.custom_op("tilewright_tests::row_softmax", mutates_args=())
    def row_softmax(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, 1)

    row_softmax.register_fake(torch.empty_like)

    class Head(torch.nn.Module):
        def forward(self, x):
            return torch.ops.tilewright_tests.row_softmax(x * 2) + 1

    x = torch.randn(3, 8)
    program = tilewright.compile(Head(), (x,), kernels=[softmax.text().replace("@softmax", "@row_softmax")])
    torch.testing.assert_close(program(x), torch.softmax(x * 2, 1) + 1)


def test_kernels_in_python_are_kernels_of_models(tmp_path, refusal):
    @tk.kernel
    def twice(x: X, y: Y, *, by=2):
        m, = tk.grid(M)
        tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * by)

    T = tk.dtype("T", tk.f32 | tk.bf16)

    @tk.kernel
    def many(x: tk.In[T, M, N], y: tk.Out[T, M, N]):
        m, = tk.grid(M)
        tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]))

    model = tmp_path / "model.mlir"
    model.write_text("""func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %a = tw.kernel_call "twice"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %a : tensor<2x4xf32>
}""")
    x = np.ones((2, 4), np.float32)
    assert (tilewright.compile(model, kernels=[twice])(x) == 2).all()
    assert (tilewright.compile(model, kernels=[twice.text(by=3)])(x) == 3).all()
    with refusal("TW-PYTHON-0005", "kernel many is for several dtypes T", "many.text(T=tk.f32)", "many.register("):
        tilewright.compile(model, kernels=[twice, many])


class Refuses(torch.Tensor):
    """A subclass that lets nobody ask it anything."""

    @classmethod
    def __torch_function__(cls, *_):
        raise AssertionError


def test_subclasses_that_would_be_written():
    @tk.kernel
    def double(x: tk.InOut[tk.f32, M, N]):
        m, = tk.grid(M)
        tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)

    with pytest.raises(tilewright.InputError, match="a subclass of torch.Tensor"):
        double(torch.ones(2, 3).as_subclass(Refuses))


def test_autograd_hears_of_what_is_written():
    @tk.kernel
    def double(x: tk.InOut[tk.f32, M, N]):
        m, = tk.grid(M)
        tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) * 2)

    leaf = torch.ones(3, 4, requires_grad=True)
    with pytest.raises(tilewright.InputError, match="kernel double: input \"x\" is written by the kernel, but requires a gradient") as caught:
        double(leaf)
    assert caught.value.code == "TW-PYTHON-0004"
    with torch.no_grad():
        double(x=leaf)
    assert leaf.eq(2).all()
    kept = leaf.detach().clone()
    product = (leaf * kept).sum()  # whose gradient needs what `kept` is now
    version = kept._version
    double(kept)
    assert kept._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_in_out_in_a_model(tmp_path):
    """The call gives the new value; the old one stays, for what reads it later."""
    @tk.kernel
    def add(x: tk.InOut[tk.f32, M, N], y: tk.In[tk.f32, N]):
        m, = tk.grid(M)
        with tk.when(m != 0):
            tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) + tk.load(y, [0], [N]))

    call = "tw.kernel_call \"add\"({}, %y) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>"
    model = tmp_path / "model.mlir"
    model.write_text(f"""func.func @main(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {{
  %a = {call.format("%x")}
  %b = {call.format("%a")}
  %c = {call.format("%b")}
  return %a, %c : tensor<?x4xf32>, tensor<?x4xf32>
}}""")
    program = tilewright.compile(model, kernels=[add.text()])
    x, y = np.random.rand(3, 4).astype(np.float32), np.arange(4, dtype=np.float32)
    before = x.copy()
    one, three = program(x, y)
    rows = np.array([[0], [1], [1]], np.float32)
    np.testing.assert_allclose(one, x + rows * y, rtol=1e-6)
    np.testing.assert_allclose(three, x + 3 * rows * y, rtol=1e-6)
    np.testing.assert_array_equal(x, before)


def test_compiled_kernels_are_kept_on_disk(fresh, tmp_path):
    def doubled(factor):
        @tk.kernel
        def scaled(x: X, y: Y):
            m, = tk.grid(M)
            tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * factor)

        return scaled

    folder = tmp_path / "cache" / "kernels"
    x = torch.randn(3, 5)
    assert torch.equal(doubled(2.0)(x), x * 2)
    path, = folder.iterdir()
    made = path.stat().st_mtime_ns
    assert torch.equal(doubled(2.0)(x), x * 2)     # found
    assert list(folder.iterdir()) == [path] and path.stat().st_mtime_ns == made
    path.write_bytes(b"damaged")
    assert torch.equal(doubled(2.0)(x), x * 2) and path.stat().st_size > 1000
    assert torch.equal(doubled(3.0)(x), x * 3) and len(list(folder.iterdir())) == 2
    folder.chmod(0o777)                            # others may write to it
    assert torch.equal(doubled(4.0)(x), x * 4) and len(list(folder.iterdir())) == 2


@tk.kernel
def doubled(x: tk.In[tk.f32, M], y: tk.Out[tk.f32, M]):
    m, = tk.grid(M)
    tk.store(y, [m], tk.load(x, [m], [1]) * 2)


def test_copies_and_pickles_are_the_kernel():
    assert copy.copy(doubled) is doubled and copy.deepcopy([doubled])[0] is doubled
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_threads_are_those_of_torch(run_python, tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text("""
import os
import numpy as np
import torch
import tilewright.kernel as tk

M, N = tk.symbols("M N")


@tk.kernel
def double(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(y, [m, 0], 2.0 * tk.load(x, [m, 0], [1, N]))


def threads():
    return len(os.listdir("/proc/self/task"))


x = torch.randn(4096, 64)
torch.set_num_threads(1)
double(x)
for count in (1, 3, 6):
    torch.set_num_threads(count)
    before = threads()
    double(x)
    print(threads() - before)
""")
    assert run_python(f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')") == "0\n2\n5\n"
