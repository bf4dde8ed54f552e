# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes in the bodies of kernels that not every call has."""
import numpy as np
import pytest

import tilewright
import tilewright.kernel as tk

M, N = tk.symbols("M N")
X = tk.In[tk.f32, M, N]


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
