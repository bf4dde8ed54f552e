# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, pooling, resampling, normalisation, recurrence."""

import torch
from torch.nn import functional as F

from .family import family


@family(x="f32[2,4,13]", w="f32[6,4,3]", b="f32[6]", g="f32[6,2,3]", u="f32[4,13]", h="f16[1,4,9]", k="f16[3,4,3]", d="f64[1,2,7]")
def conv1d(case, x, w, b, g, u, h, k, d):
    case("plain", F.conv1d(x, w))
    case("bias", F.conv1d(x, w, b))
    case("stride", F.conv1d(x, w, b, stride=2))
    case("padding", F.conv1d(x, w, b, padding=2))
    case("dilation", F.conv1d(x, w, b, dilation=3, padding=3))
    case("groups", F.conv1d(x, g, b, groups=2))
    case("depthwise", F.conv1d(x, w[:4, :1], groups=4, padding=1))
    case("same", F.conv1d(x, w, padding="same"))
    case("same even", F.conv1d(x, w[..., :2], padding="same", dilation=3))
    case("valid", F.conv1d(x, w, padding="valid"))
    case("pointwise", F.conv1d(x, w[..., :1]))
    case("unbatched", F.conv1d(u, w, b))
    case("f16", F.conv1d(h, k, padding=1))
    case("f64", F.conv1d(d, d))
    case("transposed input", F.conv1d(x.reshape(2, 13, 4).transpose(1, 2), w))


@family(x="f32[2,4,9,7]", w="f32[6,4,3,3]", b="f32[6]", g="f32[6,2,3,3]", d="f32[8,1,3,3]", r="f32[3,4,1,5]", h="f16[1,4,5,5]",
        k="bf16[1,4,5,5]", f="f64[1,2,5,4]")
def conv2d(case, x, w, b, g, d, r, h, k, f):
    case("plain", F.conv2d(x, w))
    case("bias", F.conv2d(x, w, b))
    case("stride", F.conv2d(x, w, b, stride=(2, 1)))
    case("padding", F.conv2d(x, w, b, padding=(1, 2)))
    case("dilation", F.conv2d(x, w, b, dilation=(2, 3), padding=3))
    case("groups", F.conv2d(x, g, b, groups=2, padding=1))
    case("depthwise", F.conv2d(x, d[:4], groups=4, padding=1, stride=2))
    case("depthwise multiplier", F.conv2d(x, d, groups=4))
    case("same", F.conv2d(x, w, padding="same"))
    case("same even", F.conv2d(x, w[..., :2, :2], padding="same"))
    case("pointwise", F.conv2d(x, w[..., :1, :1], b))
    case("pointwise stride", F.conv2d(x, w[..., :1, :1], stride=2))
    case("row", F.conv2d(x, r, padding=(0, 2)))
    case("whole image", F.conv2d(x[..., :3, :3], w))
    case("unbatched", F.conv2d(x[0], w, b))
    case("channels last", F.conv2d(x.contiguous(memory_format=torch.channels_last), w, b))
    case("f16", F.conv2d(h, w.half()[:3], padding=1))
    case("bf16", F.conv2d(k, w.bfloat16()[:3], padding=1))
    case("f64", F.conv2d(f, f[:, :, :2, :3]))
    case("convolution", torch.ops.aten.convolution.default(x, w, b, [2, 2], [1, 1], [1, 1], False, [0, 0], 1))


@family(x="f32[1,2,4,5,6]", w="f32[4,2,2,3,3]", b="f32[4]", g="f32[4,1,3,1,1]")
def conv3d(case, x, w, b, g):
    case("plain", F.conv3d(x, w))
    case("bias stride", F.conv3d(x, w, b, stride=(1, 2, 2), padding=(1, 1, 0)))
    case("dilation", F.conv3d(x, w, dilation=(2, 1, 2)))
    case("groups", F.conv3d(x, g, b, groups=2))
    case("same", F.conv3d(x, w, padding="same"))


@family(x="f32[2,4,5]", w="f32[4,3,3]", b="f32[3]", y="f32[1,4,4,5]", v="f32[4,3,3,2]", g="f32[4,2,3,3]", z="f32[1,2,3,3,2]",
        u="f32[2,3,2,2,3]", h="f16[1,4,3,3]")
def conv_transpose(case, x, w, b, y, v, g, z, u, h):
    case("1d", F.conv_transpose1d(x, w))
    case("1d options", F.conv_transpose1d(x, w, b, stride=2, padding=1, output_padding=1))
    case("1d dilation", F.conv_transpose1d(x, w, dilation=2))
    case("2d", F.conv_transpose2d(y, v, b))
    case("2d stride", F.conv_transpose2d(y, v, stride=(2, 3), padding=(1, 0)))
    case("2d output padding", F.conv_transpose2d(y, v, stride=2, output_padding=(1, 0)))
    case("2d dilation", F.conv_transpose2d(y, v, dilation=(1, 2), padding=1))
    case("2d groups", F.conv_transpose2d(y, g, stride=2, padding=1, groups=2))
    case("2d unbatched", F.conv_transpose2d(y[0], v))
    case("2d f16", F.conv_transpose2d(h, v.half(), stride=2))
    case("3d", F.conv_transpose3d(z, u, stride=(1, 2, 1), padding=(0, 1, 1)))
    case("convolution", torch.ops.aten.convolution.default(y, v, b, [2, 2], [0, 0], [1, 1], True, [1, 1], 1))


@family(x="f32[2,3,13]", y="f32[1,2,9,7]", z="f32[1,2,5,4,6]", h="f16[1,2,7,5]", n="i64[1,2,7]")
def max_pools(case, x, y, z, h, n):
    case("1d", F.max_pool1d(x, 3))
    case("1d options", F.max_pool1d(x, 4, stride=2, padding=1, dilation=2))
    case("1d ceil", F.max_pool1d(x, 3, stride=2, ceil_mode=True))
    case("1d indices", F.max_pool1d(x, 3, 2, return_indices=True))
    case("2d", F.max_pool2d(y, 2))
    case("2d options", F.max_pool2d(y, (3, 2), stride=(2, 1), padding=(1, 1)))
    case("2d dilation", F.max_pool2d(y, 2, stride=1, dilation=(2, 3)))
    case("2d ceil", F.max_pool2d(y, 3, 2, ceil_mode=True))
    case("2d indices", F.max_pool2d(y, 3, 2, 1, return_indices=True))
    case("2d unbatched", F.max_pool2d(y[0], 2))
    case("2d f16", F.max_pool2d(h, 2))
    case("2d negative", F.max_pool2d(-y.abs(), 3, padding=1))
    case("3d", F.max_pool3d(z, 2, stride=(2, 1, 2)))
    case("3d indices", F.max_pool3d(z, 2, return_indices=True))
    case("adaptive 1d", F.adaptive_max_pool1d(x, 5))
    case("adaptive 2d", F.adaptive_max_pool2d(y, (4, 3)))
    case("adaptive 2d indices", F.adaptive_max_pool2d(y, (2, 5), return_indices=True))
    case("adaptive 3d", F.adaptive_max_pool3d(z, (2, 3, 1)))
    case("unpool", F.max_unpool2d(*F.max_pool2d(y, 2, return_indices=True), 2, output_size=(9, 7)))


@family(x="f32[2,3,13]", y="f32[1,2,9,7]", z="f32[1,2,5,4,6]", h="f16[1,2,7,5]", p="f32[1,2,8,6]>0")
def average_pools(case, x, y, z, h, p):
    case("1d", F.avg_pool1d(x, 3))
    case("1d options", F.avg_pool1d(x, 4, stride=2, padding=2, count_include_pad=False))
    case("1d ceil", F.avg_pool1d(x, 3, stride=2, ceil_mode=True))
    case("2d", F.avg_pool2d(y, 2))
    case("2d padding", F.avg_pool2d(y, 3, 2, padding=1))
    case("2d excluding", F.avg_pool2d(y, 3, 2, padding=1, count_include_pad=False))
    case("2d ceil", F.avg_pool2d(y, 2, ceil_mode=True))
    case("2d ceil padding", F.avg_pool2d(y, 3, 2, padding=1, ceil_mode=True, count_include_pad=False))
    case("2d divisor", F.avg_pool2d(y, 2, divisor_override=3))
    case("2d f16", F.avg_pool2d(h, 2))
    case("3d", F.avg_pool3d(z, (2, 2, 3), stride=(1, 2, 2)))
    case("3d padding", F.avg_pool3d(z, 3, 2, padding=1, count_include_pad=False))
    for size in (1, 5, 13):
        case(f"adaptive 1d {size}", F.adaptive_avg_pool1d(x, size))
    for size in ((1, 1), (3, 2), (4, 5), (9, 7), (10, 8)):
        case(f"adaptive 2d {size}", F.adaptive_avg_pool2d(y, size))
    case("adaptive 2d none", F.adaptive_avg_pool2d(y, (None, 3)))
    case("adaptive 2d f16", F.adaptive_avg_pool2d(h, 2))
    case("adaptive 3d", F.adaptive_avg_pool3d(z, (2, 3, 4)))
    case("_adaptive_avg_pool2d", torch.ops.aten._adaptive_avg_pool2d.default(y, [2, 2]))
    case("lp_pool2d", F.lp_pool2d(p, 2.0, 2))
    case("lp_pool1d", F.lp_pool1d(p[0], 3.0, 2))


@family(x="f32[1,2,5]", y="f32[1,2,4,5]", z="f32[1,1,2,3,4]", h="f16[1,2,3,3]", g="f32[1,3,6,2]~0.6", m="f32[1,2,3]")
def resampling(case, x, y, z, h, g, m):
    for mode, one in (("nearest", x), ("linear", x)):
        case(f"{mode} 1d", F.interpolate(one, 8, mode=mode))
        case(f"{mode} 1d scale", F.interpolate(one, scale_factor=1.7, mode=mode))
    for mode in ("nearest", "bilinear", "bicubic", "nearest-exact"):
        case(f"{mode} up", F.interpolate(y, (7, 11), mode=mode))
        case(f"{mode} down", F.interpolate(y, (2, 3), mode=mode))
        case(f"{mode} scale", F.interpolate(y, scale_factor=(2.0, 1.5), mode=mode))
        case(f"{mode} same", F.interpolate(y, (4, 5), mode=mode))
    case("bilinear corners", F.interpolate(y, (7, 11), mode="bilinear", align_corners=True))
    case("bilinear corners one", F.interpolate(y, (1, 1), mode="bilinear", align_corners=True))
    case("bicubic corners", F.interpolate(y, (7, 6), mode="bicubic", align_corners=True))
    case("linear corners", F.interpolate(x, 9, mode="linear", align_corners=True))
    case("bilinear recomputed", F.interpolate(y, scale_factor=1.3, mode="bilinear", recompute_scale_factor=True))
    case("nearest f16", F.interpolate(h, scale_factor=2, mode="nearest"))
    case("bilinear f16", F.interpolate(h, scale_factor=2, mode="bilinear"))
    case("nearest 3d", F.interpolate(z, (3, 5, 4), mode="nearest"))
    case("trilinear", F.interpolate(z, (3, 5, 4), mode="trilinear"))
    case("area", F.interpolate(y, (2, 3), mode="area"))
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            case(f"grid_sample {mode} {padding}", F.grid_sample(y, g, mode=mode, padding_mode=padding, align_corners=False))
    case("grid_sample corners", F.grid_sample(y, g, align_corners=True))
    case("affine_grid", F.affine_grid(m, (1, 2, 3, 4), align_corners=False))


@family(x="f32[1,2,5]", y="f32[2,2,4,5]", z="f32[1,2,3,4,2]", g="f32[2,3,4,2]", v="f32[1,2,3,2,3]", m="f32[2,2,3]", t="f32[1,3,4]", h="f16[2,2,4,5]",
        d="f64[1,1,3,3]", u="u8[1,2,3,3]<200")
def sampling(case, x, y, z, g, v, m, t, h, d, u):
    aten = torch.ops.aten
    for padding in ("zeros", "border", "reflection"):
        for corners in (False, True):
            options = {"padding_mode": padding, "align_corners": corners}
            case(f"grid_sample bicubic {padding} {corners}", F.grid_sample(y, g * 1.5, mode="bicubic", **options))
            case(f"grid_sample 3d {padding} {corners}", F.grid_sample(z, v * 1.5, **options))
            case(f"grid_sample far {padding} {corners}", F.grid_sample(y, g * 9, **options))
    case("grid_sample 3d nearest", F.grid_sample(z, v, mode="nearest", align_corners=False))
    case("grid_sample one", F.grid_sample(y[:, :, :1, :1], g, padding_mode="reflection", align_corners=True))
    case("grid_sample f16", F.grid_sample(h, g.half(), align_corners=False))
    case("grid_sample f64", F.grid_sample(d, g[:1].double(), align_corners=False))
    case("grid_sample affine", F.grid_sample(y, F.affine_grid(m, [2, 2, 3, 6], align_corners=False), align_corners=False))
    case("affine_grid corners", F.affine_grid(m, [2, 1, 3, 4], align_corners=True))
    case("affine_grid 3d", F.affine_grid(t, [1, 1, 2, 1, 3], align_corners=False))
    case("affine_grid one", F.affine_grid(m, [2, 1, 1, 1], align_corners=True))
    case("nearest-exact 1d", F.interpolate(x, 13, mode="nearest-exact"))
    case("nearest-exact 3d", F.interpolate(z, (5, 3, 4), mode="nearest-exact"))
    case("nearest u8", F.interpolate(u, (5, 7), mode="nearest"))
    case("bicubic f64", F.interpolate(d, (5, 7), mode="bicubic"))
    case("bicubic f16", F.interpolate(h, scale_factor=0.6, mode="bicubic"))
    for mode in ("bilinear", "bicubic"):
        case(f"{mode} antialias down", F.interpolate(y, (2, 3), mode=mode, antialias=True))
        case(f"{mode} antialias up", F.interpolate(y, scale_factor=1.7, mode=mode, antialias=True))
        case(f"{mode} antialias corners", F.interpolate(y, (3, 9), mode=mode, antialias=True, align_corners=True))
    case("trilinear corners", F.interpolate(z, (5, 3, 4), mode="trilinear", align_corners=True))
    case("upsample_bilinear2d scales", aten.upsample_bilinear2d.default(y, [6, 7], False, 1.6, 1.55))
    case("upsample_nearest2d scales", aten.upsample_nearest2d.default(y, [6, 7], 1.6, 1.55))
    case("upsample_linear1d same", aten.upsample_linear1d.default(x, [5], False, 1.1))
    case("upsample_nearest1d_backward", aten.upsample_nearest1d_backward.default(x, [5], [1, 2, 3], None))
    case("upsample_nearest2d_backward", aten.upsample_nearest2d_backward.default(y, [4, 5], [2, 2, 2, 3], None, None))
    case("upsample_nearest3d_backward", aten.upsample_nearest3d_backward.default(z, [3, 4, 2], [1, 2, 2, 2, 1], None, None, None))
    case("upsample_linear1d_backward", aten.upsample_linear1d_backward.default(x, [5], [1, 2, 3], True, None))
    case("upsample_bilinear2d_backward", aten.upsample_bilinear2d_backward.default(y, [4, 5], [2, 2, 2, 3], False, None, None))
    case("upsample_trilinear3d_backward",
         aten.upsample_trilinear3d_backward.default(z, [3, 4, 2], [1, 2, 2, 3, 4], False, None, None, None))
    case("_upsample_bilinear2d_aa_backward", aten._upsample_bilinear2d_aa_backward.default(y, [4, 5], [2, 2, 9, 7], False, None, None))
    case("upsample_bicubic2d_backward", aten.upsample_bicubic2d_backward.default(y, [4, 5], [2, 2, 2, 3], False, None, None))


@family(y="f32[2,2,4,5]", z="f32[1,2,3,4,2]", g="f32[2,3,4,2]", v="f32[1,2,3,2,3]", o="f32[2,2,3,4]", p="f32[1,2,2,3,2]", h="f16[2,2,4,5]",
        b="f32[B,3,5,4]", c="f32[B,2,3,2]", w="f32[B,3,2,3]", dims={"B": (1, 16)}, sizes=[{"B": 2}, {"B": 5}])
def sampling_gradients(case, y, z, g, v, o, p, h, b, c, w):
    aten = torch.ops.aten
    for padding, name in enumerate(("zeros", "border", "reflection")):
        for corners in (False, True):
            for mode in (0, 2):
                case(f"2d {mode} {name} {corners}", aten.grid_sampler_2d_backward.default(
                    o, y[:, :, :3], g * 1.5, mode, padding, corners, [True, True]))
        case(f"3d {name}", aten.grid_sampler_3d_backward.default(p, z, v * 1.5, 0, padding, False, [True, True]))
        case(f"far {name}", aten.grid_sampler_2d_backward.default(o, y, g * 9, 0, padding, True, [True, True]))
    case("2d nearest", aten.grid_sampler_2d_backward.default(o, y, g, 1, 1, False, [True, True]))
    case("3d nearest", aten.grid_sampler_3d_backward.default(p, z, v, 1, 0, False, [True, True]))
    case("one", aten.grid_sampler_2d_backward.default(o, y[:, :, :1, :1], g, 0, 2, True, [True, True]))
    case("grid only", aten.grid_sampler_2d_backward.default(o, y, g, 0, 0, False, [False, True])[1])
    case("f16", aten.grid_sampler_2d_backward.default(o.half(), h, g.half(), 0, 0, False, [True, True]))
    case("dynamic", aten.grid_sampler_2d_backward.default(w, b, c, 0, 0, False, [True, True]))


@family(x="f32[2,3,7,9]", z="f32[3,6,5,7]", r="f32[2,3,2]", q="f32[1,3,3]", g="f32[2,3,3,4]", o="f32[3,2,3,2]", h="bf16[1,3,6,6]",
        b="f32[B,2,8,6]", s="f32[B,2,2]", dims={"B": (1, 16)}, sizes=[{"B": 2}, {"B": 5}])
def fractional_pools(case, x, z, r, q, g, o, h, b, s):
    aten = torch.ops.aten
    r, q, s = (each.abs() % 1 for each in (r, q, s))
    for kernel, size in (([2, 2], [3, 4]), ([3, 1], [5, 9]), ([2, 3], [1, 2])):
        case(f"2d {kernel} {size}", aten.fractional_max_pool2d.default(x, kernel, size, r))
    case("2d image", aten.fractional_max_pool2d.default(x[1], [2, 2], [4, 3], r[1:]))
    case("3d", aten.fractional_max_pool3d.default(z, [2, 2, 3], [4, 3, 2], q))
    case("3d batch", aten.fractional_max_pool3d.default(z[None].expand(2, 3, 6, 5, 7), [1, 2, 2], [2, 3, 4], q.expand(2, 3, 3)))
    case("bf16", aten.fractional_max_pool2d.default(h, [2, 2], [3, 4], r[:1].bfloat16()))
    infinite = torch.full((1, 2, 3, 3), -torch.inf)
    infinite[0, 1, 1, 1] = torch.nan
    case("infinite", aten.fractional_max_pool2d.default(infinite, [2, 2], [2, 2], r[:1, :2]))
    places = aten.fractional_max_pool2d.default(x, [2, 2], [3, 4], r)[1]
    case("2d backward", aten.fractional_max_pool2d_backward.default(g, x, [2, 2], [3, 4], places))
    places = aten.fractional_max_pool3d.default(z, [2, 2, 3], [2, 3, 2], q)[1]
    case("3d backward", aten.fractional_max_pool3d_backward.default(o, z, [2, 2, 3], [2, 3, 2], places))
    case("dynamic", aten.fractional_max_pool2d.default(b, [3, 2], [4, 3], s))


@family(x="f32[3,6,5]", y="f32[2,6,4,3]", w="f32[5]>0", b="f32[5]", c="f32[6]>0", e="f32[6]", h="f16[3,70]", k="bf16[3,70]", d="f64[4,5]",
        l="f32[2,1031]")
def normalisations(case, x, y, w, b, c, e, h, k, d, l):
    case("layer_norm", F.layer_norm(x, (5,)))
    case("layer_norm affine", F.layer_norm(x, (5,), w, b))
    case("layer_norm weight", F.layer_norm(x, (5,), w, eps=1e-3))
    case("layer_norm two", F.layer_norm(x, (6, 5)))
    case("layer_norm f16", F.layer_norm(h, (70,)))
    case("layer_norm bf16", F.layer_norm(k, (70,)))
    case("layer_norm f64", F.layer_norm(d, (5,)))
    case("layer_norm long", F.layer_norm(l + 10, (1031,)))
    case("layer_norm constant", F.layer_norm(torch.ones(2, 5), (5,), w, b))
    case("native_layer_norm", torch.native_layer_norm(x, (5,), w, b, 1e-5))
    case("rms_norm", F.rms_norm(x, (5,)))
    case("rms_norm weight", F.rms_norm(x, (5,), w, eps=1e-6))
    case("rms_norm f16", F.rms_norm(h, (70,)))
    case("group_norm", F.group_norm(y, 3))
    case("group_norm affine", F.group_norm(y, 2, c, e))
    case("group_norm one", F.group_norm(y, 1, c, e, eps=1e-3))
    case("group_norm 3d", F.group_norm(x, 6, c, e))
    case("native_group_norm", torch.native_group_norm(y, c, e, 2, 6, 12, 3, 1e-5))
    case("instance_norm", F.instance_norm(y))
    case("instance_norm affine", F.instance_norm(y, weight=c, bias=e))
    case("batch_norm eval", F.batch_norm(y, e, c, c, e))
    case("batch_norm eval plain", F.batch_norm(y, e, c))
    case("batch_norm 2d", F.batch_norm(x[:, :, 0], e, c, c, e, eps=1e-3))
    case("batch_norm train", F.batch_norm(y, None, None, c, e, training=True))
    case("batch_norm f16", F.batch_norm(y.half(), e.half(), c.half()))
    mean, variance = e.clone(), c.clone()
    case("batch_norm running", F.batch_norm(y, mean, variance, c, e, training=True, momentum=0.3))
    case("batch_norm running mean", mean)
    case("batch_norm running variance", variance)
    case("_native_batch_norm_legit_no_training",
         torch.ops.aten._native_batch_norm_legit_no_training.default(y, c, e, e, c, 0.1, 1e-5)[0])
    case("_native_batch_norm_legit", torch.ops.aten._native_batch_norm_legit.no_stats(y, c, e, True, 0.1, 1e-5))
    case("local_response_norm", F.local_response_norm(y, 3))


@family(x="f32[4,2,3]", h="f32[1,2,5]", c="f32[1,2,5]", w="f32[20,3]~0.4", r="f32[20,5]~0.4", b="f32[20]~0.4", s="f32[20]~0.4")
def recurrences(case, x, h, c, w, r, b, s):
    case("lstm", torch.lstm(x, (h, c), [w, r, b, s], True, 1, 0.0, False, False, False))
    case("lstm no bias", torch.lstm(x, (h, c), [w, r], False, 1, 0.0, False, False, False))
    case("lstm batch first", torch.lstm(x.transpose(0, 1), (h, c), [w, r, b, s], True, 1, 0.0, False, False, True))
    twice = [w, r, b, s, w.flip(0), r.flip(0), b, s]
    both = (h.repeat(2, 1, 1), c.repeat(2, 1, 1))
    case("lstm bidirectional", torch.lstm(x, both, twice, True, 1, 0.0, False, True, False))
    deep = [w, r, b, s, r, r.flip(0), b, s]
    case("lstm layers", torch.lstm(x, both, deep, True, 2, 0.0, False, False, False))
    case("gru", torch.gru(x, h, [w[:15], r[:15], b[:15], s[:15]], True, 1, 0.0, False, False, False))
    case("rnn_tanh", torch.rnn_tanh(x, h, [w[:5], r[:5], b[:5], s[:5]], True, 1, 0.0, False, False, False))
    case("rnn_relu", torch.rnn_relu(x, h, [w[:5], r[:5], b[:5], s[:5]], True, 1, 0.0, False, False, False))
    case("lstm_cell", torch.lstm_cell(x[0], (h[0], c[0]), w, r, b, s))
    case("gru_cell", torch.gru_cell(x[0], h[0], w[:15], r[:15], b[:15], s[:15]))
    case("rnn_tanh_cell", torch.rnn_tanh_cell(x[0], h[0], w[:5], r[:5], b[:5], s[:5]))
    case("one step", torch.lstm(x[:1], (h, c), [w, r, b, s], True, 1, 0.0, False, False, False))


@family(x="f32[5,7]", t="i64[5]<7", w="f32[7]>0", p="f32[5,7]<1", y="f32[5,7]", z="f32[2,3,4,5]", i="i64[2,4,5]<3", q="f32[5,7]<1",
        m="i64[5,7]<2", h="f16[5,7]")
def losses(case, x, t, w, p, y, z, i, q, m, h):
    for reduction in ("mean", "sum", "none"):
        options = {"reduction": reduction}
        case(f"cross_entropy {reduction}", F.cross_entropy(x, t, **options))
        case(f"cross_entropy weight {reduction}", F.cross_entropy(x, t, w, **options))
        case(f"cross_entropy ignore {reduction}", F.cross_entropy(x, t, ignore_index=3, **options))
        case(f"cross_entropy images {reduction}", F.cross_entropy(z, i, **options))
        case(f"cross_entropy probabilities {reduction}", F.cross_entropy(x, p, **options))
        case(f"nll_loss {reduction}", F.nll_loss(F.log_softmax(x, 1), t, w, **options))
        case(f"mse_loss {reduction}", F.mse_loss(x, y, **options))
        case(f"l1_loss {reduction}", F.l1_loss(x, y, **options))
        case(f"smooth_l1_loss {reduction}", F.smooth_l1_loss(x, y, beta=0.7, **options))
        case(f"huber_loss {reduction}", F.huber_loss(x, y, delta=0.7, **options))
        case(f"binary_cross_entropy {reduction}", F.binary_cross_entropy(p, q, **options))
        case(f"binary_cross_entropy_with_logits {reduction}", F.binary_cross_entropy_with_logits(x, q, **options))
        case(f"kl_div {reduction}", F.kl_div(F.log_softmax(x, 1), p, **options))
        case(f"soft_margin_loss {reduction}", F.soft_margin_loss(x, m * 2.0 - 1, **options))
    case("cross_entropy smoothing", F.cross_entropy(x, t, label_smoothing=0.1))
    case("cross_entropy one", F.cross_entropy(x[0], t[0]))
    case("nll_loss 2d", F.nll_loss(F.log_softmax(z, 1), i))
    case("kl_div batchmean", F.kl_div(F.log_softmax(x, 1), p, reduction="batchmean"))
    case("kl_div log target", F.kl_div(F.log_softmax(x, 1), F.log_softmax(y, 1), log_target=True, reduction="sum"))
    case("bce pos_weight", F.binary_cross_entropy_with_logits(x, q, pos_weight=w))
    case("bce weight", F.binary_cross_entropy(p, q, weight=w))
    case("smooth_l1 beta 0", F.smooth_l1_loss(x, y, beta=0.0))
    case("mse half", F.mse_loss(h, h * 2))
    case("poisson_nll_loss", F.poisson_nll_loss(x, q))
    case("hinge_embedding_loss", F.hinge_embedding_loss(x, m * 2 - 1))
    case("margin_ranking_loss", F.margin_ranking_loss(x, y, m * 2 - 1))
    case("cosine_embedding_loss", F.cosine_embedding_loss(x, y, torch.ones(5)))
    case("triplet_margin_loss", F.triplet_margin_loss(x, y, q))
