# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A whole perceptron of two layers in one kernel: a block of the hidden layer lives only between the two products. What
is outside of the buffers reads as 0, and so adds nothing."""
import tilewright.kernel as tk

M, K, H, N = tk.symbols("M K H N")


@tk.kernel
def mlp(x: tk.In[tk.f32, M, K], w1: tk.In[tk.f32, K, H], b1: tk.In[tk.f32, H], w2: tk.In[tk.f32, H, N],
        b2: tk.In[tk.f32, N], y: tk.Out[tk.f32, M, N], *, BM=32, BH=64, BK=64):
    """y = sigmoid(relu(x w1 + b1) w2 + b2)"""
    m, = tk.grid(tk.cdiv(M, BM))
    for h, s in tk.loop(tk.cdiv(H, BH), out=tk.zeros([BM, N], tk.f32)):
        for k, t in tk.loop(tk.cdiv(K, BK), acc=tk.zeros([BM, BH], tk.f32)):
            t.acc = tk.dot(tk.load(x, [m * BM, k * BK], [BM, BK]), tk.load(w1, [k * BK, h * BH], [BK, BH]), t.acc)
        active = tk.relu(t.acc + tk.load(b1, [h * BH], [BH]))
        s.out = tk.dot(active, tk.load(w2, [h * BH, 0], [BH, N]), s.out)
    tk.store(y, [m * BM, 0], tk.sigmoid(s.out + tk.load(b2, [0], [N])))
