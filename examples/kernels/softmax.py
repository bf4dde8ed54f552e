# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import tilewright.kernel as tk

M, N = tk.symbols("M N")


@tk.kernel
def softmax(x: tk.In[tk.f32, M, N], y: tk.Out[tk.f32, M, N]):
    """y = softmax(x) over rows"""
    m, = tk.grid(M)
    row = tk.load(x, [m, 0], [1, N])
    e = tk.exp(row - tk.max(row, 1))
    tk.store(y, [m, 0], e / tk.sum(e, 1))
