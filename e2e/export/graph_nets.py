# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graph networks on edge lists: messages are gathered, transformed and scattered."""

import torch
from torch import nn
from torch.nn import functional as F


class GcnLayer(nn.Module):
    """Symmetric normalisation, messages by scatter_add."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x, edges):
        source, target = edges
        loops = torch.arange(x.shape[0])
        source, target = torch.cat([source, loops]), torch.cat([target, loops])
        degree = torch.zeros(x.shape[0]).scatter_add_(0, target, torch.ones(target.shape[0]))
        scale = degree.pow(-0.5).masked_fill(degree == 0, 0.0)
        messages = self.linear(x)[source] * (scale[source] * scale[target])[:, None]
        out = torch.zeros(x.shape[0], messages.shape[1])
        out.scatter_add_(0, target[:, None].expand_as(messages), messages)
        return out + self.bias


class Gcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GcnLayer(5, 16)
        self.second = GcnLayer(16, 3)

    def forward(self, x, edges):
        return F.log_softmax(self.second(F.relu(self.first(x, edges)), edges), dim=1)


class Gat(nn.Module):
    """Attention over the edges that end in a node, by scatter_reduce."""

    def __init__(self, heads: int = 2, width: int = 6):
        super().__init__()
        self.heads = heads
        self.linear = nn.Linear(5, heads * width, bias=False)
        self.source = nn.Parameter(torch.randn(heads, width) * 0.3)
        self.target = nn.Parameter(torch.randn(heads, width) * 0.3)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        h = self.linear(x).unflatten(-1, (self.heads, -1))
        score = F.leaky_relu((h * self.source).sum(-1)[source] + (h * self.target).sum(-1)[target], 0.2)
        where = target[:, None].expand_as(score)
        peak = score.new_full((x.shape[0], self.heads), -1e9).scatter_reduce(0, where, score, "amax")
        weight = (score - peak[target]).exp()
        total = score.new_zeros(x.shape[0], self.heads).index_add(0, target, weight)
        weight = weight / (total[target] + 1e-16)
        out = h.new_zeros(h.shape).index_add(0, target, h[source] * weight[..., None])
        return F.elu(out.flatten(1))


class Sage(nn.Module):
    """Mean of the neighbours, then a pooled graph embedding by batch index."""

    def __init__(self):
        super().__init__()
        self.own = nn.Linear(5, 12)
        self.neighbour = nn.Linear(5, 12)
        self.head = nn.Linear(12, 2)

    def forward(self, x, edges, graph):
        where = edges[1][:, None].expand(-1, x.shape[1])
        mean = torch.zeros_like(x).scatter_reduce(0, where, x[edges[0]], "mean", include_self=False)
        h = F.normalize(F.relu(self.own(x) + self.neighbour(mean)), dim=-1)
        pooled = torch.zeros(3, 12).index_put((graph,), h, accumulate=True)
        return self.head(pooled)


class Gin(nn.Module):
    """Sums over a dense adjacency matrix."""

    def __init__(self):
        super().__init__()
        self.eps = nn.Parameter(torch.tensor(0.1))
        self.mlp = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 4))

    def forward(self, x, adjacency):
        for _ in range(2):
            x = self.mlp((1 + self.eps) * x + torch.bmm(adjacency.float(), x))
        return x.sum(dim=1)
