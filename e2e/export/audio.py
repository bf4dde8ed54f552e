# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Audio models in plain PyTorch."""

import torch
from torch import nn
from torch.nn import functional as F


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates, residual and skip connections."""

    def __init__(self, width: int = 8, layers: int = 4):
        super().__init__()
        self.enter = nn.Conv1d(1, width, 1)
        self.dilated = nn.ModuleList([nn.Conv1d(width, 2 * width, 2, dilation=2**i) for i in range(layers)])
        self.residual = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(layers)])
        self.skip = nn.ModuleList([nn.Conv1d(width, 12, 1) for _ in range(layers)])
        self.leave = nn.Sequential(nn.ReLU(), nn.Conv1d(12, 12, 1), nn.ReLU(), nn.Conv1d(12, 16, 1))

    def forward(self, x):
        x = self.enter(x)
        total = 0
        for i, (dilated, residual, skip) in enumerate(zip(self.dilated, self.residual, self.skip)):
            value, gate = dilated(F.pad(x, (2**i, 0))).chunk(2, dim=1)
            y = torch.tanh(value) * torch.sigmoid(gate)
            total = total + skip(y)
            x = x + residual(y)
        return self.leave(total)


class Conformer(nn.Module):
    """One conformer block: half feed-forward steps around attention and a gated depthwise convolution."""

    def __init__(self, width: int = 16):
        super().__init__()
        self.feed1, self.feed2 = (
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 32), nn.SiLU(), nn.Dropout(0.1), nn.Linear(32, width))
            for _ in range(2))
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.point1 = nn.Conv1d(width, 2 * width, 1)
        self.depth = nn.Conv1d(width, width, 5, padding=2, groups=width)
        self.norm3 = nn.BatchNorm1d(width)
        self.point2 = nn.Conv1d(width, width, 1)
        self.last = nn.LayerNorm(width)

    def forward(self, x):
        x = x + 0.5 * self.feed1(x)
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = F.glu(self.point1(self.norm2(x).transpose(1, 2)), dim=1)
        x = x + self.point2(F.silu(self.norm3(self.depth(y)))).transpose(1, 2)
        return self.last(x + 0.5 * self.feed2(x))


def speech_commands():
    """A convolutional network on raw waveforms."""
    return nn.Sequential(nn.Conv1d(1, 8, 16, stride=4), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(4),
                         nn.Conv1d(8, 12, 3), nn.BatchNorm1d(12), nn.ReLU(), nn.AvgPool1d(2), nn.Flatten(1),
                         nn.Linear(72, 5), nn.LogSoftmax(dim=-1))


class Vocoder(nn.Module):
    """Transposed one-dimensional convolutions up to a waveform, with weight norm."""

    def __init__(self):
        super().__init__()
        self.enter = nn.utils.parametrizations.weight_norm(nn.Conv1d(6, 12, 7, padding=3))
        self.up = nn.ConvTranspose1d(12, 6, 8, stride=4, padding=2)
        self.leave = nn.Conv1d(6, 1, 7, padding=3)

    def forward(self, mel):
        return torch.tanh(self.leave(F.leaky_relu(self.up(F.leaky_relu(self.enter(mel), 0.1)), 0.1)))
