# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backward overloads that exported training graphs contain, called directly."""

import torch

from .family import family

aten = torch.ops.aten


@family(g="f32[4,5]", x="f32[4,5]", h="f16[5]")
def backward_elementwise(case, g, x, h):
    case("threshold", aten.threshold_backward.default(g, x, 0))
    case("threshold f16", aten.threshold_backward.default(h, h.flip(0), 0.1))
    case("sigmoid", aten.sigmoid_backward.default(g, torch.sigmoid(x)))
    case("tanh", aten.tanh_backward.default(g, torch.tanh(x)))
    case("gelu", aten.gelu_backward.default(g, x))
    case("gelu tanh", aten.gelu_backward.default(g, x, approximate="tanh"))
    case("silu", aten.silu_backward.default(g, x))
    case("mish", aten.mish_backward.default(g, x))
    case("elu", aten.elu_backward.default(g, 1.0, 1.0, 1.0, False, x))
    case("elu result", aten.elu_backward.default(g, 1.0, 1.0, 1.0, True, torch.nn.functional.elu(x)))
    case("leaky_relu", aten.leaky_relu_backward.default(g, x, 0.1, False))
    case("hardtanh", aten.hardtanh_backward.default(g, x, -0.5, 0.5))
    case("hardswish", aten.hardswish_backward.default(g, x * 3))
    case("hardsigmoid", aten.hardsigmoid_backward.default(g, x * 3))
    case("softplus", aten.softplus_backward.default(g, x, 1.0, 20.0))
    case("logit", aten.logit_backward.default(g, torch.sigmoid(x)))
    case("log_sigmoid", aten.log_sigmoid_backward.default(g, x, aten.log_sigmoid_forward.default(x)[1]))
    case("glu", aten.glu_backward.default(g[:, :2], x[:, :4], 1))
    case("softmax", aten._softmax_backward_data.default(g, torch.softmax(x, 1), 1, torch.float32))
    case("log_softmax", aten._log_softmax_backward_data.default(g, torch.log_softmax(x, 0), 0, torch.float32))
    case("native_dropout", aten.native_dropout_backward.default(g, x > 0, 2.0))
    case("softshrink", aten.softshrink_backward.default(g, x, 0.5))
    case("hardshrink", aten.hardshrink_backward.default(g, x, 0.5))
    case("mse_loss", aten.mse_loss_backward.default(g, x, g.flip(0), 0))
    case("mse_loss mean", aten.mse_loss_backward.default(g[0, 0], x, g, 1))
    case("smooth_l1_loss", aten.smooth_l1_loss_backward.default(g[0, 0], x, g, 1, 0.7))
    case("huber_loss", aten.huber_loss_backward.default(g, x, g.flip(0), 0, 0.7))
    case("binary_cross_entropy", aten.binary_cross_entropy_backward.default(g, torch.sigmoid(x), torch.sigmoid(g)))


@family(x="f32[2,3,6,5]", w="f32[4,3,3,3]", b="f32[3]>0", e="f32[3]", t="i64[4]<5", s="f32[4,5]", r="f32[3,7]", v="f32[7]>0")
def backward_network(case, x, w, b, e, t, s, r, v):
    out = aten.convolution.default(x, w, None, [2, 1], [1, 1], [1, 1], False, [0, 0], 1)
    case("convolution", aten.convolution_backward.default(
        out * 0.5, x, w, [4], [2, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True]))
    deep = aten.convolution.default(x, w[:3, :1], None, [1, 1], [1, 1], [1, 1], False, [0, 0], 3)
    case("convolution depthwise", aten.convolution_backward.default(
        deep, x, w[:3, :1], [3], [1, 1], [1, 1], [1, 1], False, [0, 0], 3, [True, True, True]))
    up = aten.convolution.default(x, w[:3], None, [2, 2], [1, 1], [1, 1], True, [0, 0], 1)
    case("convolution transposed", aten.convolution_backward.default(
        up, x, w[:3], [3], [2, 2], [1, 1], [1, 1], True, [0, 0], 1, [True, True, True]))
    pooled, where = aten.max_pool2d_with_indices.default(x, [3, 2], [2, 2], [1, 0])
    case("max_pool2d", aten.max_pool2d_with_indices_backward.default(
        pooled * 2, x, [3, 2], [2, 2], [1, 0], [1, 1], False, where))
    case("avg_pool2d", aten.avg_pool2d_backward.default(
        aten.avg_pool2d.default(x, [3, 3], [2, 2], [1, 1]), x, [3, 3], [2, 2], [1, 1], False, True, None))
    case("adaptive_avg_pool2d", aten._adaptive_avg_pool2d_backward.default(x[..., :3, :2], x))
    case("upsample_nearest2d", aten.upsample_nearest2d_backward.default(x, [6, 5], [2, 3, 3, 5]))
    case("upsample_bilinear2d", aten.upsample_bilinear2d_backward.default(x, [6, 5], [2, 3, 3, 2], False))
    case("reflection_pad2d", aten.reflection_pad2d_backward.default(x, x[..., :4, :4], [1, 0, 1, 1]))
    y, mean, rstd = aten.native_layer_norm.default(r, [7], v, None, 1e-5)
    case("native_layer_norm", aten.native_layer_norm_backward.default(y * 0.3 + 1, r, [7], mean, rstd, v, v, [True, True, True]))
    y, mean, rstd = aten.native_group_norm.default(x, b, e, 2, 3, 30, 3, 1e-5)
    case("native_group_norm", aten.native_group_norm_backward.default(x.flip(0), x, mean, rstd, b, 2, 3, 30, 3, [True, True, True]))
    y, mean, rstd = aten.native_batch_norm.default(x, b, e, None, None, True, 0.1, 1e-5)
    case("native_batch_norm", aten.native_batch_norm_backward.default(
        x.flip(0), x, b, None, None, mean, rstd, True, 1e-5, [True, True, True]))
    case("embedding_dense", aten.embedding_dense_backward.default(s, t, 6, 2, False))
    loss, total = aten.nll_loss_forward.default(torch.log_softmax(s, 1), t, None, 1, -100)
    case("nll_loss_forward", (loss, total))
    case("nll_loss", aten.nll_loss_backward.default(loss, s, t, None, 1, -100, total))
    case("nll_loss ignore", aten.nll_loss_backward.default(s[:, 0], s, t, None, 0, 2, total))
    case("slice", aten.slice_backward.default(s, [9, 5], 0, 1, 9, 2))
    case("select", aten.select_backward.default(s[0], [3, 5], 0, 1))
    case("sum by expand", s[:1].expand(4, 5).sum(0, keepdim=True))
