# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import tilewright.kernel as tk

M, N, K = tk.symbols("M N K")


@tk.kernel
def gemm(a: tk.In[tk.f32, M, K], b: tk.In[tk.f32, N, K], c: tk.Out[tk.f32, M, N], *, BM=32, BN=32, BK=64):
    """C = A B^T"""
    m, n = tk.grid(tk.cdiv(M, BM), tk.cdiv(N, BN))
    for k, s in tk.loop(tk.cdiv(K, BK), acc=tk.zeros([BM, BN], tk.f32)):
        rows, columns = tk.load(a, [m * BM, k * BK], [BM, BK]), tk.load(b, [n * BN, k * BK], [BN, BK])
        s.acc = tk.dot(rows, tk.transpose(columns), s.acc)
    tk.store(c, [m * BM, n * BN], s.acc)
