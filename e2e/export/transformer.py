# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transformer blocks written in plain PyTorch."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """A pre-norm transformer block with causal attention."""

    def __init__(self, width: int = 32, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class CachedAttention(nn.Module):
    """One token at a time; keys and values of earlier tokens are mutated buffers."""

    def __init__(self, width: int = 16, heads: int = 2, length: int = 8):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("keys", torch.zeros(1, heads, length, width // heads))
        self.register_buffer("values", torch.zeros(1, heads, length, width // heads))

    def forward(self, x, position):
        q, k, v = self.qkv(x).view(1, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        mask = torch.arange(self.keys.shape[2])[None, :] <= position[:, None]
        attended = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        return self.out(attended.transpose(1, 2).flatten(2))


class EncoderDecoder(nn.Module):
    """torch.nn's own layers, with padding and causal masks."""

    def __init__(self):
        super().__init__()
        options = {"d_model": 16, "nhead": 2, "dim_feedforward": 24, "dropout": 0.1, "batch_first": True}
        self.encoder = nn.TransformerEncoderLayer(**options)
        self.decoder = nn.TransformerDecoderLayer(**options, activation="gelu")

    def forward(self, source, target, padding):
        memory = self.encoder(source, src_key_padding_mask=padding)
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.decoder(target, memory, tgt_mask=causal, memory_key_padding_mask=padding)


class GroupedQueries(nn.Module):
    """Rotary positions, RMS norm and grouped queries, with the norm in f32 whatever the dtype."""

    def __init__(self, width: int = 32, heads: int = 4, groups: int = 2, dtype=torch.float32):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.norm = nn.RMSNorm(width, eps=1e-6, dtype=dtype)
        self.q = nn.Linear(width, width, bias=False, dtype=dtype)
        self.kv = nn.Linear(width, 2 * groups * self.size, bias=False, dtype=dtype)
        self.out = nn.Linear(width, width, bias=False, dtype=dtype)
        self.register_buffer("frequencies", 10000.0 ** (-torch.arange(0, self.size, 2) / self.size))

    def rotate(self, x):
        angles = torch.arange(x.shape[2])[:, None] * self.frequencies[None]
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    def forward(self, x):
        batch, length, _ = x.shape
        y = self.norm(x)
        q = self.q(y).view(batch, length, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(y).view(batch, length, 2, self.groups, self.size).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True, enable_gqa=True)
        return x + self.out(attended.transpose(1, 2).flatten(2))


def grouped_queries_bf16():
    return GroupedQueries(dtype=torch.bfloat16)


class GrownCache(nn.Module):
    """A token that is decoded in bf16 over as many keys and values as there are, and its own."""

    def __init__(self, width: int = 64, heads: int = 2):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q = nn.Linear(width, width, bias=False, dtype=torch.bfloat16)
        self.kv = nn.Linear(width, 2 * width, bias=False, dtype=torch.bfloat16)
        self.out = nn.Linear(width, width, bias=False, dtype=torch.bfloat16)

    def forward(self, x, keys, values):
        q = self.q(x).view(1, 1, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(x).view(1, 1, 2, self.heads, self.size).permute(2, 0, 3, 1, 4)
        keys, values = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
        attended = F.scaled_dot_product_attention(q, keys, values)
        return x + self.out(attended.transpose(1, 2).flatten(2)), k, v


class TopTwoExperts(nn.Module):
    """A mixture of experts with dense dispatch: every expert on every token, weighted."""

    def __init__(self, width: int = 12, experts: int = 4):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, 24) * 0.2)
        self.down = nn.Parameter(torch.randn(experts, 24, width) * 0.2)

    def forward(self, x):
        logits = self.router(x)
        top, index = torch.topk(logits, 2, dim=-1)
        weights = torch.zeros_like(logits).scatter(-1, index, top.softmax(-1))
        hidden = F.silu(torch.einsum("bsw,ewh->ebsh", x, self.up))
        return torch.einsum("ebsh,ehw,bse->bsw", hidden, self.down, weights), index


class AlibiAttention(nn.Module):
    """Linear biases on the distance, over any length."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.register_buffer("slopes", torch.tensor([0.5, 0.25]))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        positions = torch.arange(length)
        distance = (positions[None, :] - positions[:, None]).float()
        scores = q @ k.transpose(-1, -2) / 8**0.5 + self.slopes[:, None, None] * distance
        scores = scores.masked_fill(distance > 0, float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, 16)
