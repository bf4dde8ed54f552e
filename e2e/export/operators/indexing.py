# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators whose positions are data: indexing, scattering, embeddings, sorting."""

import torch
from torch.nn import functional as F

from .family import family


@family(x="f32[5,7,2]", i="i64[3]<5", j="i64[3]<5", k="i64[2,2]<5", n="i64[5,4]", h="f16[5]", t="bool[5]", m="i32[3]<5")
def index(case, x, i, j, k, n, h, t, m):
    case("one", x[i])
    case("negative", x[i - 5])
    case("i32", x[m])
    case("second", x[:, i])
    case("two", x[i, j])
    case("two apart", x[i, :, j % 2])
    case("three", x[i, j, j % 2])
    case("grid", x[k])
    case("broadcast", x[k, i[:2]])
    case("column", x[i[:, None], j[None, :]])
    case("with slice", x[1:4, i])
    case("with None", x[None, i, :, None])
    case("ints", n[i])
    case("half", h[k])
    case("bool values", t[i])
    case("list", x[[0, 2, 2]])
    case("index_select", torch.index_select(x, 1, i))
    case("index_select i32", torch.index_select(n, 0, m))
    case("take", torch.take(x, k * 7))
    case("scalar index", x[i[0]])


@family(x="f32[4,5]", g="i64[2,3]<4", n="i64[4,5]<5", m="i64[4,2]<5", v="f32[5]", h="f16[4,5]", i="i64[3]<5")
def gathers(case, x, g, n, m, v, h, i):
    case("gather 0", torch.gather(x, 0, g))
    case("gather 1", torch.gather(x, 1, n))
    case("gather -1", torch.gather(x, -1, m))
    case("gather vector", torch.gather(v, 0, i))
    case("gather half", torch.gather(h, 1, m))
    case("gather ints", torch.gather(n, 1, m))
    case("take_along_dim", torch.take_along_dim(x, m, 1))
    case("take_along_dim broadcast", torch.take_along_dim(x, n[:1, :1], 1))
    case("take_along_dim flat", torch.take_along_dim(x, i))
    case("argsort gather", torch.gather(x, 1, torch.argsort(x, dim=1)))


@family(x="f32[5,4]", y="f32[3,4]", i="i64[3]<5", j="i64[3]<4", n="i64[5,4]", s="f32[]", h="f16[5]")
def index_writes(case, x, y, i, j, n, s, h):
    unique = torch.tensor([4, 0, 2])
    case("index_put", x.index_put((unique,), y))
    case("index_put accumulate", x.index_put((i,), y, accumulate=True))
    case("index_put two", x.index_put((unique, j), s))
    case("index_put two accumulate", x.index_put((i, j), y[:, 0], accumulate=True))
    case("index_put ints", n.index_put((i,), torch.tensor(7)))
    case("index_put negative", x.index_put((unique - 5,), y))
    case("index_put second", torch.ops.aten.index_put.default(x, [None, torch.tensor([3, 1])], y[:1, :2]))
    case("index_put half", h.index_put((i,), h[:3], accumulate=True))
    case("index_add", torch.index_add(x, 0, i, y))
    case("index_add alpha", torch.index_add(x, 0, i, y, alpha=0.5))
    case("index_add 1", torch.index_add(x, 1, j, torch.ones(5, 3)))
    case("index_add ints", torch.index_add(n, 0, i, torch.ones(3, 4, dtype=torch.int64)))
    case("index_copy", torch.index_copy(x, 0, unique, y))
    case("index_fill", torch.index_fill(x, 1, j, 3.5))
    case("index_fill tensor", torch.index_fill(x, 0, i, s))
    case("index_reduce", torch.index_reduce(x, 0, i, y, "amax"))
    copy = x.clone()
    copy[unique] = y
    copy[:, 1] = 0
    copy[0, torch.tensor([1, 2])] += 5
    case("assignments", copy)


@family(x="f32[4,5]", y="f32[4,5]", i="i64[4,5]<4", j="i64[3,5]<4", n="i64[4,5]", h="f16[4,5]", v="f32[7]", w="i64[7]<3")
def scatters(case, x, y, i, j, n, h, v, w):
    unique = torch.argsort(y, dim=0)
    case("scatter", torch.scatter(x, 0, unique, y))
    case("scatter 1", torch.scatter(x, 1, torch.argsort(y, dim=1), y))
    case("scatter fewer", torch.scatter(x, 0, unique[:, :3], y))
    case("scatter value", torch.scatter(x, 0, j, 2.5))
    case("scatter value ints", torch.scatter(n, 1, i, 3))
    case("scatter reduce add", torch.scatter(x, 0, i, y, reduce="add"))
    case("scatter reduce multiply", torch.scatter(x, 0, i, y, reduce="multiply"))
    case("scatter_add", torch.scatter_add(x, 0, i, y))
    case("scatter_add 1", torch.scatter_add(x, 1, i, y))
    case("scatter_add fewer", torch.scatter_add(x, 0, j, y))
    case("scatter_add ints", torch.scatter_add(n, 0, i, n))
    case("scatter_add vector", torch.zeros(3).scatter_add(0, w, v))
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        case(f"scatter_reduce {reduce}", torch.scatter_reduce(x, 0, i, y, reduce))
        case(f"scatter_reduce {reduce} without self", torch.scatter_reduce(x, 1, i, y, reduce, include_self=False))
        case(f"scatter_reduce {reduce} vector", torch.zeros(4).scatter_reduce(0, w, v, reduce, include_self=False))
    case("scatter_reduce half", torch.scatter_reduce(h, 0, i, h, "amax"))
    case("bincount by scatter", torch.zeros(3, dtype=torch.int64).scatter_add(0, w, torch.ones_like(w)))


@family(w="f32[11,4]", i="i64[2,3]<11", m="i32[5]<11", h="f16[11,3]", o="f32[7]")
def embeddings(case, w, i, m, h, o):
    case("embedding", F.embedding(i, w))
    case("embedding i32", F.embedding(m, w))
    case("embedding half", F.embedding(i, h))
    case("embedding padding", F.embedding(i, w, padding_idx=0))
    case("embedding scalar", F.embedding(i[0, 0], w))
    offsets = torch.tensor([0, 2, 2, 3])
    for mode in ("sum", "mean", "max"):
        case(f"embedding_bag {mode}", F.embedding_bag(i, w, mode=mode))
        case(f"embedding_bag {mode} offsets", F.embedding_bag(i.flatten(), w, offsets, mode=mode))
    case("embedding_bag weights", F.embedding_bag(i, w, mode="sum", per_sample_weights=o[:6].view(2, 3)))
    case("embedding_bag padding", F.embedding_bag(i.flatten(), w, offsets, mode="sum", padding_idx=3))
    case("embedding_bag last", F.embedding_bag(i.flatten(), w, torch.tensor([0, 2, 6]), mode="mean", include_last_offset=True))


@family(x="f32[3,11]", n="i64[13]<5", h="f16[7]", v="f32[1]", t="f32[3,7,2]", s="f32[]")
def sorting(case, x, n, h, v, t, s):
    case("sort", torch.sort(x))
    case("sort descending", torch.sort(x, descending=True))
    case("sort dim 0", torch.sort(x, dim=0))
    case("sort stable", torch.sort(n, stable=True))
    case("sort stable descending", torch.sort(n, stable=True, descending=True))
    case("sort half", torch.sort(h))
    case("sort middle", torch.sort(t, dim=1))
    case("sort one", torch.sort(v))
    case("sort nan", torch.sort(torch.tensor([2.0, float("nan"), -1.0, float("inf")])))
    case("argsort", torch.argsort(x))
    case("argsort descending", torch.argsort(x, descending=True))
    case("argsort stable", torch.argsort(n, stable=True))
    case("msort", torch.msort(x))
    for k in (1, 3, 11):
        case(f"topk {k}", torch.topk(x, k))
    case("topk smallest", torch.topk(x, 2, largest=False))
    case("topk dim", torch.topk(t, 2, dim=1))
    case("topk zero", torch.topk(x, 0))
    case("kthvalue", torch.kthvalue(x, 4))
    case("median", torch.median(x))
    case("median dim", torch.median(x, dim=1))
    edges = torch.sort(x[0]).values
    case("searchsorted", torch.searchsorted(edges, t))
    case("searchsorted right", torch.searchsorted(edges, x, right=True))
    case("bucketize", torch.bucketize(x, edges))
    case("isin", torch.isin(n, torch.tensor([1, 3])))
