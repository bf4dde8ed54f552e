# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks of linear layers and elementwise chains."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    """28x28 images to ten classes: flatten, linear, relu."""

    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return F.relu(self.linear(self.flatten(x)))


def readme():
    """The model of README.md."""
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


class ClassifierText(nn.Module):
    """What programs/classifier_step computes."""

    def forward(self, weight, bias, x):
        x = x.view(16, 784)
        y = torch.relu(x @ weight.t() + bias)
        return y, x, y


class Toy(nn.Module):
    """relu((a @ b^T).float() @ v), the product in half precision."""

    def forward(self, a, b, v):
        return torch.relu((a @ b.t()).to(torch.float32) @ v)


class ManyRowsMlp(nn.Module):
    """Layers of many rows and few columns: one kernel, whose last program has fewer rows. A hidden layer is a result."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(24, 40)
        self.second = nn.Linear(40, 24)
        self.third = nn.Linear(24, 8)

    def forward(self, x):
        hidden = F.relu(self.first(x))
        return self.third(F.relu(self.second(hidden))), hidden


class SmallMlp(nn.Module):
    """sigmoid(relu(x W1 + b1) W2 + b2): the whole network is worth one kernel."""

    def __init__(self, dtype=torch.float32):
        super().__init__()
        self.first = nn.Linear(16, 32, dtype=dtype)
        self.second = nn.Linear(32, 8, dtype=dtype)

    def forward(self, x):
        return torch.sigmoid(self.second(torch.relu(self.first(x))))


class WideMlp(nn.Module):
    """linear, GELU, linear in bfloat16, wide enough for weights in panels of pairs."""

    def __init__(self, dtype=torch.bfloat16):
        super().__init__()
        self.first = nn.Linear(32, 128, dtype=dtype)
        self.second = nn.Linear(128, 64, dtype=dtype)

    def forward(self, x):
        return self.second(nn.functional.gelu(self.first(x)))


class LinearChain(nn.Module):
    """Linears of f16, each of which depends on the one before: launches that overlap on a GPU. They keep the length of
    what they are given, so that a wrong result of the first one shows in that of the last; biases make each another one,
    while two weights keep the file small."""

    def __init__(self, width: int = 256, count: int = 16):
        super().__init__()
        self.weights = nn.ParameterList(nn.init.orthogonal_(torch.empty(width, width)).half() for _ in range(2))
        self.biases = nn.ParameterList((0.1 * torch.randn(width)).half() for _ in range(count))

    def forward(self, x):
        for index, bias in enumerate(self.biases):
            x = F.linear(x, self.weights[index % 2], bias)
        return x


class LoraLinear(nn.Module):
    """linear + scale * (x A^T) B^T."""

    def __init__(self, inputs: int, outputs: int, rank: int = 16, scale: float = 0.5):
        super().__init__()
        self.base = nn.Linear(inputs, outputs)
        self.a = nn.Parameter(torch.randn(rank, inputs) / math.sqrt(inputs))
        self.b = nn.Parameter(torch.randn(outputs, rank) / math.sqrt(rank))
        self.scale = scale

    def forward(self, x):
        return self.base(x) + self.scale * ((x @ self.a.t()) @ self.b.t())


class GatedLinearUnit(nn.Module):
    """One product whose halves are multiplied, the second one through an activation."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(24, 192), nn.Linear(96, 24)

    def forward(self, x):
        value, gate = self.up(x).chunk(2, dim=-1)
        return self.down(value * torch.nn.functional.gelu(gate))


class LoraMlp(nn.Module):
    def __init__(self, width: int = 32):
        super().__init__()
        self.layers = nn.ModuleList([LoraLinear(width, 2 * width), LoraLinear(2 * width, width), LoraLinear(width, 4)])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


class BiasRelu(nn.Module):
    def forward(self, x, bias):
        return torch.relu(x + bias)


class ActivationChain(nn.Module):
    """activation(multiplier * given + x + bias), written in place into x."""

    def __init__(self, width: int, activation: str):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.activation = activation

    def forward(self, given, x):
        x.copy_(getattr(torch, self.activation)(1.5 * given + x + self.bias))
        return x * 2


class SoftmaxAfterLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 64)

    def forward(self, x):
        return torch.softmax(self.linear(x), dim=-1)


class Nerf(nn.Module):
    """Positional encoding and an MLP with a skip connection; colour and density of points."""

    def __init__(self, width: int = 32, octaves: int = 4):
        super().__init__()
        self.register_buffer("octaves", 2.0 ** torch.arange(octaves))
        encoded = 3 + 6 * octaves
        self.first = nn.ModuleList([nn.Linear(encoded, width), nn.Linear(width, width)])
        self.second = nn.ModuleList([nn.Linear(width + encoded, width), nn.Linear(width, width)])
        self.density = nn.Linear(width, 1)
        self.colour = nn.Sequential(nn.Linear(width + 3, width // 2), nn.ReLU(), nn.Linear(width // 2, 3), nn.Sigmoid())

    def forward(self, points, directions):
        angles = (points[..., None, :] * self.octaves[:, None]).flatten(-2)
        encoded = torch.cat([points, angles.sin(), angles.cos()], dim=-1)
        x = encoded
        for layer in self.first:
            x = F.relu(layer(x))
        x = torch.cat([x, encoded], dim=-1)
        for layer in self.second:
            x = F.relu(layer(x))
        return self.colour(torch.cat([x, directions], dim=-1)), F.softplus(self.density(x)).squeeze(-1)


class DeepSets(nn.Module):
    """A function of sets of any size, with a mask for padding."""

    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(4, 24), nn.ELU(), nn.Linear(24, 24))
        self.rho = nn.Sequential(nn.Linear(48, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, x, mask):
        x = self.phi(x)
        total = torch.where(mask[..., None], x, 0.0).sum(dim=1)
        peak = x.masked_fill(~mask[..., None], -1e4).amax(dim=1)
        return self.rho(torch.cat([total / mask.sum(dim=1, keepdim=True).clamp(min=1), peak], dim=-1))


class Coupling(nn.Module):
    """Four affine coupling layers of a normalising flow, with the log determinant."""

    def __init__(self, width: int = 6):
        super().__init__()
        self.nets = nn.ModuleList(
            [nn.Sequential(nn.Linear(width // 2, 16), nn.LeakyReLU(0.1), nn.Linear(16, width)) for _ in range(4)])

    def forward(self, x):
        logdet = x.new_zeros(x.shape[0])
        for net in self.nets:
            kept, moved = x.chunk(2, dim=1)
            scale, shift = net(kept).chunk(2, dim=1)
            scale = torch.tanh(scale)
            x = torch.cat([moved * scale.exp() + shift, kept], dim=1)
            logdet = logdet + scale.sum(dim=1)
        prior = -0.5 * (x**2 + math.log(2 * math.pi)).sum(dim=1)
        return x, prior + logdet


class MixerBlock(nn.Module):
    """An MLP-Mixer block in bfloat16."""

    def __init__(self, tokens: int = 8, width: int = 16, dtype=torch.bfloat16):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, dtype=dtype)
        self.tokens = nn.Sequential(nn.Linear(tokens, 16, dtype=dtype), nn.GELU(), nn.Linear(16, tokens, dtype=dtype))
        self.norm2 = nn.LayerNorm(width, dtype=dtype)
        self.channels = nn.Sequential(nn.Linear(width, 32, dtype=dtype), nn.GELU(), nn.Linear(32, width, dtype=dtype))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))
