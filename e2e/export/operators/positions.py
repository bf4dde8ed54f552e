# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators whose positions are data, called as decomposed and training programs call them."""

import torch

from .family import family

aten = torch.ops.aten


@family(x="f32[3,4,5]", b="bool[3,4]", c="bool[4]", r="f32[20,5]", s="f32[]", n="i64[3,4]", h="bf16[6]", k="bool[6]",
        i="i64[2,3]<4", p="i32[3]<4", v="f32[2,3]")
def masks_and_lists(case, x, b, c, r, s, n, h, k, i, p, v):
    case("mask", aten.index_put.default(x, [b], s))
    case("mask accumulate", aten.index_put.default(x, [b], s, True))
    case("mask rows", aten.index_put.default(x, [b], r[:1]))
    case("mask middle", aten.index_put.default(x, [None, c], s))
    case("mask ints", aten.index_put.default(n, [b], torch.tensor(7)))
    case("mask half", aten.index_put.default(h, [k], h[:1], True))
    case("put i32", aten.index_put.default(x, [None, p], s))
    case("put broadcast", aten.index_put.default(x, [None, i, i], v, True))
    case("put apart", aten.index_put.default(x, [p - 1, None, p], v[:1, :1], True))
    case("put grid", aten.index_put.default(x, [p[:, None] - 1, p[None, :2]], s, True))
    case("unsafe index", aten._unsafe_index.Tensor(x, [None, i]))
    case("unsafe put", aten._unsafe_index_put.default(x, [None, i], s, True))
    case("masked index", aten._unsafe_masked_index.default(x, v > 0, [None, i - 8, i], 1.5))
    case("masked put", aten._unsafe_masked_index_put_accumulate.default(x, v > 0, [None, i - 8, i], v + x[:, :1, :3]))
    case("masked_scatter", aten.masked_scatter.default(x, c[:, None], r))
    case("masked_scatter_backward", aten.masked_scatter_backward.default(x, c[:, None].expand(3, 4, 5), [20, 5]))


@family(x="f32[4,6]", g="f32[4,3]", i="i64[4,3]<6", j="i64[5]<4", y="f32[5,6]", h="f16[4,6]", n="i64[4,6]", s="f32[]",
        t="i64[]", b="bool[4,6]", z="f32[7]")
def writes_along(case, x, g, i, j, y, h, n, s, t, b, z):
    case("gather_backward", aten.gather_backward.default(g, x, 1, i, False))
    case("selecting backward", aten.value_selecting_reduction_backward.default(g[:, 0], 1, i[:, 0], [4, 6], False))
    case("index_select_backward", aten.index_select_backward.default(y, [4, 6], 0, j))
    for reduce in ("prod", "mean", "amax", "amin"):
        for include in (True, False):
            case(f"index_reduce {reduce} {include}", aten.index_reduce.default(x, 0, j, y, reduce, include_self=include))
    case("scatter_reduce mean ints", torch.scatter_reduce(n, 1, i, n, "mean"))
    case("scatter_reduce bools", torch.scatter_reduce(b, 1, i, b, "amax"))
    case("scatter multiply number", torch.scatter(x, 1, i, 2.0, reduce="multiply"))
    case("scatter add half", torch.scatter_add(h, 1, i, h))
    case("index_add half", torch.index_add(h, 0, j, h[[0, 1, 2, 3, 0]]))
    case("index_fill negative", torch.index_fill(x, 1, j - 6, 2.0))
    case("put", torch.put(x, torch.tensor([3, -1]), y[0, :2]))
    case("put accumulate", torch.put(x, j * 4, y[:, 0], accumulate=True))
    case("scalar gather", torch.gather(s, 0, t * 0))
    case("scalar scatter", torch.scatter(s, 0, t * 0, s + 1))
    case("scalar index_add", torch.index_add(s, 0, t * 0, s))
    case("scalar index_fill", torch.index_fill(s, 0, t * 0, 4.0))
    case("scalar index_select", torch.index_select(s, 0, t * 0))
    case("vector index_select", torch.index_select(z, 0, t * 0))
    case("none scattered", torch.scatter(x, 0, torch.zeros(0, 6, dtype=torch.int64), x))
    case("none gathered", torch.gather(x, 1, torch.zeros(4, 0, dtype=torch.int64)))


@family(w="f32[9,4]", i="i64[6]<9", g="f32[6,4]", b="f32[3,4]", p="f32[6]", h="f16[9,4]", n="i32[6]<9", d="f64[9,3]")
def bags(case, w, i, g, b, p, h, n, d):
    offsets = torch.tensor([0, 2, 2])
    for padding in (-1, 3):
        for mode in range(3):
            results = aten._embedding_bag.default(w, i, offsets, False, mode, False, None, False, padding)
            case(f"bag {mode} {padding}", results[0])
            case(f"bag sizes {mode} {padding}", results[2] if mode else results[0])
            back = aten._embedding_bag_backward.default(
                b, i, offsets, results[1], results[2], results[3], 9, False, mode, False, None, padding)
            case(f"bag backward {mode} {padding}", back)
        case(f"gradient {padding}", aten.embedding_dense_backward.default(g, i, 9, padding, False))
        case(f"gradient by frequency {padding}", aten.embedding_dense_backward.default(g, i, 9, padding, True))
    results = aten._embedding_bag.default(w, i, offsets, False, 0, False, p)
    case("weighted", results[0])
    case("weighted backward", aten._embedding_bag_dense_backward.default(
        b, i, torch.tensor([0, 0, 2, 2, 2, 2]), results[2], results[3], 9, False, 0, p))
    case("weights backward", aten._embedding_bag_per_sample_weights_backward.default(
        b, w, i, offsets, torch.tensor([0, 0, 2, 2, 2, 2]), 0))
    case("forward only", aten._embedding_bag_forward_only.default(w, i, torch.tensor([0, 1, 6]), False, 1, False, None, True)[0])
    case("half", aten._embedding_bag.default(h, n, offsets.int(), False, 1)[0])
    case("double", aten._embedding_bag.default(d, i, offsets, False, 2)[0])


@family(x="f32[40]", y="f32[3,5,7]", w="f32[3,5,7]>0", p="f32[6,9,3]", d="f64[30]", e="f32[12]>0")
def histograms(case, x, y, w, p, d, e):
    edges = torch.cumsum(e, 0) - 3
    case("counts", torch.histogram(x, 7))
    case("range", torch.histogram(y, 5, range=(-1.0, 2.0)))
    case("weights", torch.histogram(y, 5, weight=w))
    case("density", torch.histogram(x, 4, weight=w.flatten()[:40], density=True))
    case("f64", torch.histogram(d, 6, density=True))
    case("edges", torch.histogram(x, edges))
    case("edges weights", torch.histogram(y, edges, weight=w, density=True))
    case("on edges", torch.histogram(torch.tensor([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, torch.nan]), torch.tensor([0.0, 1.0, 1.0, 3.0])))
    case("one value", torch.histogram(x[:1].expand(3), 3))
    case("no values", torch.histogram(x[:0], 3))
    case("points", torch.ops.aten._histogramdd_from_bin_cts.default(p, [3, 2, 4]))
    case("points range", torch.ops.aten._histogramdd_from_bin_cts.default(p, [3, 2, 4], range=[-1.0, 1.0, 0.0, 0.0, -2.0, 2.0], density=True))
    case("points weights", torch.ops.aten._histogramdd_from_bin_cts.default(p, [3, 2, 4], weight=p[:, :, 0].abs()))
    case("bin edges", torch.ops.aten._histogramdd_bin_edges.default(p, [3, 2, 4]))
    case("points edges", torch.ops.aten._histogramdd_from_bin_tensors.default(p, [edges, edges[:3], torch.tensor([-1.0, 1.0])]))


@family(x="f32[9]", y="f32[2,7,3]", z="f32[3,9]", g="f32[4]", k="f32[2,3,3]", h="bf16[9]", b="f32[N,4]", n="i64[S]<3",
        dims={"N": (4, 64), "S": (1, 16)}, sizes=[{"N": 12, "S": 5}, {"N": 40, "S": 16}])
def segments(case, x, y, z, g, k, h, b, n):
    aten = torch.ops.aten
    lengths, offsets = torch.tensor([2, 0, 3, 4]), torch.tensor([1, 3, 3, 4, 8])
    rows = torch.tensor([[2, 5, 0], [0, 3, 4]])
    ties = x.round().clamp(-1, 1)
    for reduce in ("sum", "mean", "max", "min", "prod"):
        for initial in (None, 0.5) if reduce in ("mean", "prod") else (None,):
            case(f"lengths {reduce} {initial}", aten.segment_reduce.default(x, reduce, lengths=lengths, initial=initial))
            case(f"offsets {reduce} {initial}", aten.segment_reduce.default(x, reduce, offsets=offsets, initial=initial))
            case(f"rows {reduce} {initial}", aten.segment_reduce.default(y, reduce, lengths=rows, axis=1, initial=initial))
            for name, where in (("lengths", {"lengths": lengths}), ("offsets", {"offsets": offsets})):
                result = aten.segment_reduce.default(ties, reduce, **where, initial=initial)
                case(f"gradient {name} {reduce} {initial}",
                     aten._segment_reduce_backward.default(g, result, ties, reduce, **where, initial=initial))
        result = aten.segment_reduce.default(y, reduce, lengths=rows, axis=1)
        case(f"gradient rows {reduce}", aten._segment_reduce_backward.default(k, result, y, reduce, lengths=rows, axis=1))
    case("inner", aten.segment_reduce.default(z.T.contiguous(), "max", lengths=lengths))
    case("unsafe", aten.segment_reduce.default(x, "sum", lengths=torch.tensor([1, 3], dtype=torch.int32), unsafe=True))
    case("bf16", aten.segment_reduce.default(h, "sum", lengths=lengths))
    case("dynamic", aten.segment_reduce.default(b, "mean", lengths=n // 2, unsafe=True))


@family(x="f32[3,8]", n="i64[4,9]<4", h="f16[5]", u="u8[7]", t="bool[6]", s="f32[]", b="bf16[2,5]", d="f64[5]", e="f32[0,3]")
def ordering(case, x, n, h, u, t, s, b, d, e):
    nan = torch.tensor([[2.0, float("nan"), -1.0, 5.0], [float("nan"), float("nan"), 1.0, 3.0]])
    case("mode", torch.mode(n, 1))
    case("mode 0", torch.mode(n, 0, keepdim=True))
    case("kthvalue 0", torch.kthvalue(x, 2, dim=0, keepdim=True))
    case("median nan", torch.median(nan))
    case("median nan dim", torch.median(nan, dim=1)[0])
    case("nanmedian", torch.nanmedian(nan))
    case("nanmedian dim", torch.nanmedian(nan, dim=1))
    case("median even", torch.median(d[:4], dim=0))
    case("median ints", torch.median(n))
    case("topk nan", torch.topk(nan[0], 2))
    case("sort nan descending", torch.sort(nan, descending=True, stable=True))
    case("sort bytes", torch.sort(u, stable=True))
    case("sort bools", torch.sort(t, stable=True, descending=True))
    case("sort number", torch.sort(s))
    case("argsort number", torch.argsort(s))
    case("sort bf16", torch.sort(b, stable=True))
    case("topk f16", torch.topk(h, 3)[0])
    case("topk double", torch.topk(d, 5, largest=False))
    case("sort none", torch.sort(e, 0))
    case("msort number", torch.msort(s))
    case("quantile", torch.quantile(x, 0.3))
    case("quantile dim", torch.quantile(x, torch.tensor([0.0, 0.6, 1.0]), dim=1))
    case("quantile keepdim", torch.quantile(x, torch.tensor([0.25, 0.5]), dim=0, keepdim=True))
    case("quantile nan", torch.quantile(nan, 0.5, dim=1))
    case("nanquantile", torch.nanquantile(nan, 0.4, dim=1))
    for interpolation in ("lower", "higher", "midpoint", "nearest"):
        case(f"quantile {interpolation}", torch.quantile(x, 0.4, dim=1, interpolation=interpolation))


@family(x="f32[3,4]", e="f32[6]", l="f32[3,5]", n="i64[3,4]<5", m="i32[5]<5", s="f32[]", h="f16[5]", z="f32[0]")
def searching(case, x, e, l, n, m, s, h, z):
    edges = torch.sort(e).values
    lines, order = torch.sort(l, dim=1)
    case("lines", torch.searchsorted(lines, x))
    case("lines right", torch.searchsorted(lines, x, side="right"))
    case("sorter", torch.searchsorted(l, x, sorter=order))
    case("number", torch.searchsorted(edges, 0.5))
    case("small ints", torch.searchsorted(edges, x, out_int32=True))
    case("ints", torch.searchsorted(torch.arange(0, 8, 2), n, right=True))
    case("nan", torch.bucketize(torch.tensor([float("nan"), float("inf")]), edges))
    case("bucketize number", torch.bucketize(0.25, edges))
    case("bucketize", torch.bucketize(x, edges, right=True))
    case("none", torch.bucketize(x, z))
    case("isin number", torch.isin(n, 3))
    case("number isin", torch.isin(2, n))
    case("isin invert", torch.isin(n, m, invert=True))
    case("one_hot", torch.nn.functional.one_hot(n, 6))
    case("histc", torch.histc(x, 4, -1, 1))
    case("histc of data", torch.histc(x, 5))
    case("histc of one", torch.histc(s, 3))
    case("nonzero_static", torch.nonzero_static(x > 0, size=9))
    case("nonzero_static few", torch.nonzero_static(n, size=2, fill_value=7))


@family(x="bf16[7,8]", y="bf16[3,8,16]", z="bf16[3,2,8]", w="bf16[8,8]", v="bf16[3,8,8]")
def grouped_products(case, x, y, z, w, v):
    ends = torch.tensor([2, 2, 7], dtype=torch.int32)
    case("rows", aten._grouped_mm.default(x, y, ends))
    case("columns", aten._grouped_mm.default(z, w, torch.tensor([1, 4, 8], dtype=torch.int32)))
    case("terms", aten._grouped_mm.default(w, w, torch.tensor([3, 8], dtype=torch.int32)))
    case("batches", aten._grouped_mm.default(v, y))


@family(dims={"A": (2, 40), "B": (2, 40), "C": (1, 40)},
        sizes=[{"A": 4, "B": 3, "C": 6}, {"A": 2, "B": 9, "C": 1}, {"A": 17, "B": 5, "C": 33}],
        x="f32[A,B]", i="i64[C]<2", j="i64[C]<2", g="i64[A,C]<2", r="f32[C,B]", m="bool[A,B]", v="f32[A,C]", s="f32[]",
        h="f16[A,B]")
def dynamic_positions(case, x, i, j, g, r, m, v, s, h):
    case("index", x[i, j])
    case("index columns", x[:, i - 1])
    case("gather", torch.gather(x, 1, g))
    case("index_select", torch.index_select(x, 0, i))
    case("put", x.index_put((i,), r, accumulate=True))
    case("put columns", torch.ops.aten.index_put.default(x, [None, i], v, True))
    case("put half", h.index_put((i, j), h[0, 0], accumulate=True))
    case("mask", torch.ops.aten.index_put.default(x, [m], s))
    case("masked_scatter", x.masked_scatter(m, x * 10))
    case("scatter_add", torch.scatter_add(x, 1, g, v))
    case("scatter_reduce", torch.scatter_reduce(x, 1, g, v, "mean", include_self=False))
    case("index_add", torch.index_add(x, 0, i, r, alpha=2))
    case("index_fill", torch.index_fill(x, 1, j, 5.0))
    case("sort", torch.sort(x, dim=0, stable=True))
    case("topk", torch.topk(x, 2, dim=0))
    case("median", torch.median(x, 0))
    case("kthvalue", torch.kthvalue(x, 2, 1))
    case("quantile", torch.quantile(x, 0.35, dim=0))
    case("searchsorted", torch.searchsorted(torch.sort(x, 1)[0], v))
    case("embedding", torch.nn.functional.embedding(g, x))
    case("bag", torch.nn.functional.embedding_bag(g, x, mode="mean"))
    case("bag sum", torch.nn.functional.embedding_bag(g, x, mode="sum"))
    case("gradient", torch.ops.aten.embedding_dense_backward.default(r, i, 3, -1, False))
    case("one_hot", torch.nn.functional.one_hot(g, 3))
    case("histc", torch.histc(x, 4, -2, 2))
