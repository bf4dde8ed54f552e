# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, losses and their gradients in the overloads that modules seldom reach by themselves."""

import torch
from torch.nn import functional as F

from .family import family

aten = torch.ops.aten


@family(q="f32[2,4,5,8]", k="f32[2,4,7,8]", v="f32[2,4,7,8]", m="f32[5,7]", t="bool[2,1,5,7]", g="f32[2,2,7,8]", o="f32[2,4,5,8]",
        h="bf16[1,2,5,8]", e="bool[2,4,5,7]")
def attention_overloads(case, q, k, v, m, t, g, o, h, e):
    function = F.scaled_dot_product_attention
    case("grouped mask", function(q, g, g, attn_mask=m, enable_gqa=True))
    case("grouped head mask", function(q, g, g, attn_mask=e, enable_gqa=True))
    case("grouped causal", function(q, g, g, is_causal=True, enable_gqa=True))
    case("one key head", function(q, g[:, :1], g[:, :1], enable_gqa=True))
    case("expanded batch", function(q[:1], k, v))
    case("two dimensions", function(q[0, 0], k[0, 0], v[0, 0]))
    case("math", aten._scaled_dot_product_attention_math.default(q, k, v, t))
    forward = aten._scaled_dot_product_flash_attention_for_cpu.default
    backward = aten._scaled_dot_product_flash_attention_for_cpu_backward.default
    for name, options in {"plain": {}, "scale": {"scale": 0.2}, "mask": {"attn_mask": m}}.items():
        out, lse = forward(q, k, v, 0.0, False, **options)
        case(f"{name} logsumexp", lse)
        case(f"{name} backward", backward(o, q, k, v, out, lse, 0.0, False, **options))
    out, lse = forward(q, k, v, 0.0, True)
    case("causal backward", backward(o, q, k, v, out, lse, 0.0, True))
    out, lse = forward(h, h, h, 0.0, True)
    case("bf16 logsumexp", lse)
    case("bf16 backward", backward(h.flip(2), h, h, h, out, lse, 0.0, True))


@family(q="f32[1,2,5,6]", k="f32[1,2,7,6]", m="f32[5,7]", t="bool[1,1,5,7]", w="f32[1,1,2,256]", x="f32[1,1,41,3]", y="f32[1,1,70,3]",
        h="f16[1,2,9,5]", b="bf16[1,2,9,5]", d="f64[1,2,3,4]")
def attention_gradients(case, q, k, m, t, w, x, y, h, b, d):
    """What training asks of scaled_dot_product_attention on CPUs."""
    t = t | (torch.arange(7) == 2)

    def gradients(name, q, k, v, causal=False, **options):
        out, lse = aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, causal, **options)
        gradient = torch.cos(3 * out)
        case(name, aten._scaled_dot_product_flash_attention_for_cpu_backward.default(gradient, q, k, v, out, lse, 0.0, causal, **options))

    gradients("cross", q, k, k.flip(2))
    gradients("scale", q, k, k, scale=0.3)
    gradients("added", q, k, k, attn_mask=m)
    gradients("inf mask", q, k, k, attn_mask=torch.where(t, 0.0, float("-inf")).expand(1, 2, 5, 7))
    gradients("one query", q[:, :, :1], k, k)
    gradients("one key", q, k[:, :, :1], k[:, :, :1])
    gradients("wide head", w, w, w.flip(2), scale=0.01)
    for causal in (False, True):
        gradients(f"blocks {causal}", x, y, y.flip(2), causal)
        gradients(f"more queries {causal}", y, x, x.flip(2), causal)
        gradients(f"f16 {causal}", h, h, h.flip(2), causal)
        gradients(f"bf16 {causal}", b, b, b.flip(2), causal)
        gradients(f"f64 {causal}", d, d, d.flip(2), causal)
    gradients("strided", q.transpose(1, 2).contiguous().transpose(1, 2), k, k)


@family(x="f32[5,7]", t="i64[5]<7", w="f32[7]>0", z="f32[2,3,4,5]", i="i64[2,4,5]<3", p="f32[2,3,4,5]<1", v="f32[3]>0", h="f16[5,7]",
        b="f64[3,4]", y="i64[3]<4", m="i64[5,7]<2")
def class_losses(case, x, t, w, z, i, p, v, h, b, y, m):
    for reduction in ("mean", "sum", "none"):
        options = {"reduction": reduction}
        case(f"smoothing weight {reduction}", F.cross_entropy(x, t, w, label_smoothing=0.2, ignore_index=2, **options))
        case(f"images weight {reduction}", F.cross_entropy(z, i, v, ignore_index=1, label_smoothing=0.1, **options))
        case(f"probabilities weight {reduction}", F.cross_entropy(z, p, v, label_smoothing=0.1, **options))
        case(f"nll images {reduction}", F.nll_loss(z, i, v, ignore_index=0, **options))
        case(f"nll three dimensions {reduction}", F.nll_loss(z[:, :, 0], i[:, 0], **options))
        case(f"multi_margin {reduction}", F.multi_margin_loss(x, t, p=2, margin=0.5, weight=w, **options))
        case(f"multilabel_margin {reduction}", F.multilabel_margin_loss(x[:, :3], m[:, :3] * 2 - m[:, 1:4], **options))
        case(f"multilabel_soft_margin {reduction}", F.multilabel_soft_margin_loss(x, m.float(), **options))
    case("all ignored", F.cross_entropy(x, torch.full((5,), 3), ignore_index=3))
    case("all ignored sum", F.cross_entropy(x, torch.full((5,), 3), ignore_index=3, reduction="sum"))
    case("f16", F.cross_entropy(h, t))
    case("f64", F.cross_entropy(b, y))
    case("one sample smoothing", F.cross_entropy(x[0], t[0], label_smoothing=0.3))
    case("one sample probabilities", F.cross_entropy(x[0], w / w.sum()))
    number = {"mean": 1, "sum": 2, "none": 0}
    for reduction, n in number.items():
        loss, total = aten.nll_loss2d_forward.default(z, i, v, n, 1)
        case(f"nll_loss2d_forward {reduction}", (loss, total))
        case(f"nll_loss2d_backward {reduction}", aten.nll_loss2d_backward.default(loss * 0 + 1.5, z, i, v, n, 1, total))
        loss, total = aten.nll_loss_forward.default(x, t, w, n, -100)
        case(f"nll_loss_backward {reduction}", aten.nll_loss_backward.default(loss * 0 + 0.5, x, t, w, n, -100, total))
    loss, total = aten.nll_loss_forward.default(x[0], t[0], None, 1, -100)
    case("nll_loss_backward one", aten.nll_loss_backward.default(loss, x[0], t[0], None, 1, -100, total))


@family(x="f32[5,7]", y="f32[5,7]", q="f32[5,7]<1", m="i64[5,7]<2", z="f32[5,7]", g="f32[]", c="i64[5]<2")
def element_losses(case, x, y, q, m, z, g, c):
    for reduction in ("mean", "sum", "none"):
        options = {"reduction": reduction}
        number = {"mean": 1, "sum": 2, "none": 0}[reduction]
        grad = g if number else z
        case(f"poisson full {reduction}", F.poisson_nll_loss(q, q * 4, log_input=False, full=True, **options))
        case(f"hinge {reduction}", F.hinge_embedding_loss(x, m * 2 - 1, margin=0.5, **options))
        case(f"margin_ranking {reduction}", F.margin_ranking_loss(x, y, m * 2 - 1, margin=0.3, **options))
        case(f"cosine_embedding {reduction}", F.cosine_embedding_loss(x, y, c * 2 - 1, margin=0.1, **options))
        case(f"triplet swap {reduction}", F.triplet_margin_loss(x, y, z, p=1, swap=True, margin=2, **options))
        case(f"bce logits weight {reduction}", F.binary_cross_entropy_with_logits(x, q, weight=q, pos_weight=z[0].abs(), **options))
        case(f"mse backward {reduction}", aten.mse_loss_backward.default(grad, x, y, number))
        case(f"smooth_l1 backward {reduction}", aten.smooth_l1_loss_backward.default(grad, x, y, number, 0.5))
        case(f"huber backward {reduction}", aten.huber_loss_backward.default(grad, x, y, number, 0.5))
        case(f"bce backward {reduction}", aten.binary_cross_entropy_backward.default(grad, q, q.flip(0), z, number))
        case(f"soft_margin backward {reduction}", aten.soft_margin_loss_backward.default(grad, x, m * 2.0 - 1, number))
    case("bce edges", F.binary_cross_entropy(m.float(), q, reduction="none"))
    case("kl_div zeros", F.kl_div(x, m.float(), reduction="none"))
    case("pairwise keepdim", F.pairwise_distance(x, y, p=3, keepdim=True))
    case("pairwise inf", F.pairwise_distance(x, y, p=float("inf")))


@family(x="f32[3,5,4]", w="f32[5]", b="f32[4]>0", h="f16[3,8]", g="f32[3,5,4]", n="f32[3,5,4]", v="f32[6,4]", s="f32[6,1]>0")
def more_gradients(case, x, w, b, h, g, n, v, s):
    case("prelu", aten._prelu_kernel_backward.default(g, x, w[:, None].expand(3, 5, 4)))
    case("rrelu eval", aten.rrelu_with_noise_backward.default(g, x, n, 0.1, 0.3, False, False))
    case("rrelu train", aten.rrelu_with_noise_backward.default(g, x, n, 0.1, 0.3, True, False))
    case("elu options", aten.elu_backward.default(g, 0.7, 1.3, 1.5, False, x))
    case("logit eps", aten.logit_backward.default(g, x, 0.2))
    case("hardtanh f16", aten.hardtanh_backward.default(h, h.flip(0), -0.5, 0.7))
    case("gelu f16", aten.gelu_backward.default(h, h.flip(0)))
    y, rstd = aten._fused_rms_norm.default(x, [4], b, 1e-5)
    case("rms_norm rstd", rstd)
    y, rstd = aten._fused_rms_norm.default(h, [8], None, None)
    case("rms_norm f16", y)
    case("rms_norm small f16", F.rms_norm(h * 1e-3, (8,)))
    weight, norms = aten._weight_norm_interface.default(v, s, 0)
    case("weight_norm", (weight, norms))
    case("weight_norm backward", aten._weight_norm_interface_backward.default(v.flip(0), v, s, norms, 0))
    case("weight_norm last", torch._weight_norm(v, b[None], 1))
    case("weight_norm all", torch._weight_norm(v, s[0, 0], -1))
    case("native_dropout", aten.native_dropout.default(x, 0.0, True))
    case("dropout eval", F.dropout(x, 0.5, training=False))
    case("dropout 0", F.dropout(x, 0.0, training=True))
    case("alpha_dropout eval", F.alpha_dropout(x, 0.5, training=False))
    case("feature_alpha_dropout eval", F.feature_alpha_dropout(x, 0.5, training=False))
    case("dropout2d eval", F.dropout2d(x[None], 0.5, training=False))


@family(dims={"B": (2, 8), "L": (2, 16), "S": (2, 16), "C": (2, 16)},
        sizes=[{"B": 2, "L": 5, "S": 7, "C": 3}, {"B": 3, "L": 4, "S": 2, "C": 6}],
        q="f32[B,4,L,8]", k="f32[B,4,S,8]", g="f32[B,2,S,8]", m="f32[L,S]", t="bool[B,1,L,S]", x="f32[B,C]", y="i64[B]<2",
        z="f32[B,C,L]", p="f32[B,C]<1")
def dynamic_training(case, q, k, g, m, t, x, y, z, p):
    function = F.scaled_dot_product_attention
    case("attention", function(q, k, k))
    case("attention mask", function(q, k, k, attn_mask=m))
    case("attention bool mask", function(q, k, k, attn_mask=t))
    case("attention causal", function(q, q, q, is_causal=True))
    case("attention grouped", function(q, g, g, attn_mask=t, enable_gqa=True))
    case("cross_entropy", F.cross_entropy(x, y, label_smoothing=0.1))
    case("cross_entropy probabilities", F.cross_entropy(x, p))
    case("nll_loss none", F.nll_loss(z, (z[:, 0] > 0).long(), reduction="none"))
    case("mse_loss", F.mse_loss(x, p))
    case("triplet", F.triplet_margin_loss(x, p, x.flip(0)))
    case("weight_norm", torch._weight_norm(x, p[:, :1], 0))
    case("renorm", torch.renorm(x, 2, 0, 1.0))
