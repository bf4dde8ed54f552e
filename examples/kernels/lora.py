# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import tilewright.kernel as tk

M, N, K, R = tk.symbols("M N K R")


@tk.kernel
def lora(x: tk.In[tk.f32, M, K], w: tk.In[tk.f32, N, K], bias: tk.In[tk.f32, N], a: tk.In[tk.f32, R, K],
         b: tk.In[tk.f32, N, R], y: tk.Out[tk.f32, M, N], scale: tk.f64, *, BM=32, BN=64, BK=64):
    """y = relu(x w^T + bias + scale (x a^T) b^T), a and b of a low rank R"""
    m, n = tk.grid(tk.cdiv(M, BM), tk.cdiv(N, BN))
    for k, s in tk.loop(tk.cdiv(K, BK), wide=tk.zeros([BM, BN], tk.f32), low=tk.zeros([BM, R], tk.f32)):
        rows = tk.load(x, [m * BM, k * BK], [BM, BK])
        s.wide = tk.dot(rows, tk.transpose(tk.load(w, [n * BN, k * BK], [BN, BK])), s.wide)
        s.low = tk.dot(rows, tk.transpose(tk.load(a, [0, k * BK], [R, BK])), s.low)
    total = tk.dot(s.low * scale, tk.transpose(tk.load(b, [n * BN, 0], [BN, R])), s.wide)
    tk.store(y, [m * BM, n * BN], tk.relu(total + tk.load(bias, [n * BN], [BN])))
