# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with types, in which a strict type checker finds nothing to say (test_types.py), though they use all that is
written in annotations, and what it has to know of values."""
from __future__ import annotations

from typing import Any

import tilewright.kernel as tk

M, N, R = tk.symbols("M N R")
K = tk.symbol("K", min=1, max=4096, multiple=8)
T = tk.dtype("T", tk.f32 | tk.bf16)
Only = tk.dtype("Only", tk.f64)
Rows = tk.In[T, M, 2 * N + 1]


def silu(x: tk.Tile) -> tk.Tile:
    return x * tk.sigmoid(x)


def weight(scale: tk.Scalar, position: tk.Index) -> tk.Scalar:
    return scale * (position + 1)


@tk.kernel
def everything(x: Rows, w: tk.InOut[T, N], y: tk.Out[tk.f32, M, R], count: tk.Out[tk.i64, 1, tk.filled(0)],
               total: tk.Out[tk.f32, (), tk.filled(0.0)], scale: tk.f64, flag: tk.i1, R: tk.In[tk.Symbol, R], *,
               BN: int = 64, twice: bool = False) -> None:
    m, n = tk.grid(M, tk.cdiv(R, BN))
    tk.hint("tile.block", [4, 2])
    t = tk.full([1, BN], weight(scale, m - m) * (2 if twice else 1), tk.f32)
    tk.store(y, [m, n * BN], tk.select(flag, t, -t))
    tk.store(count, [0], tk.full([1], 1, tk.i64), atomic="add")
    with tk.when((m == 0) & (n == 0)):
        tk.store(w, [0], tk.load(w, [0], [N]) + tk.cast(1, T))
        tk.store(total, [], tk.cast(tk.reshape(tk.load(x, [0, 0], [1, 1]), []), tk.f32))


@tk.kernel(name="typed_statistics")
def statistics(x: tk.In[T, M, K], y: tk.Out[T, M, 2], *, BN: int = 64) -> None:
    m, = tk.grid(M)

    def merged(a: tk.State, b: tk.State) -> dict[str, tk.Tile]:
        return dict(total=a.total + b.total, most=tk.maximum(a.most, b.most))

    for n, s in tk.loop(tk.cdiv(K, BN), combine=merged, total=tk.zeros([1, 1], tk.f32),
                        most=tk.full([1, 1], -tk.inf, tk.f32)):
        block = tk.cast(tk.load(x, [m, n * BN], [1, BN]), tk.f32)
        s.total += tk.sum(silu(block), 1)
        s.most = tk.maximum(s.most, tk.max(tk.cast(tk.load(x, [m, n * BN], [1, BN], pad=-tk.inf), tk.f32), 1))
    large = tk.branch(tk.extract(s.most) > 3.0, lambda: s.most, lambda: tk.zeros([1, 1], tk.f32))
    for i, each in enumerate([s.total, large]):
        tk.store(y, [m, i], tk.cast(each, y.dtype))


@tk.kernel
def of_values(x: tk.In[Only, M, N], y: tk.Out[Only, M, N], n: tk.i64) -> None:
    m, = tk.grid(M)
    row = tk.load(x, [m, 0], [1, N])
    columns: tk.Tile = tk.iota([1, N], 1)
    last: tk.Size = x.size(-1) - 1
    middle: tk.Index = tk.minimum(tk.cdiv(N, 2), m + last)
    seen: tk.Tile = (columns <= middle) & (columns >= 0) | (columns == last)
    is_first: tk.Scalar = (m < n) & (m == 0)
    values, places = tk.sort(row, 1, descending=True)
    kept: tk.Tile = tk.select(seen, abs(-row), 0.5 * values + 1) ** 2.0
    kind: tk.DType = x.dtype
    assert kind == tk.f64 and kind.name == "f64" and len(x.shape) == 2
    tk.store(y, [m, 0], tk.select(is_first, kept, tk.cast(places, kind)))


def texts() -> list[str]:
    settings: dict[str, Any] = {"T": tk.bf16, "BN": 32}
    return [everything.text(**settings), statistics.text(T=tk.f32), of_values.text()]
