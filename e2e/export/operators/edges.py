# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes around the powers of two at which vector code and tiles begin and end."""

import torch
from torch.nn import functional as F

from .family import family


@family(a="f32[65,65]", h="f16[33,65]", x="f32[1,17,9,9]", w="f32[17,17,3,3]~0.2")
def tile_edges(case, a, h, x, w):
    for m, k, n in ((1, 65, 33), (33, 65, 1), (15, 16, 17), (17, 33, 15), (31, 1, 33), (9, 63, 65)):
        case(f"mm {m} {k} {n}", torch.mm(a[:m, :k], a[:k, :n]))
    case("mm f16", torch.mm(h[:9], h[:17].t()))
    long = a.flatten()[:1037]
    for size in (1, 7, 8, 9, 15, 17, 33, 65):
        case(f"elementwise {size}", torch.tanh(long[:size] * 2 + 1))
    for size in (7, 16, 17, 33, 256, 257, 513):
        rows = long[: 2 * size].view(2, size)
        case(f"sum {size}", rows.sum(1))
        case(f"max {size}", rows.amax(1))
        case(f"layer_norm {size}", F.layer_norm(rows, (size,))[:, ::7])
        case(f"softmax {size}", torch.softmax(rows, 1)[:, ::7])
    for channels in (3, 15, 16, 17):
        case(f"conv2d {channels}", F.conv2d(x[:, :channels], w[: 18 - channels, :channels], padding=1)[:, :, ::4, ::3])
    for size in (15, 17, 33):
        case(f"transpose {size}", (a[:size, :17].t() + 1).sum(1))
        case(f"cumsum {size}", long[:size].cumsum(0))
    for length in (1, 15, 17):
        q = a[:length, :32].reshape(1, 2, length, 16)
        case(f"attention {length}", F.scaled_dot_product_attention(q, q, q, is_causal=True).sum(-1))
