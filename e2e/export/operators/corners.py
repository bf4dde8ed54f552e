# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What models drawn at random ask for and exported networks rarely do: outer products that are summed,
tables of constants that are looked up, far ends of functions, operands that promotion rounds."""

import torch
from torch.nn import functional as F

from .family import family


@family(v="f32[3]", w="f32[5]", a="f32[31,1]", s="f32[4,4]", h="bf16[5]")
def outer_sums(case, v, w, a, s, h):
    for name in "sum mean amax amin prod std logsumexp".split():
        for dim in (0, 1):
            case(f"i,j->ij {name} {dim}", getattr(torch, name)(torch.einsum("i,j->ij", v, w), dim))
    case("i,j->ji sum", torch.einsum("i,j->ji", v, w).sum(0))
    case("i,j->ij sum all", torch.einsum("i,j->ij", v, w).sum())
    case("i,j->ij cumsum", torch.einsum("i,j->ij", v, w).cumsum(0))
    case("i,j->ij softmax", torch.softmax(torch.einsum("i,j->ij", v, w), 0))
    case("i,j->ij product", v @ torch.einsum("i,j->ij", v, w))
    case("ij,kj->jik sum -2", torch.einsum("ij,kj->jik", a, a).sum(-2))
    case("ij,ik->ijk sum", torch.einsum("ij,ik->ijk", s, s).sum(0))
    case("bf16", torch.einsum("i,j->ij", h, h).sum(1))
    case("outer", torch.outer(v, w).sum(0))
    case("expand sum", v.expand(7, 3).sum(0))
    case("expand mean", (v[:, None] * 2).expand(3, 7).mean(1))
    case("expand amax", s.expand(2, 4, 4).amax((0, 2)))
    case("diagonals sum", torch.einsum("ii->i", s).expand(3, 4).sum(0))
    case("diag_embed sum", torch.diag_embed(v).expand(2, 3, 3).sum(-1))


@family(x="f32[2,1,3]", y="f32[1,3]", i="i64[2]<5", z="f32[2,3,4]")
def constant_lookups(case, x, y, i, z):
    case("zeros sum", torch.zeros(5, 4)[i].sum(0))
    case("full amax", torch.full((5, 4), 2.5)[i].amax(0))
    case("arange mean", torch.arange(20.0).reshape(5, 4)[i].mean(0))
    case("zeros_like sum", torch.zeros_like(z)[:, 1].sum(1))
    for reduction in ("sum", "mean", "none"):
        case(f"nll_loss one class {reduction}", F.nll_loss(x, torch.arange(6).reshape(2, 3) % 1, reduction=reduction))
        case(f"nll_loss {reduction}", F.nll_loss(z, torch.arange(8).reshape(2, 4) % 3, reduction=reduction))
        case(f"nll_loss ignored {reduction}", F.nll_loss(y, torch.tensor([1]), ignore_index=1, reduction=reduction))
        case(f"nll_loss kept {reduction}", F.nll_loss(y, torch.tensor([1]), ignore_index=2, reduction=reduction))
        case(f"cross_entropy {reduction}", F.cross_entropy(y, torch.tensor([2]), ignore_index=1, reduction=reduction))


FAR = [-float("inf"), -3e38, -1e20, -1e10, -1e4, -1000, -88, -5, -3.95, -3.92, -3.9, -1, -1e-7, -1e-20, -1e-40, -0.0]


@family(n="i64[16]")
def far_ends(case, n):
    """16 elements on either side: those of a vector register and more."""
    left = torch.tensor(FAR) + 0 * n
    both = torch.cat([left, -left, torch.full((3,), float("nan"))])
    for name in "erf erfc tanh sigmoid atan acosh asinh relu sign floor round trunc".split():
        case(name, getattr(torch, name)(both))
    # Where eager is NaN for want of care, at infinity, is no example.
    case("gelu", F.gelu(both[1:16]))
    case("gelu right", F.gelu(both[18:24]))
    case("gelu tanh", F.gelu(both[1:16], approximate="tanh"))
    case("acosh near 1", torch.acosh(torch.cat([1 - left[5:].abs() * 1e-3, 1 + left[5:].abs() * 1e-3])))
    near = torch.cat([left[12:], -left[12:15]])
    case("lgamma near 0", torch.lgamma(near))
    case("lgamma left", torch.lgamma(left[5:15] - 0.25))
    case("lgamma integers", torch.lgamma(torch.tensor([0.0, -1, -2, -30]) + 0 * n[:4]))
    case("digamma near 0", 1 / torch.digamma(near))
    case("digamma left", torch.digamma(left[5:12] - 0.25))
    case("hypot", torch.hypot(both, both.roll(3)))
    case("atan2", torch.atan2(both, both.roll(3)))
    for name, y, x in (("0 0", 0.0, 0.0), ("-0 0", -0.0, 0.0), ("0 -0", 0.0, -0.0), ("-0 -0", -0.0, -0.0)):
        case(f"atan2 {name}", torch.atan2(torch.full((3,), y), torch.full((3,), x)))
    for value in (0.5, -2.0):
        case(f"heaviside {value}", torch.heaviside(both, torch.tensor(value)))
    case("heaviside nan", torch.heaviside(both, torch.tensor(float("nan"))))


@family(n="i64[6]<900", k="i32[6]<900", b="bf16[6]~300", h="f16[6]~3000", o="i64[1]<900",
        a="i8[9]<127", c="u8[9]<250")
def rounded_operands(case, n, k, b, h, o, a, c):
    """Integers that meet a narrow float are rounded to it first."""
    n, k = n + 257, k * 7 + 2049
    for title, x, y in (("bf16", b, n), ("f16", h, k), ("bf16 reversed", n, b), ("one element", b, o + 257)):
        case(f"add {title}", x + y)
        case(f"sub {title}", x - y)
        case(f"mul {title}", x * y * 0.001)
        case(f"div {title}", x / y)
        case(f"remainder {title}", torch.remainder(x, y))
        case(f"fmod {title}", torch.fmod(x, y))
        case(f"eq {title}", x == y)
    case("where", torch.where(b > 0, b, n))
    case("remainder number bf16", b % 257.3)
    case("remainder number f16", h % 2049.4)
    case("fmod number bf16", torch.fmod(b, 255.3))
    case("remainder of number bf16", torch.remainder(257.3, b))
    for title, x in (("i8", a), ("u8", c), ("i16", a.to(torch.int16) * 300)):
        case(f"lcm {title}", torch.lcm(x, x.flip(0)))
        case(f"gcd {title}", torch.gcd(x, x.flip(0)))


@family(e="f32[0,0]", x="bf16[3,4]")
def empty_products(case, e, x):
    for title, z in (("f32", e), ("bf16", e.bfloat16()), ("f16", e.half())):
        case(f"matmul {title}", torch.matmul(z, z.expand(5, 0, 0)))
        case(f"matmul batch {title}", torch.matmul(z.expand(5, 0, 0), z))
        case(f"norm {title}", torch.linalg.norm(z, 1))
        case(f"norm inf {title}", torch.linalg.norm(z, float("inf")))
        case(f"vector_norm {title}", torch.linalg.vector_norm(z))
        case(f"linear {title}", F.linear(z.reshape(3, 0), z.reshape(4, 0)))
    case("no terms bf16", x[:, :0] @ x[:0])
    case("no rows bf16", x[:0] @ x.T)
    case("no columns bf16", x @ x.T[:, :0])


@family(dims={"D": (1, 64)}, sizes=[{"D": 5}, {"D": 1}, {"D": 33}], q="f32[2,3,D]", k="f32[2,4,D]")
def open_widths(case, q, k):
    case("attention", F.scaled_dot_product_attention(q, k, k))
    case("causal", F.scaled_dot_product_attention(q, k, k, is_causal=True))


@family(b="bf16[5]", d="f64[4]", c="u8[11]", x="f32[3,8]", y="f32[8,4]")
def found_by_random_models(case, b, d, c, x, y):
    """What random models got wrong."""
    tiny, large = torch.full([], 1e-45), torch.full([], 3 * 2**33 + 6, dtype=torch.int64)
    case("xor rounded", torch.logical_xor(b, tiny))
    case("gcd rounded", torch.gcd(c, large))
    case("number of f64", torch.ops.aten.sub.Tensor(0.1, d))
    case("cumprod returns", (x * 0 + torch.tensor([1e30, 1e30, 1e-40, 1e-30, 1e-30, 1e30, 1.0, 2.0])).cumprod(1))
    case("einsum own sums", torch.einsum("ij,pq->jip", x / 0, y))
    case("einsum no sum", 1 / torch.einsum("ij,j->ij", x * 0, y[:, 0]))
    case("kept rows", torch.softmax(F.log_softmax(x, 0), 1) - F.log_softmax(x, 0))
    case("all of none", (x[:, :0] > 0).all(1))
    case("all of no constants", (torch.full([0], 0.0) > 0).all(0))
    case("erfinv near one", torch.erfinv(1 - torch.arange(1.0, 5.0, dtype=torch.float64) * 2.0**-53))
    case("logits beyond 2**53", F.log_softmax(torch.einsum("ij,ij->ji", x * 1e10, x * 1e10), 0))
    case("logcumsumexp", x.repeat(1, 200).logcumsumexp(1))
