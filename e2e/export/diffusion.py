# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of diffusion models, small by configuration."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Attention to itself or to a context, projections without biases as diffusion models have them."""

    def __init__(self, width: int, heads: int, context: int | None = None):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(context or width, width, bias=False)
        self.v = nn.Linear(context or width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, context=None):
        context = x if context is None else context
        q, k, v = (layer(source).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for layer, source in ((self.q, x), (self.k, context), (self.v, context)))
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class GatedFeedForward(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.up = nn.Linear(width, 8 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        x, gate = self.up(x).chunk(2, dim=-1)
        return self.down(x * F.gelu(gate))


class TransformerBlock(nn.Module):
    """Self attention, cross attention and a gated feed-forward layer."""

    def __init__(self, width: int = 16, heads: int = 2, context: int = 24):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.self_attention = Attention(width, heads)
        self.cross_attention = Attention(width, heads, context)
        self.feed = GatedFeedForward(width)

    def forward(self, x, context):
        x = x + self.self_attention(self.norm1(x))
        x = x + self.cross_attention(self.norm2(x), context)
        return x + self.feed(self.norm3(x))


class SpatialTransformer(nn.Module):
    """A transformer block over the pixels of an image."""

    def __init__(self, width: int, heads: int, context: int):
        super().__init__()
        self.norm = nn.GroupNorm(4, width, eps=1e-6)
        self.enter = nn.Linear(width, width)
        self.block = TransformerBlock(width, heads, context)
        self.leave = nn.Linear(width, width)

    def forward(self, x, context):
        n, c, height, width = x.shape
        y = self.norm(x).permute(0, 2, 3, 1).reshape(n, height * width, c)
        y = self.leave(self.block(self.enter(y), context))
        return x + y.reshape(n, height, width, c).permute(0, 3, 1, 2)


class TimeResidual(nn.Module):
    """A residual block that a time embedding shifts."""

    def __init__(self, inputs: int, outputs: int, time: int = 0):
        super().__init__()
        self.norm1 = nn.GroupNorm(4, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs) if time else None
        self.norm2 = nn.GroupNorm(4, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time=None):
        y = self.conv1(F.silu(self.norm1(x)))
        if self.time is not None:
            y = y + self.time(F.silu(time))[:, :, None, None]
        return self.shortcut(x) + self.conv2(F.silu(self.norm2(y)))


def timestep_embedding(steps, width: int):
    frequencies = torch.exp(-math.log(10000.0) * torch.arange(width // 2, dtype=torch.float32) / (width // 2))
    angles = steps[:, None].float() * frequencies[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class DiffusionUNet(nn.Module):
    """The shape of SDXL's UNet: residual blocks, cross attention, time and text embeddings, skips."""

    def __init__(self, width: int = 8, context: int = 12):
        super().__init__()
        time = 16
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.pooled = nn.Linear(6, time)
        self.enter = nn.Conv2d(4, width, 3, padding=1)
        self.down1 = TimeResidual(width, width, time)
        self.shrink = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.down2 = TimeResidual(width, 2 * width, time)
        self.attend2 = SpatialTransformer(2 * width, 2, context)
        self.middle = TimeResidual(2 * width, 2 * width, time)
        self.up2 = TimeResidual(4 * width, width, time)
        self.grow = nn.Conv2d(width, width, 3, padding=1)
        self.up1 = TimeResidual(2 * width, width, time)
        self.norm = nn.GroupNorm(4, width)
        self.leave = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, sample, steps, context, pooled):
        time = self.time(timestep_embedding(steps, self.width)) + self.pooled(pooled)
        x = self.enter(sample)
        a = self.down1(x, time)
        b = self.attend2(self.down2(self.shrink(a), time), context)
        x = self.middle(b, time)
        x = self.up2(torch.cat([x, b], dim=1), time)
        x = self.grow(F.interpolate(x, scale_factor=2.0, mode="nearest"))
        x = self.up1(torch.cat([x, a], dim=1), time)
        return self.leave(F.silu(self.norm(x)))


class PixelAttention(nn.Module):
    """Single-head attention over pixels, as the VAE has in the middle."""

    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.GroupNorm(4, width)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, dim=-1)
        weights = torch.softmax(q @ k.transpose(1, 2) * q.shape[-1] ** -0.5, dim=-1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(x.shape))


class VaeDecoder(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.enter = nn.Conv2d(4, width, 3, padding=1)
        self.middle1 = TimeResidual(width, width)
        self.attention = PixelAttention(width)
        self.middle2 = TimeResidual(width, width)
        self.grow = nn.Conv2d(width, width, 3, padding=1)
        self.last = TimeResidual(width, 4)
        self.norm = nn.GroupNorm(2, 4)
        self.leave = nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, latent):
        x = self.middle2(self.attention(self.middle1(self.enter(latent / 0.18215))))
        x = self.last(self.grow(F.interpolate(x, scale_factor=2.0, mode="nearest")))
        return (self.leave(F.silu(self.norm(x))) / 2 + 0.5).clamp(0, 1)


class DitBlock(nn.Module):
    """A diffusion transformer block with adaptive layer norm."""

    def __init__(self, width: int = 16):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.attention = Attention(width, 2)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate="tanh"), nn.Linear(2 * width, width))
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(condition).unsqueeze(1).chunk(6, dim=-1)
        x = x + gate1 * self.attention(self.norm1(x) * (1 + scale1) + shift1)
        return x + gate2 * self.feed(self.norm2(x) * (1 + scale2) + shift2)


def half_block():
    return TransformerBlock().half()
