# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, norms, softmax and scans."""

import torch
from torch.nn import functional as F

from .family import family


@family(x="f32[3,7,5]", n="i64[3,7]", m="i32[5]", h="f16[3,70]", b="bf16[3,70]", d="f64[3,7]", t="bool[3,7]", u="u8[9]<250",
        s="f32[]", w="f32[2,1031]")
def sums(case, x, n, m, h, b, d, t, u, s, w):
    for name in ("sum", "mean"):
        function = getattr(torch, name)
        for key, value in {"f32": x, "f16": h, "bf16": b, "f64": d, "scalar": s, "long": w}.items():
            case(f"{name} {key}", function(value))
            if value.dim():
                case(f"{name} {key} last", function(value, -1))
                case(f"{name} {key} first keepdim", function(value, 0, keepdim=True))
        case(f"{name} dims", function(x, (0, 2)))
        case(f"{name} dims keepdim", function(x, (0, -1), keepdim=True))
        case(f"{name} strided", function(x.transpose(0, 2)[::2], 1))
        case(f"{name} dtype", function(h, 1, dtype=torch.float32))
    case("sum i64", n.sum())
    case("sum i32", m.sum())
    case("sum bool", t.sum(1))
    case("sum u8", u.sum())
    case("sum ints as float", torch.sum(n, 0, dtype=torch.float32))
    case("mean ints as float", torch.mean(n, 1, dtype=torch.float32))
    case("sum empty dims", torch.ops.aten.sum.dim_IntList(x, []))
    case("nansum", torch.nansum(torch.where(x > 1, float("nan"), x), 1))
    case("nanmean", torch.nanmean(torch.where(x > 1, float("nan"), x), 1))
    case("count_nonzero", torch.count_nonzero(n))
    case("count_nonzero dim", torch.count_nonzero(t, 1))
    case("prod", torch.prod(d))
    case("prod dim", torch.prod(x, 1))
    case("prod keepdim", torch.prod(x, -1, keepdim=True))
    case("prod ints", torch.prod(n + 1, 1))
    case("prod dtype", torch.prod(m, dtype=torch.float32))
    case("cumulative", x.sum(0).mean(1).prod())


@family(x="f32[3,7,5]", n="i64[3,7]", h="f16[3,7]", b="bf16[9]", t="bool[3,7]", u="u8[9]<250", d="f64[5]", s="f32[]")
def extreme_values(case, x, n, h, b, t, u, d, s):
    odd = torch.tensor([[1.0, float("nan"), 3.0], [-2.0, 5.0, float("inf")]])
    sources = {"f32": x, "i64": n, "f16": h, "bf16": b, "u8": u, "f64": d, "nan": odd}
    for name in "max min amax amin argmax argmin".split():
        function = getattr(torch, name)
        for key, value in sources.items():
            case(f"{name} {key}", function(value))
            case(f"{name} {key} last", function(value, dim=-1))
        case(f"{name} keepdim", function(x, dim=1, keepdim=True))
        case(f"{name} strided", function(x.permute(2, 0, 1), dim=1))
    case("max bool", t.max())
    case("max scalar", s.max())
    case("amax dims", torch.amax(x, (0, 2)))
    case("amin dims keepdim", torch.amin(x, (1, 2), keepdim=True))
    case("argmax first of equals", torch.argmax(torch.tensor([1, 3, 3, 0])))
    case("max first of equals", torch.max(torch.tensor([[2.0, 2.0], [1.0, 2.0]]), 1))
    case("aminmax", torch.aminmax(x))
    case("aminmax dim", torch.aminmax(x, dim=1, keepdim=True))


@family(x="f32[3,7]", n="i64[3,7]<2", t="bool[3,7,2]", u="u8[4]<2", h="f16[5]")
def truths(case, x, n, t, u, h):
    for name in ("any", "all"):
        function = getattr(torch, name)
        for key, value in {"f32": x, "i64": n, "bool": t, "u8": u, "f16": h}.items():
            case(f"{name} {key}", function(value))
            case(f"{name} {key} dim", function(value, 0))
        case(f"{name} keepdim", function(t, 1, keepdim=True))
        case(f"{name} dims", function(t, (0, 2)))
    case("equal", torch.eq(n, n.flip(0)).all())


@family(x="f32[3,7,5]", h="f16[3,70]", b="bf16[3,70]", d="f64[11]", w="f32[2,1031]")
def variances(case, x, h, b, d, w):
    for name in ("var", "std"):
        function = getattr(torch, name)
        for key, value in {"f32": x, "f16": h, "bf16": b, "f64": d, "shifted": w + 100}.items():
            case(f"{name} {key}", function(value))
            case(f"{name} {key} last", function(value, -1))
        case(f"{name} biased", function(x, 1, correction=0))
        case(f"{name} correction 2", function(x, (0, 1), correction=2, keepdim=True))
        case(f"{name} unbiased argument", function(x, 1, unbiased=False))
        case(f"{name}_mean", getattr(torch, name + "_mean")(x, 1))
        case(f"{name}_mean all", getattr(torch, name + "_mean")(d))


@family(x="f32[3,7,5]", h="f16[3,7]", d="f64[11]", m="f32[4,6]", n="f32[5,6]")
def norms(case, x, h, d, m, n):
    for order in (0, 1, 2, 3, 0.5, float("inf"), float("-inf")):
        case(f"vector_norm {order}", torch.linalg.vector_norm(x, order, 1))
    case("norm", torch.norm(x))
    case("norm p dim", torch.norm(x, p=3, dim=2))
    case("norm keepdim", torch.norm(x, p=1, dim=(0, 1), keepdim=True))
    case("norm half", torch.norm(h, dim=1))
    case("norm f64", torch.norm(d))
    case("vector_norm dtype", torch.linalg.vector_norm(h, 2, 1, dtype=torch.float32))
    case("frobenius", torch.linalg.matrix_norm(m))
    case("matrix_norm 1", torch.linalg.matrix_norm(m, 1))
    case("normalize", F.normalize(x, dim=1))
    case("normalize 1", F.normalize(x, p=1.0, dim=-1))
    case("cosine_similarity", F.cosine_similarity(m[:, None], n[None], dim=-1))
    case("pairwise_distance", F.pairwise_distance(m, n[:4]))
    case("cdist", torch.cdist(m, n))
    case("cdist 1", torch.cdist(m, n, p=1.0))
    case("cdist no mm", torch.cdist(m, n, compute_mode="donot_use_mm_for_euclid_dist"))
    case("pdist", torch.pdist(m))
    case("renorm", torch.renorm(m, 2, 0, 1.0))


@family(x="f32[3,7,5]~3", h="f16[3,70]", b="bf16[3,70]", d="f64[7]", v="f32[1]", s="f32[]", w="f32[2,1031]")
def softmaxes(case, x, h, b, d, v, s, w):
    masked = torch.where(x > 0, x, float("-inf"))
    for name in ("softmax", "log_softmax"):
        function = getattr(torch, name)
        for key, value in {"f32": x, "f16": h, "bf16": b, "f64": d, "one": v, "long": w}.items():
            case(f"{name} {key}", function(value, -1))
            case(f"{name} {key} first", function(value, 0))
        case(f"{name} middle", function(x, 1))
        case(f"{name} scalar", function(s, 0))
        case(f"{name} dtype", function(h, 1, dtype=torch.float32))
        case(f"{name} large", function(x * 1000, 1))
        case(f"{name} strided", function(x.transpose(0, 2), -1))
        case(f"_{name}", getattr(torch.ops.aten, "_" + name).default(x, 2, False))
    case("softmax masked", torch.softmax(masked, 1))
    case("softmax nothing", torch.softmax(torch.full((2, 3), float("-inf")), 1))
    case("_safe_softmax", torch.ops.aten._safe_softmax.default(masked, 2))
    case("softmin", F.softmin(x, 1))
    case("logsumexp", torch.logsumexp(x, 1))
    case("logsumexp dims", torch.logsumexp(x, (0, 2), keepdim=True))
    case("logsumexp masked", torch.logsumexp(masked, 2))
    case("logsumexp half", torch.logsumexp(h, 1))


@family(x="f32[3,7]", n="i64[3,7]", h="f16[30]", t="bool[7]", m="i32[5]", s="f32[]", w="f32[1031]")
def scans(case, x, n, h, t, m, s, w):
    for name in ("cumsum", "cumprod"):
        function = getattr(torch, name)
        case(f"{name}", function(x, 1))
        case(f"{name} first", function(x, 0))
        case(f"{name} ints", function(n, -1))
        case(f"{name} i32", function(m, 0))
        case(f"{name} half", function(h, 0))
        case(f"{name} bool", function(t, 0))
        case(f"{name} scalar", function(s, 0))
        case(f"{name} dtype", function(n, 0, dtype=torch.float32))
    case("cumsum long", torch.cumsum(w, 0))
    case("cumsum strided", torch.cumsum(x.t(), 0))
    case("cummax", torch.cummax(x, 1))
    case("cummin ints", torch.cummin(n, 0))
    case("logcumsumexp", torch.logcumsumexp(x, 1))
    case("trapezoid", torch.trapezoid(x))


# Few rows of a million elements, which are reduced in chunks that workers share; no multiple of any
# chunk.
@family(x="f32[2,5]", n="i64[1,7]", t="bool[3]", h="f16[1,3]", v="f32[1,1]")
def long_rows(case, x, n, t, h, v):
    rows, places = x.repeat(1, 262147), n.repeat(1, 150001)
    case("sum", rows.sum(1))
    case("sum of all", rows.sum())
    case("mean", rows.mean(1, keepdim=True))
    case("var_mean", torch.var_mean(rows, 1))
    case("product", rows.sign().prod(1))
    case("max", torch.max(rows, 1))
    case("min", rows.amin(1))
    case("argmax", rows.argmax(1))
    case("argmin of all", rows.argmin())
    case("argmax last", torch.cat((rows, v.expand(2, 1) * 0 + 100), 1).argmax(1))
    case("argmax nan", torch.cat((rows, v.expand(2, 1) * float("nan"), rows), 1).argmax(1))
    case("sum of ints", places.sum(1))
    case("max of ints", places.amax(1))
    case("argmin of ints", places.argmin(1))
    case("any", t.repeat(400003).any())
    case("all", (~t).repeat(400003).all())
    case("softmax", torch.softmax(rows * 3, 1)[:, ::99991])
    case("softmax of columns", torch.softmax(rows.reshape(-1, 2), 0)[::99991])
    case("softmax half", torch.softmax(h.repeat(1, 500009), 1)[:, ::99991])
    case("log_softmax", torch.log_softmax(rows, 1)[:, ::99991])
    case("logsumexp", torch.logsumexp(rows, 1))
    case("layer_norm", F.layer_norm(rows[:1] + 2, (1310735,))[:, ::99991])
    case("norm", (rows / rows.norm())[:, ::99991])
    case("mse_loss", F.mse_loss(rows[0], rows[1]))


# The same where the length is known only at the call, from shorter than a chunk on.
@family(dims={"N": (2, 9)}, sizes=[{"N": 2}, {"N": 7}], x="f32[2,N]", n="i64[N]", h="f16[N]")
def long_rows_dynamic(case, x, n, h):
    for count in (3, 3001):
        rows = (x.unsqueeze(1) + torch.arange(count).unsqueeze(1) * 1e-3).reshape(2, -1)
        case(f"sum {count}", rows.sum(1))
        case(f"sum of all {count}", rows.sum())
        case(f"mean {count}", rows.mean(1, keepdim=True))
        case(f"var_mean {count}", torch.var_mean(rows, 1))
        case(f"max {count}", torch.max(rows, 1))
        case(f"argmin of all {count}", rows.argmin())
        case(f"sum of ints {count}", n.repeat(count).sum())
        case(f"any {count}", (h.repeat(count) > 0.5).any())
        case(f"mean of half {count}", h.repeat(count).mean())
        case(f"softmax {count}", torch.softmax(rows, 1)[:, ::991])
        case(f"matmul {count}", rows @ rows.t())
        case(f"matmul of columns {count}", rows.t()[:, :1].t() @ rows.t())
        case(f"matrix times vector {count}", rows @ rows[0])
