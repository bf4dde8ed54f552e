# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Core overloads that modules reach only after decomposition, called directly."""

import torch

from .family import family

aten = torch.ops.aten


@family(x="f32[2,3,5]", y="f32[1,2,5,4]", z="f32[1,1,3,4,5]", m="f32[4,6]", n="f32[3,6]", w="f32[9,4]", i="i64[6]<9",
        g="f32[1,3,2,2]~0.6", t="bool[2,3,5]", c="f32[2]>0", e="f32[2]", k="i64[2,3]")
def core_overloads(case, x, y, z, m, n, w, i, g, t, c, e, k):
    case("_adaptive_avg_pool3d", aten._adaptive_avg_pool3d.default(z, [2, 2, 3]))
    case("_cdist_forward", aten._cdist_forward.default(m, n, 2.0, None))
    case("_cdist_forward 1", aten._cdist_forward.default(m, n, 1.0, None))
    case("_pdist_forward", aten._pdist_forward.default(m, 2.0))
    offsets = torch.tensor([0, 2, 2])
    case("_embedding_bag sum", aten._embedding_bag.default(w, i, offsets)[0])
    case("_embedding_bag mean", aten._embedding_bag.default(w, i, offsets, False, 1)[0])
    case("_native_batch_norm_legit",
         aten._native_batch_norm_legit.default(y, c, e, e.clone(), c.clone(), True, 0.1, 1e-5)[0])
    case("copy", aten.copy.default(x, k[:, :, None]))
    case("div trunc number", aten.div.Scalar_mode(x * 9, 2, rounding_mode="trunc"))
    case("div floor number", aten.div.Scalar_mode(k - 5, 2, rounding_mode="floor"))
    case("empty_strided filled", aten.fill.Scalar(aten.empty_strided.default([2, 3], [3, 1]), 2.5))
    case("grid_sampler_2d", aten.grid_sampler_2d.default(y, g, 0, 0, False))
    case("grid_sampler_2d nearest border", aten.grid_sampler_2d.default(y, g, 1, 1, True))
    case("masked_scatter", aten.masked_scatter.default(x, t, x.flip(0) * 10))
    case("reflection_pad1d", aten.reflection_pad1d.default(x, [2, 1]))
    case("reflection_pad2d", aten.reflection_pad2d.default(y, [1, 2, 0, 3]))
    case("reflection_pad3d", aten.reflection_pad3d.default(z, [1, 1, 2, 0, 0, 2]))
    case("replication_pad2d", aten.replication_pad2d.default(y, [3, 0, 1, 1]))
    case("replication_pad3d", aten.replication_pad3d.default(z, [1, 0, 2, 2, 0, 1]))
    case("sub number", aten.sub.Scalar(x, 2, 3))
    case("add number", aten.add.Scalar(k, 2, 3))
    case("mul number", aten.mul.Scalar(x, 0.5))
    case("div number", aten.div.Scalar(k, 4))
    case("pow", aten.pow.Tensor_Tensor(c, e))
    case("squeeze dims", aten.squeeze.dims(z, [0, 1]))
    case("var correction", aten.var.correction(x, [1], correction=0))
    case("clamp tensors", aten.clamp.Tensor(x, e[0], c[1]))
    case("index_put", aten.index_put.default(x, [torch.tensor([1]), None, torch.tensor([2])], c[0]))
    case("upsample_nearest2d", aten.upsample_nearest2d.vec(y, None, [2.0, 1.5]))
    case("upsample_bilinear2d", aten.upsample_bilinear2d.vec(y, [7, 9], False, None))
    case("max_pool2d_with_indices", aten.max_pool2d_with_indices.default(y, [2, 2], [1, 2], [1, 0]))
    case("convert_element_type", torch.ops.prims.convert_element_type.default(k, torch.bfloat16))
    case("prims iota", torch.ops.prims.iota.default(5, start=2, step=3, dtype=torch.int64, device="cpu",
                                                    requires_grad=False))
    case("prims sum", torch.ops.prims.sum.default(x, [1]))
