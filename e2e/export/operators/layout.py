# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement beyond the common: dynamic sizes, empty tensors, rare overloads, gradients."""

import torch
from torch.nn import functional as F

from ..model import Model
from .family import FAMILIES, Family, family

aten = torch.ops.aten
prims = torch.ops.prims


@family(x="f32[2,3,4]", y="f32[4,6]", v="f32[5]", h="f16[3,4]", n="i32[2,3]", s="f32[]", c="i64[4]<3")
def rare_views(case, x, y, v, h, n, s, c):
    case("hsplit at", torch.hsplit(y, [1, 4]))
    case("vsplit", torch.vsplit(y, 2))
    case("dsplit", torch.dsplit(x, 2))
    case("dsplit at", torch.dsplit(x, [1, 1]))
    case("tensor_split beyond", torch.tensor_split(v, [2, 9]))
    case("tensor_split negative", torch.tensor_split(v, [1, -1]))
    case("atleast_1d", torch.atleast_1d(s))
    case("atleast_3d", torch.atleast_3d(y))
    case("atleast_3d many", torch.atleast_3d([s, v]))
    case("squeeze number", s.squeeze(0))
    case("unsqueeze number", s.unsqueeze(-1))
    case("flip number", s.flip(()))
    case("roll number", torch.roll(s, 1))
    case("stack numbers", torch.stack([s, s * 2]))
    case("narrow at the end", v.narrow(0, 5, 0))
    case("narrow negative", v.narrow(0, -3, 2))
    case("unfold number", s.unfold(0, 1, 1))
    case("diagonal 3d", torch.diagonal(x, -1, 2, 1))
    case("diagonal far", torch.diagonal(y, 6))
    case("linalg.diagonal", torch.linalg.diagonal(x, offset=1))
    case("diag_embed", torch.diag_embed(x, -1, 0, 2))
    case("diagflat", torch.diagflat(n, 1))
    case("diagonal_scatter", torch.diagonal_scatter(x, x[:, :, 0] * 9, 0, 1, 2))
    case("tril far", torch.tril(y, -5))
    case("triu batch", torch.triu(x, 1))
    counts = torch.tensor([2, 0, 3, 1]) + c * 0
    case("repeats", torch.repeat_interleave(y, counts, dim=0, output_size=6))
    case("repeats of positions", aten.repeat_interleave.Tensor(counts, output_size=6))
    case("trapz", torch.trapz(y, dx=0.5))
    case("trapezoid at", torch.trapezoid(y, v[:4].cumsum(0), dim=0))
    case("cumulative_trapezoid", torch.cumulative_trapezoid(y, dim=0))
    case("diff joined", torch.diff(y, prepend=y[:, :1], append=y[:, :2] * 2))
    case("vander", torch.vander(c, increasing=True))
    case("bits f16", h.view(torch.int16))
    case("bits back", h.view(torch.int16).view(torch.float16))
    case("bits i32", n.abs().view(torch.int32))
    case("pixel_shuffle deep", F.pixel_shuffle(x.view(2, 1, 4, 1, 3), 2))
    case("im2col single", F.unfold(x, 2))
    case("as_strided_scatter", torch.as_strided_scatter(y, v, (5,), (3,), 2))
    case("rot90 -1", torch.rot90(x, -1, (2, 0)))
    case("pad even", F.pad(x, (0, 0, -1, 1, 1, -1), value=3.0))
    case("pad circular wide", F.pad(x, (4, 4), mode="circular"))
    case("pad reflect crop", F.pad(x, (-1, 3), mode="reflect"))
    case("channel_shuffle", F.channel_shuffle(x.view(2, 6, 2), 3))
    case("chunk uneven", torch.chunk(v, 3))
    case("sum_to_size", x.sum_to_size(3, 1))


@family(e="f32[0,3]", x="f32[2,3]", z="f32[2,0,3]")
def empty_moves(case, e, x, z):
    case("view", e.view(3, 0))
    case("view -1", z.view(-1, 3))
    case("permute", z.permute(2, 1, 0))
    case("expand", e[:, None].expand(0, 5, 3))
    case("flip", e.flip(0, 1))
    case("roll", torch.roll(e, 3, 0))
    case("cat", torch.cat([z, z], 1))
    case("stack", torch.stack([e, e], 1))
    case("split", torch.split(e, 2))
    case("chunk", torch.chunk(e, 2))
    case("pad", F.pad(e, (1, 1, 1, 0), value=2.0))
    case("pad to nothing", F.pad(x, (-1, -2)))
    case("diag_embed", torch.diag_embed(z))
    case("diagonal", torch.diagonal(e))
    case("trace", torch.trace(e))
    case("tril", torch.tril(e))
    case("slice_scatter", torch.slice_scatter(x, e, 0, 1, 1))
    case("repeat_interleave", torch.repeat_interleave(e, 2, dim=1))
    case("unfold", e.unfold(1, 2, 1))
    case("diff", torch.diff(e))
    case("meshgrid", torch.meshgrid(e[:, 0], x[:, 0], indexing="xy"))
    case("as_strided", torch.as_strided(e, (0, 2), (1, 5)))


@family(g="f32[2,3,4,6]", h="f16[2,3,4]", w="f32[1,2,3,4,3]", s="f32[]", i="i64[2,3,2,2]<16")
def move_gradients(case, g, h, w, s, i):
    case("slice", aten.slice_backward.default(g, [2, 3, 8, 6], 2, -4, 9223372036854775807, 1))
    case("slice step", aten.slice_backward.default(g, [2, 3, 4, 20], 3, 2, 19, 3))
    case("select", aten.select_backward.default(g[0], [3, 4, 6, 5], -1, -2))
    case("diagonal", aten.diagonal_backward.default(h, [5, 2, 4, 3], -1, 0, 2))
    case("unfold", aten.unfold_backward.default(g, [2, 3, 9], 2, 6, 1))
    case("trace", aten.trace_backward.default(s, [3, 2]))
    case("reflect 1d", aten.reflection_pad1d_backward.default(h, h[..., :2], [1, 1]))
    case("reflect 3d", aten.reflection_pad3d_backward.default(w, w[..., :2, :3, :2], [1, 0, 0, 1, 1, 0]))
    case("replicate 1d", aten.replication_pad1d_backward.default(h, h[..., :1], [1, 2]))
    case("replicate 2d", aten.replication_pad2d_backward.default(g, g[..., :1, :4], [2, 0, 1, 2]))
    case("replicate 3d", aten.replication_pad3d_backward.default(w, w[..., :2, :3, :2], [1, 0, 0, 1, 1, 0]))
    places = torch.sort(i.flatten(2), 2).values + torch.arange(4) * 2
    case("max_unpool2d", aten.max_unpool2d.default(g[:, :, :2, :2], places.view(2, 3, 2, 2), [4, 6]))
    case("max_unpool3d", aten.max_unpool3d.default(g[:, :, :2, :2, None], places.view(2, 3, 2, 2, 1), [2, 3, 4],
                                                   [1, 1, 1], [0, 0, 0]))


class Moves(Family):
    """A family whose inputs have dynamic sizes: export wants them by name."""

    def forward(self, x, y, z):
        return super().forward(x, y, z)


def moves(case, x, y, z):
    batch, rows, width = x.shape
    case("view", x.view(batch, rows * width))
    case("view -1", x.view(batch, -1))
    case("reshape", x.reshape(-1, 2, 3))
    case("heads", x.view(batch, rows, 2, 3).transpose(1, 2).reshape(-1, rows, 3))
    case("flatten", x.flatten(1))
    case("unflatten", x.unflatten(2, (-1, 3)))
    case("permute", x.permute(2, 0, 1))
    case("slice", x[:, 1:])
    case("slice both", x[:, 1:-1])
    case("slice step", x[:, ::2])
    case("select last", x[:, -1])
    case("select -2", x[-2])
    case("cat", torch.cat([x, x[:, :2], x], 1))
    case("stack", torch.stack([x, x * 2], 2))
    case("expand", y.expand(batch, rows, -1))
    case("expand_as", y.expand_as(x))
    case("repeat", x.repeat(2, 1, 3))
    case("repeat_interleave", torch.repeat_interleave(x, 3, dim=1))
    case("roll", torch.roll(x, (1, -5), (0, 1)))
    case("roll flat", torch.roll(x, 7))
    case("flip", x.flip(1, 2))
    case("pad", F.pad(x, (1, 0, 2, -1), value=0.5))
    case("pad reflect", F.pad(x, (2, 1), mode="reflect"))
    case("pad replicate", F.pad(x.transpose(1, 2), (2, 1), mode="replicate"))
    case("pad circular", F.pad(x.transpose(1, 2), (1, 2), mode="circular"))
    square = x @ x.transpose(1, 2)
    case("tril", torch.tril(square))
    case("triu", torch.triu(square, -1))
    case("diagonal", torch.diagonal(square, 1, 1, 2))
    case("diag_embed", torch.diag_embed(x[:, :, 0], 1))
    case("chunk", torch.chunk(x, 2, 2))
    case("split", torch.split(x, [2, 4], 2))
    case("unbind", torch.unbind(x, 2)[:2])
    case("meshgrid", torch.meshgrid(x[0, :, 0], x[:, 0, 0], indexing="xy"))
    case("unfold", x.unfold(1, 2, 1))
    case("diff", torch.diff(x, dim=1))
    case("slice_scatter", torch.slice_scatter(x, y.expand(batch, rows - 1, width), 1, 1))
    case("select_scatter", torch.select_scatter(x, x[:, 0] * 9, 1, -1))
    case("pixel_shuffle", F.pixel_shuffle(z, 2))
    case("pixel_unshuffle", F.pixel_unshuffle(F.pixel_shuffle(z, 2), 2))
    case("block_diag", torch.block_diag(x[0], x[0]))


FAMILIES.append(Model("dynamic_moves", lambda: Moves(moves), ["f32[B,N,6]", "f32[1,1,6]", "f32[1,4,H,3]"],
                      tags={"operators"}, packed=True, dims={"B": (2, 16), "N": (4, 32), "H": (2, 9)},
                      sizes=[{"B": 2, "N": 5, "H": 4}, {"B": 3, "N": 4, "H": 7}]))
