# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interaction of DLRM: from F vectors of D features, of which the first is the dense output, the dense output itself
and then the products of all pairs, the lower triangle row by row."""
import tilewright.kernel as tk

B, F, D = tk.symbol("B"), tk.symbol("F", min=1), tk.symbol("D")


@tk.kernel
def dlrm_interaction(x: tk.In[tk.f32, B, F, D], y: tk.Out[tk.f32, B, D + F * (F - 1) // 2]):
    """y = [x[0], x[i] . x[j] for j < i], for each of a batch"""
    b, = tk.grid(B)
    vectors = tk.reshape(tk.load(x, [b, 0, 0], [1, F, D]), [F, D])
    products = tk.dot(vectors, tk.transpose(vectors))
    i, j = tk.iota([F, 1], 0), tk.iota([1, F], 1)
    tk.store(y, [b, 0], tk.reshape(tk.load(x, [b, 0, 0], [1, 1, D]), [1, D]))
    tk.scatter(y, [b, D + tk.div(i * (i - 1), 2) + j], products, mask=j < i)
