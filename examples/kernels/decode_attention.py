# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of one query to many keys, as when text is written word by word. There are only as many programs as heads, so
it is `combine` that gives each worker something to do."""
import tilewright.kernel as tk

H, D, N = tk.symbols("H D N")


def finite(x):
    return tk.select(x == -tk.inf, 0.0, x)


def merged(a, b):
    most = tk.maximum(a.most, b.most)
    base = finite(most)
    fade1, fade2 = tk.exp(a.most - base), tk.exp(b.most - base)
    return dict(most=most, total=a.total * fade1 + b.total * fade2, acc=a.acc * fade1 + b.acc * fade2)


@tk.kernel
def decode_attention(q: tk.In[tk.f32, H, D], k: tk.In[tk.f32, H, N, D], v: tk.In[tk.f32, H, N, D],
                     o: tk.Out[tk.f32, H, D], scale: tk.f64, *, H=8, D=64, BN=128):
    """o = softmax(scale q k^T) v for one query of each head"""
    h, = tk.grid(H)
    query = tk.load(q, [h, 0], [1, D]) * scale
    for n, s in tk.loop(tk.cdiv(N, BN), combine=merged, most=tk.full([1, 1], -tk.inf, tk.f32),
                        total=tk.zeros([1, 1], tk.f32), acc=tk.zeros([1, D], tk.f32)):
        keys = tk.reshape(tk.load(k, [h, n * BN, 0], [1, BN, D]), [BN, D])
        values = tk.reshape(tk.load(v, [h, n * BN, 0], [1, BN, D]), [BN, D])
        scores = tk.select(tk.iota([1, BN], 1, tk.i64, n * BN) < N, query @ tk.transpose(keys), -tk.inf)
        most = tk.maximum(s.most, tk.max(scores, 1))
        base = finite(most)
        weights, fade = tk.exp(scores - base), tk.exp(s.most - base)
        s.most, s.total, s.acc = most, s.total * fade + tk.sum(weights, 1), tk.dot(weights, values, s.acc * fade)
    tk.store(o, [h, 0], s.acc / tk.select(s.total == 0.0, 1.0, s.total))  # 0 where there is no key at all
