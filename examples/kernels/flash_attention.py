# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flash attention 2: one pass over the keys, in blocks, with a running maximum and sum of each row. `combine` joins what
two parts of the keys gave, so that workers can share a long row of keys. A part that saw no key has the maximum -inf, and
so weighs nothing; 0 in place of -inf keeps -inf - -inf, which is NaN, out of the exponents."""
import tilewright.kernel as tk

H, M, N, D = tk.symbols("H M N D")


def finite(x):
    return tk.select(x == -tk.inf, 0.0, x)


def merged(a, b):
    most = tk.maximum(a.most, b.most)
    base = finite(most)
    fade1, fade2 = tk.exp(a.most - base), tk.exp(b.most - base)
    return dict(most=most, total=a.total * fade1 + b.total * fade2, acc=a.acc * fade1 + b.acc * fade2)


def attention(q, k, v, o, scale, BM, BN, causal):
    h, m = tk.grid(H, tk.cdiv(M, BM))
    queries = tk.keep(tk.reshape(tk.load(q, [h, m * BM, 0], [1, BM, D]), [BM, D]) * scale)
    rows = tk.iota([BM, 1], 0, tk.i64, m * BM)
    blocks = tk.cdiv(N, BN)
    if causal:  # keys after the block's last query are not looked at
        blocks = tk.minimum(blocks, tk.cdiv((m + 1) * BM, BN))
    for n, s in tk.loop(blocks, combine=merged, most=tk.full([BM, 1], -tk.inf, tk.f32),
                        total=tk.zeros([BM, 1], tk.f32), acc=tk.zeros([BM, D], tk.f32)):
        keys = tk.reshape(tk.load(k, [h, n * BN, 0], [1, BN, D]), [BN, D])
        values = tk.reshape(tk.load(v, [h, n * BN, 0], [1, BN, D]), [BN, D])
        columns = tk.iota([1, BN], 1, tk.i64, n * BN)
        seen = (columns <= rows) & (columns < N) if causal else columns < N
        scores = tk.select(seen, queries @ tk.transpose(keys), -tk.inf)
        most = tk.maximum(s.most, tk.max(scores, 1))
        base = finite(most)
        weights, fade = tk.exp(scores - base), tk.exp(s.most - base)
        s.most, s.total, s.acc = most, s.total * fade + tk.sum(weights, 1), tk.dot(weights, values, s.acc * fade)
    result = s.acc / tk.select(s.total == 0.0, 1.0, s.total)  # 0 where there is no key at all
    tk.store(o, [h, m * BM, 0], tk.reshape(result, [1, BM, D]))


@tk.kernel
def flash_attention(q: tk.In[tk.f32, H, M, D], k: tk.In[tk.f32, H, N, D], v: tk.In[tk.f32, H, N, D],
                    o: tk.Out[tk.f32, H, M, D], scale: tk.f64, *, BM=32, BN=64):
    """o = softmax(scale q k^T) v"""
    attention(q, k, v, o, scale, BM, BN, causal=False)


@tk.kernel
def causal_flash_attention(q: tk.In[tk.f32, H, M, D], k: tk.In[tk.f32, H, N, D], v: tk.In[tk.f32, H, N, D],
                           o: tk.Out[tk.f32, H, M, D], scale: tk.f64, *, BM=32, BN=64):
    """the same, query i sees keys 0 to i"""
    attention(q, k, v, o, scale, BM, BN, causal=True)
