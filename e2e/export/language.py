# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Features of exported programs rather than networks: state, control flow, symbols, odd weights."""

import torch
from torch import nn
from torch.nn import functional as F


class Counter(nn.Module):
    """A second call sees the state of the first."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.calls += 1
        self.total.add_(x.sum(dim=0))
        return self.total / self.calls, self.calls.clone()


class MovingNorm(nn.Module):
    """Batch norm in training mode updates its running statistics without saying so."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.linear = nn.Linear(6, 3)

    def forward(self, x):
        return self.linear(self.norm(x)), self.norm.running_mean.clone()


class Ring(nn.Module):
    """A buffer of recent rows, written through a view at a position that is data."""

    def __init__(self, length: int = 5):
        super().__init__()
        self.length = length
        self.register_buffer("rows", torch.zeros(length, 3))
        self.register_buffer("at", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.rows.index_copy_(0, (self.at % self.length).reshape(1), x)
        self.rows[:, 0] += 1
        self.at.add_(1)
        return self.rows.mean(dim=0)


class InputMutation(nn.Module):
    """Writes to parts of its inputs."""

    def forward(self, x, y):
        x[:, 1:3].mul_(2)
        y += x.sum(dim=0)
        x[0] = y
        return x.sum(), y * 2


class Cond(nn.Module):
    """torch.cond on a tensor predicate, with captured weights."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.a(x).relu(), lambda x: self.b(x) * 2 - 1, (x,))


class CondShape(nn.Module):
    """torch.cond on a size."""

    def forward(self, x):
        return torch.cond(x.shape[0] > 4, lambda x: x.cos() + 1, lambda x: x.sin() - 1, (x,))


class TiedWeights(nn.Module):
    """An embedding that is also the output layer, and a view of a part of it."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 20, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        return self.head(torch.tanh(x.mean(dim=1)))


class WeightViews(nn.Module):
    """Parameters that are strided, offset and expanded views of one storage."""

    def __init__(self):
        super().__init__()
        storage = torch.randn(6, 10)
        self.transposed = nn.Parameter(storage.t(), requires_grad=False)
        self.offset = nn.Parameter(storage[2:5, 1:9:2], requires_grad=False)
        self.expanded = nn.Parameter(torch.randn(1, 4).expand(3, 4), requires_grad=False)
        self.register_buffer("column", storage[:, 3])

    def forward(self, x):
        return x @ self.transposed.t(), self.offset + self.expanded * x[:3, :4], self.column * 2


class Sizes(nn.Module):
    """Sizes that are computed from two symbols."""

    def forward(self, x, y):
        rows, columns = x.shape
        joined = torch.cat([x, y], dim=0)
        grid = torch.arange(rows * columns, dtype=torch.float32).view(rows, columns) / (rows + 1)
        return joined.reshape(-1)[: rows * 2], x * grid, joined.sum(dim=0) * (joined.shape[0] - rows)


class DerivedSize(nn.Module):
    """Pairs of neighbours: the length is known to be even."""

    def forward(self, x):
        pairs = x.view(x.shape[0], -1, 2)
        return pairs[..., 0] - pairs[..., 1], x.shape[1] // 2


class IntInput(nn.Module):
    """A Python integer as an input, and an integer output."""

    def forward(self, x, n: int):
        return x * n + n, n


class Checks(nn.Module):
    """Data-dependent assertions that hold."""

    def forward(self, x, start):
        n = start.item()
        torch._check(n >= 0)
        torch._check(n < 4)
        return x.narrow(0, n, 2) * 2 + n


class NestedOutputs(nn.Module):
    """Dictionaries, tuples and lists in and out; an input that is returned; a constant output."""

    def __init__(self):
        super().__init__()
        self.constant = torch.tensor([1.0, 2.0, 3.0])

    def forward(self, x, y):
        return {"sum": x + y, "pair": (x * self.constant, [y, x]), "constant": self.constant}


class Quantised(nn.Module):
    """Integer weights with scales, dequantised in the graph."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-128, 128, (12, 16), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(12, 1) * 0.02)
        self.register_buffer("packed", torch.randint(0, 256, (8, 6), dtype=torch.uint8))

    def forward(self, x):
        x = F.linear(x, self.weight.to(torch.float32) * self.scale)
        low = (self.packed & 15).to(torch.int8) - 8
        high = (self.packed >> 4).to(torch.int8) - 8
        return F.linear(x, torch.stack([low, high], dim=-1).flatten(1).to(torch.float32) * 0.05)


class SgdStep(nn.Module):
    """Linear regression whose weights are updated inside the graph, by hand-written gradients."""

    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.randn(5, 1) * 0.1)
        self.register_buffer("b", torch.zeros(1))

    def forward(self, x, y):
        error = x @ self.w + self.b - y
        self.w -= 0.1 * (x.t() @ error) / x.shape[0]
        self.b -= 0.1 * error.mean(dim=0)
        return (error**2).mean()


class AdamWStep(nn.Module):
    """A step of AdamW (Loshchilov and Hutter 2019) on a parameter that the caller holds."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(40, 30))
        self.register_buffer("square", torch.zeros(40, 30))
        self.register_buffer("step", torch.zeros(()))

    def forward(self, parameter, gradient):
        self.step.add_(1)
        self.mean.mul_(0.9).add_(gradient, alpha=0.1)
        self.square.mul_(0.99).addcmul_(gradient, gradient, value=0.01)
        mean = self.mean / (1 - 0.9**self.step)
        root = (self.square / (1 - 0.99**self.step)).sqrt() + 1e-6
        parameter.mul_(1 - 1e-2 * 0.1).addcdiv_(mean, root, value=-1e-2)
        return gradient.abs().max()


class MaskedCache(nn.Module):
    """A row of a cache, found by comparing positions."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 9, 6))

    def forward(self, x, position):
        here = (torch.arange(9) == position)[None, :, None]
        self.rows.copy_(torch.where(here, x[:, None], self.rows))
        return self.rows.sum(dim=1)
