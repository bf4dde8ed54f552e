# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import tilewright.kernel as tk

M, N = tk.symbol("M"), tk.symbol("N", min=1)


@tk.kernel
def layer_norm(x: tk.In[tk.f32, M, N], weight: tk.In[tk.f32, N], bias: tk.In[tk.f32, N], y: tk.Out[tk.f32, M, N],
               eps: tk.f64):
    """y = (x - mean) / sqrt(variance + eps) * weight + bias, by rows"""
    m, = tk.grid(M)
    row = tk.load(x, [m, 0], [1, N])
    centred = row - tk.sum(row, 1) / N
    variance = tk.sum(centred * centred, 1) / N
    normal = centred * tk.rsqrt(variance + eps)
    tk.store(y, [m, 0], normal * tk.load(weight, [0], [N]) + tk.load(bias, [0], [N]))
