# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import tilewright.kernel as tk

M, N = tk.symbols("M N")
ACTIVATIONS = [tk.sigmoid, tk.relu, tk.tanh]


@tk.kernel
def add_mul_activation(x: tk.InOut[tk.f32, M, N], a: tk.In[tk.f32, M, N], bias: tk.In[tk.f32, N], multiplier: tk.f64,
                       *, BM=16, BN=64, ACTIVATION=0):
    """x = activation(multiplier * a + x + bias), in place"""
    m, n = tk.grid(tk.cdiv(M, BM), tk.cdiv(N, BN))
    total = (multiplier * tk.load(a, [m * BM, n * BN], [BM, BN]) + tk.load(x, [m * BM, n * BN], [BM, BN])
             + tk.load(bias, [n * BN], [BN]))
    result = ACTIVATIONS[ACTIVATION](total)
    tk.store(x, [m * BM, n * BN], result)
