# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of NumPy and of Python's other types where kernels take numbers, and numbers that they do not take."""
from fractions import Fraction

import numpy as np
import pytest
import torch

import tilewright
import tilewright.kernel as tk

M, N = tk.symbols("M N")


@pytest.mark.parametrize("two", [2.0, np.float64(2), np.float32(2), np.float16(2), np.int64(2), Fraction(2)])
def test_numbers_of_numpy_leave_operators_to_tiles(two):
    @tk.kernel
    def fourfold(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
        m, = tk.grid(M)
        tk.store(y, [m, 0], two * tk.load(x, [m, 0], [1, N]) * two)

    assert (fourfold(np.ones((2, 3), np.float32)) == 4).all()
    assert type(np.int64(2) * M) is tk.Size
    with pytest.raises(tk.KernelError, match="numpy.exp got a Symbol") as caught:
        np.exp(M)
    assert caught.value.help == "write tk.exp, which computes when the kernel runs"


def test_numbers_of_numpy_are_numbers_of_kernels():
    """Of the configuration, of sizes, and where True or False is asked for."""
    @tk.kernel
    def fills(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, np.int64(4)], *, value=np.int32(3), flag=np.bool_(False)):
        tk.grid(np.int64(1))
        total = tk.sum(tk.full([np.int8(4)], np.float32(value), tk.f32), np.int64(0), keepdim=np.bool_(True))
        tk.store(y, [0], tk.broadcast(tk.select(np.bool_(True), total, total), [4]) + (1 if flag else np.float32(0.5)))

    x = np.ones(2, np.float32)
    assert type(fills.signature.parameters["value"]) is int and type(fills.signature.parameters["flag"]) is bool
    assert fills(x).tolist() == [12.5] * 4
    assert fills(x, value=np.uint8(1), flag=np.bool_(True)).tolist() == [5] * 4
    assert fills.check(x, rtol=np.float32(1e-5), value=np.int64(2))
    for given in np.ones(1, np.int64), torch.tensor(1), 1.0, np.float32(1), np.uint64(2**63):
        with pytest.raises(tk.KernelError, match="value is set to") as caught:
            fills(x, value=given)
        assert caught.value.help == "parameters and symbols are integers from -2**63 to 2**63 - 1"


def test_parameters_that_are_true_or_false():
    @tk.kernel
    def flagged(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N], *, flag=False):
        tk.grid(1)
        tk.store(y, [0], tk.full([N], 1.0 if flag is True else 0.0, tk.f32))

    x = np.zeros(2, np.float32)
    assert flagged(x, flag=1).tolist() == flagged(x, flag=True).tolist() == [1, 1]
    for given in 2, "t", -1, None:
        with pytest.raises(tk.KernelError, match="flag is set to") as caught:
            flagged(x, flag=given)
        assert caught.value.help == "give True or False"


@tk.kernel
def counted(x: tk.In[tk.f32, N], y: tk.Out[tk.f32, N], n: tk.i64, b: tk.i1, s: tk.f64):
    tk.grid(1)
    tk.store(y, [0], tk.load(x, [0], [N]) + tk.cast(n, tk.f32) + tk.cast(tk.cast(s, tk.f32), tk.f32))


@pytest.mark.parametrize("given, says, advice", [
    ({"n": 2**63}, 'kernel counted: input "n" is 9223372036854775808 of type int', "give an integer from -2**63 to 2**63 - 1"),
    ({"n": 2.5}, 'kernel counted: input "n" is 2.5 of type float', "give an integer from -2**63 to 2**63 - 1"),
    ({"b": 2}, 'kernel counted: input "b" is 2 of type int', "give True or False"),
    ({"s": "x"}, "kernel counted: input \"s\" is 'x' of type str", "give a number that a float can be of"),
])
def test_numbers_that_arguments_are_not(given, says, advice):
    x = np.zeros(2, np.float32)
    assert counted(x, n=np.int32(1), b=True, s=np.float32(2)).tolist() == [3, 3]
    with pytest.raises(tilewright.InputError) as caught:
        counted(x, **{"n": 1, "b": False, "s": 0.0, **given})
    assert (caught.value.message, caught.value.help) == (says, advice)
