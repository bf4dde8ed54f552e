# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes in the bodies of kernels that not every call has."""
import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk

M, N = tk.symbols("M N")
X, Y = tk.In[tk.f32, M, N], tk.Out[tk.f32, M, N]


@tk.kernel
def all_but_four(x: X, y: tk.Out[tk.f32, M, N, tk.filled(0)]):
    m, = tk.grid(M)
    with tk.when(m < 0):
        tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N - 4]))


@tk.kernel
def in_parts(x: X, y: tk.Out[tk.f32, M, N, tk.filled(0)]):
    m, = tk.grid(M)
    for k in tk.loop(tk.cdiv(M, N)):
        tk.store(y, [m, k], tk.load(x, [m, k], [1, 1]))


@tk.kernel
def less_programs(x: X, y: tk.Out[tk.f32, M, N, tk.filled(0)]):
    m, = tk.grid(M - N)
    tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]))


def test_more_programs_than_a_grid_can_have():
    """In 63 bits they overflow, and where they do not, the call would never end."""
    @tk.kernel
    def always(x: X, y: tk.Out[tk.f32, M, N, tk.filled(0)]):
        tk.grid(2**40, 2**40)

    @tk.kernel
    def by_sizes(x: X, y: tk.Out[tk.f32, M, N, tk.filled(0)]):
        tk.grid(M, N, 2**38)

    with pytest.raises(tk.KernelError, match="the grid .* has more than 1099511627776 programs"):
        always.text()
    with pytest.raises(tilewright.InputError, match=r"the grid, \[3, 4, 274877906944\], has more than 1099511627776 programs"):
        by_sizes.interpret(np.ones((3, 4), np.float32))
    with pytest.raises(tilewright.InputError, match=r"the grid, \[M, N, 274877906944\], has more than 1099511627776 "
                       "programs where M is 3 and N is 4"):
        by_sizes(np.ones((3, 4), np.float32))
    assert by_sizes(np.ones((0, 4), np.float32)).shape == (0, 4)


R = tk.symbol("R")


@tk.kernel
def many_programs(x: tk.In[tk.f32, N], R: R, y: tk.Out[tk.f32, N, tk.filled(0)]):
    tk.grid(R, R, 2)


@tk.kernel
def large_tile(x: tk.In[tk.f32, N], R: R, y: tk.Out[tk.f32, N, tk.filled(0)]):
    n, = tk.grid(N)
    tk.store(y, [n], tk.reshape(tk.sum(tk.sum(tk.zeros([R, R + N], tk.f32), 0), 1), [1]))


@tk.kernel
def large_size(x: tk.In[tk.f32, N], R: R, y: tk.Out[tk.f32, N, tk.filled(0)]):
    n, = tk.grid(R * R * 4 + R)
    tk.store(y, [n], tk.zeros([1], tk.f32))


@pytest.mark.parametrize("name, good, bad, says", [
    ("many_programs", 2, 2**32, r"the grid, \[(R|4294967296), .*, 2\], has more than 1099511627776 programs.* 4294967296"),
    ("many_programs", 0, 2**20, r"the grid, .* has more than 1099511627776 programs.* 1048576"),
    ("large_tile", 2, 2**32, r"a tile, .* has more than 68719476736 elements.* 4294967296"),
    ("large_tile", 2, 2**18, r"a tile, .* has more than 68719476736 elements.* 262144"),
    ("large_size", 0, 2**31, r"R \* R \* 4,? overflows"),
    ("large_size", 0, 2**62, r"(overflows.*|symbol R (is|would be)) 4611686018427387904"),
])
def test_numbers_that_overflow_by_sizes_of_a_call(name, good, bad, says, tmp_path):
    """Else nothing would run, or a size would be another one; as a program that was compiled to a file, too."""
    kernel, x = globals()[name], np.ones(3, np.float32)
    kernel.compile_to_file(tmp_path / "kernel.so")
    for run in (kernel, kernel.interpret, tilewright.load(tmp_path / "kernel.so")):
        run(x, good)
        with pytest.raises(tilewright.InputError, match=f"(?s){says}"):
            run(x, bad)


def test_numbers_that_overflow_in_a_model():
    torch = pytest.importorskip("torch")
    operator = many_programs.register("tilewright_sizes_test::many_programs")
    compiled = torch.compile(lambda x, n: operator(x, n) + 1, backend=tilewright.torch.backend, dynamic=True)
    assert compiled(torch.ones(4), 3).tolist() == [1, 1, 1, 1]
    with pytest.raises(tilewright.InputError, match="the grid, .* has more than 1099511627776 programs"):
        compiled(torch.ones(4), 2**32)


@pytest.mark.parametrize("extent", [2**62, 2**32, 2**30])
def test_more_elements_than_a_tile_can_have(extent):
    @tk.kernel
    def whole(x: X, y: Y):
        m, = tk.grid(M)
        total = tk.sum(tk.sum(tk.zeros([extent, extent], tk.f32), 0), 1)
        tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) + total)

    for run in (whole.text, lambda: whole(np.ones((3, 4), np.float32))):
        with pytest.raises(tk.KernelError, match="has more than 68719476736 elements"):
            run()


def test_sizes_whose_text_would_have_no_end():
    """Each step uses the one before several times."""
    def step(n):
        return n * n % 7 + n

    size = N
    for _ in range(40):
        size = step(size)
    assert len(repr(size)) < 2**20

    @tk.kernel
    def declares(x: X, y: tk.Out[tk.f32, M, size]):
        tk.grid(M)

    @tk.kernel
    def computes(x: X, y: tk.Out[tk.f32, M, N]):
        tk.grid(M)
        n = N
        for _ in range(40):
            n = step(n)

    for kernel in declares, computes:
        with pytest.raises(tk.KernelError, match="is too long") as caught:
            kernel.text()
        assert len(caught.value.message) < 1000


@pytest.mark.parametrize("name, good, bad, says", [
    ("all_but_four", (3, 4), (3, 3), "an extent of a tile, N - 4, is -1, which is negative"),
    ("in_parts", (3, 1), (3, 0), "M ceildiv N,? .*divides by 0"),
    ("less_programs", (5, 3), (3, 5), "size 0 of the grid, M - N, is -2, which is negative"),
])
def test_sizes_that_calls_do_not_have(name, good, bad, says):
    """Before a program runs, whether it would come by them or not."""
    kernel = globals()[name]
    for run in (kernel, kernel.interpret):
        run(np.ones(good, np.float32))
        with pytest.raises(tilewright.InputError, match=says):
            run(np.ones(bad, np.float32))


Q, R = tk.symbol("Q", max=16), tk.symbol("R")


@tk.kernel
def weighted(x: tk.In[tk.f32, M, N], w: tk.In[tk.f32, N], q: tk.In[tk.f32, Q], R: R, y: tk.Out[tk.f32, M, N],
             z: tk.Out[tk.f32, R]):
    m, = tk.grid(M)
    tk.store(y, [m, 0], tk.load(x, [m, 0], [1, N]) * tk.reshape(tk.load(w, [0], [N]), [1, N]))
    with tk.when(m == 0):
        tk.store(z, [0], tk.zeros([R], tk.f32))


def test_sizes_that_contradict_each_other(refusal, tmp_path):
    """What is said names the kernel, and nothing of a model; as of a program that was compiled to a file."""
    weighted.compile_to_file(tmp_path / "weighted.so")
    loaded = tilewright.load(tmp_path / "weighted.so")
    assert repr(loaded) == ("<tilewright.Program weighted(x: f32[M, N], w: f32[N], q: f32[Q], R: int) -> "
                            "(y: f32[M, N], z: f32[R])>")
    x, w, q = np.ones((3, 4), np.float32), np.ones(4, np.float32), np.ones(2, np.float32)
    operator = weighted.register("tilewright_call_test::weighted")
    for call, given in ((weighted, np.float32), (loaded, np.float32), (operator, torch.ones)):
        ones = (lambda *sizes: np.ones(sizes, np.float32)) if given is np.float32 else given
        with refusal("TW-RUNTIME-0011", 'kernel weighted: input "w" dimension 0 is 5, but its declaration says N = 4 (from '
                     'input "x" dimension 1)', "given [5], the kernel takes [N]",
                     "give sizes that fit each other as the kernel declares its arguments"):
            call(ones(3, 4), ones(5), ones(2), 2)
        with refusal("TW-RUNTIME-0012", 'kernel weighted: input "q" dimension 0 makes Q 20, but its declaration says Q <= 16',
                     "give a size in that range, or declare the symbol with a wider one"):
            call(ones(3, 4), ones(4), ones(20), 2)
        with refusal("TW-RUNTIME-0012", 'kernel weighted: input "R" makes R -1, but its declaration says R >= 0'):
            call(ones(3, 4), ones(4), ones(2), -1)
    assert weighted(x, w, q, 3)[1].shape == (3,)


def test_sizes_are_shown_as_declared(refusal, tmp_path):
    """Also those of symbols that stand within an expression alone, and of outputs."""
    @tk.kernel
    def made(x: tk.In[tk.f32, 2 * N + 1], w: tk.InOut[tk.f32, M, M * N - M], y: tk.Out[tk.f32, N, tk.cdiv(M, 4) + 1],
             z: tk.Out[tk.f32, (M + N) // 2, M % 3 * 2, 5]):
        tk.grid(1)
        tk.store(y, [0, 0], tk.full([N, tk.cdiv(M, 4) + 1], 1, tk.f32))
        tk.store(z, [0, 0, 0], tk.full([(M + N) // 2, M % 3 * 2, 5], 2, tk.f32))
        tk.store(w, [0, 0], tk.full([M, M * N - M], 3, tk.f32))

    made.compile_to_file(tmp_path / "made.so")
    loaded = tilewright.load(tmp_path / "made.so")
    assert repr(loaded) == ("<tilewright.Program made(x: f32[N*2+1], w: f32[M, M*N-M]) -> "
                            "(y: f32[N, -(-M//4)+1], z: f32[(M+N)//2, M%3*2, 5])>")
    assert list(loaded.symbols) == ["N", "M"]
    x, w = np.ones(7, np.float32), np.ones((5, 10), np.float32)
    for call in (made, loaded):
        y, z = call(x, w)
        assert y.shape == (3, 3) and (y == 1).all() and z.shape == (4, 4, 5) and (z == 2).all() and (w == 3).all()
        with refusal("TW-RUNTIME-0011", 'kernel made: input "x" dimension 0 is 6, but its declaration says N*2+1, which no '
                     "whole number makes 6", "given [6], the kernel takes [N*2+1]"):
            call(np.ones(6, np.float32), w)
        with refusal("TW-RUNTIME-0011", 'kernel made: input "w" dimension 1 is 9, but its declaration says M*N-M with M = 5 '
                     '(from input "w" dimension 0) and N = 3 (from input "x" dimension 0)'):
            call(x, np.ones((5, 9), np.float32))
    for line in ("x: f32[N * 2 + 1], In", "y: f32[N, M ceildiv 4 + 1], Out"):
        assert line in made.__doc__
