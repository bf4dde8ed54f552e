# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices and attention."""

import torch
from torch.nn import functional as F

from .family import family


@family(a="f32[5,7]", b="f32[7,3]", v="f32[7]", w="f32[5]", p="f32[2,5,7]", q="f32[2,7,3]", z="f32[3,1,5,7]", u="f32[1,1]",
        l="f32[3,601]")
def products(case, a, b, v, w, p, q, z, u, l):
    case("mm", torch.mm(a, b))
    case("mm transposed", torch.mm(b.t(), a.t()))
    case("mm left transposed", torch.mm(a.t(), a))
    case("mm right transposed", torch.mm(a, a.t()))
    case("mm strided", torch.mm(a[::2, ::3], b[1::2]))
    case("mm one", torch.mm(u, u))
    case("mm long", torch.mm(l, l.t()))
    case("mm outer", torch.mm(w[:, None], v[None]))
    case("mv", torch.mv(a, v))
    case("mv transposed", torch.mv(a.t(), w))
    case("dot", torch.dot(v, v))
    case("vdot", torch.vdot(v, v))
    case("inner", torch.inner(a, b.t()))
    case("outer", torch.outer(v, w))
    case("bmm", torch.bmm(p, q))
    case("bmm transposed", torch.bmm(q.transpose(1, 2), p.transpose(1, 2)))
    case("bmm expanded", torch.bmm(p, b.expand(2, 7, 3)))
    case("matmul matrices", torch.matmul(a, b))
    case("matmul vectors", torch.matmul(v, v))
    case("matmul matrix vector", torch.matmul(a, v))
    case("matmul vector matrix", torch.matmul(v, b))
    case("matmul batch matrix", torch.matmul(p, b))
    case("matmul matrix batch", torch.matmul(a, q))
    case("matmul batch vector", torch.matmul(p, v))
    case("matmul vector batch", torch.matmul(v, q))
    case("matmul broadcast", torch.matmul(z, q))
    case("kron", torch.kron(a[:2, :2], b[:2]))
    case("chain", torch.chain_matmul(a, b, b.t()))
    case("multi_dot", torch.linalg.multi_dot([a, b, b.t()]))
    case("matrix_power", torch.linalg.matrix_power(a[:, :5], 3))
    case("tensordot", torch.tensordot(p, q, dims=([2], [1])))
    case("cross", torch.linalg.cross(b, b.flip(0)))


@family(a="f32[5,7]", b="f32[7,3]", c="f32[5,3]", r="f32[3]", v="f32[7]", w="f32[5]", p="f32[2,5,7]", q="f32[2,7,3]",
        n="i64[5,7]", m="i64[7,3]", h="f16[5,7]", k="bf16[5,7]", d="f64[5,7]")
def accumulations(case, a, b, c, r, v, w, p, q, n, m, h, k, d):
    case("addmm", torch.addmm(c, a, b))
    case("addmm row", torch.addmm(r, a, b))
    case("addmm scaled", torch.addmm(r, a, b, beta=0.5, alpha=2))
    case("addmm beta 0", torch.addmm(c * float("nan"), a, b, beta=0))
    case("addmv", torch.addmv(w, a, v, beta=2, alpha=0.5))
    case("addr", torch.addr(a, w, v, alpha=0.1))
    case("baddbmm", torch.baddbmm(c, p, q, beta=0.5, alpha=2))
    case("addbmm", torch.addbmm(c, p, q))
    case("linear", F.linear(a, b.t()))
    case("linear bias", F.linear(p, b.t(), r))
    case("linear vector", F.linear(v, b.t(), r))
    case("linear one output", F.linear(a, v[None]))
    case("linear f16", F.linear(h, h))
    case("linear bf16", F.linear(k, k))
    case("linear f64", F.linear(d, d))
    case("bilinear", F.bilinear(a, a.flip(0), p[:, :, None, :].expand(2, 5, 7, 7)[:, 0]))
    case("mm ints", torch.mm(n, m))
    case("mm i32", torch.mm(n.int(), m.int()))
    case("mm f16", torch.mm(h, h.t()))
    case("mm bf16", torch.mm(k, k.t()))
    case("mm f64", torch.mm(d, d.t()))
    case("bmm f16", torch.bmm(h[None], h.t()[None]))
    case("mv f16", torch.mv(h, h[0]))
    case("matmul u8", torch.matmul(n.to(torch.uint8), m.to(torch.uint8)))


@family(a="f32[3,5]", b="f32[5,4]", p="f32[2,3,5]", q="f32[2,5,4]", v="f32[5]", s="f32[3,3]", z="f32[2,3,4,5]")
def einsums(case, a, b, p, q, v, s, z):
    for equation, operands in (("ij,jk->ik", (a, b)), ("ij,jk", (a, b)), ("ij,kj->ik", (a, a)), ("bij,bjk->bik", (p, q)),
                               ("ij->ji", (a,)), ("ij->", (a,)), ("ij->j", (a,)), ("ii->i", (s,)), ("ii->", (s,)),
                               ("i,j->ij", (v, v)), ("i,i->", (v, v)), ("bij,jk->bik", (p, b)), ("bij,bjk->ikb", (p, q)),
                               ("...ij,jk->...ik", (z.transpose(2, 3), b[:4])), ("bhqd,bhkd->bhqk", (z, z)),
                               ("bij,bjk,kl->bil", (p, q, b.t())), ("bihd,bjhd->bhij", (z, z)), ("ij,ij->ij", (a, a)),
                               ("i,ij,j->", (v[:3], a, v))):
        case(equation, torch.einsum(equation, *operands))
    case("half", torch.einsum("ij,jk->ik", a.half(), b.half()))


@family(q="f32[2,4,5,8]", k="f32[2,4,7,8]", v="f32[2,4,7,6]", m="f32[5,7]", t="bool[2,1,5,7]", g="f32[2,2,7,8]", l="f32[1,1,3,300]",
        h="f16[1,2,5,8]", b="bf16[1,2,5,8]", d="f64[1,2,3,4]")
def attention(case, q, k, v, m, t, g, l, h, b, d):
    function = F.scaled_dot_product_attention
    t = t | (torch.arange(7) == 2)
    case("plain", function(q, k, v))
    case("same width", function(q, k, k))
    case("causal square", function(k, k, k, is_causal=True))
    case("causal", function(q, k, k, is_causal=True))
    case("scale", function(q, k, k, scale=0.3))
    case("float mask", function(q, k, k, attn_mask=m))
    case("bool mask", function(q, k, k, attn_mask=t))
    case("inf mask", function(q, k, k, attn_mask=torch.where(t, 0.0, float("-inf"))))
    case("row fully masked", function(q, k, k, attn_mask=torch.arange(5)[:, None] > torch.zeros(7)))
    case("grouped", function(q, g, g, enable_gqa=True))
    case("three dimensions", function(q[0], k[0], v[0]))
    case("one query", function(q[:, :, :1], k, k))
    case("strided", function(q.transpose(1, 2).contiguous().transpose(1, 2), k, k))
    case("f16", function(h, h, h))
    case("f16 causal", function(h, h, h, is_causal=True))
    case("bf16", function(b, b, b))
    case("f64", function(d, d, d))
    case("wide head", function(l, l, l))
    case("spelt out", torch.softmax(q @ k.transpose(-1, -2) / 8**0.5 + m, -1) @ v)
    case("flash for cpu", torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, k)[0])
