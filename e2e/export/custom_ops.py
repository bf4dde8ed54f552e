# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that call operators of a library of their own, implemented by examples/kernels."""

import torch
from torch import nn
from torch.nn import functional as F


@torch.library.custom_op("mylib::softmax", mutates_args=())
def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, 1)


@torch.library.custom_op("mylib::gemm", mutates_args=())
def gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b.t()


@torch.library.custom_op("mylib::layer_norm", mutates_args=())
def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    return F.layer_norm(x, x.shape[1:], weight, bias, eps)


softmax.register_fake(torch.empty_like)
gemm.register_fake(lambda a, b: a.new_empty(a.shape[0], b.shape[0]))
layer_norm.register_fake(lambda x, weight, bias, eps: torch.empty_like(x))


class Head(nn.Module):
    """The model of docs/calling-kernels.md."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(20, 48)

    def forward(self, x):
        return torch.ops.mylib.softmax(self.linear(x)) * 2.0


class CustomOps(nn.Module):
    """Hand-written kernels between linear layers: biases and activations fuse into either."""

    def __init__(self, width: int = 48):
        super().__init__()
        self.linear = nn.Linear(20, width)
        self.weight = nn.Parameter(torch.randn(24, width) / 8)
        self.bias = nn.Parameter(torch.randn(24))
        self.norm = nn.LayerNorm(24)

    def forward(self, x):
        attention = torch.ops.mylib.softmax(self.linear(x))
        y = F.relu(torch.ops.mylib.gemm(attention, self.weight) + self.bias)
        return torch.ops.mylib.layer_norm(y, self.norm.weight, self.norm.bias, 1e-5) * 2.0
