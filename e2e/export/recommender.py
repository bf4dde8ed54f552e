# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recommendation models."""

import torch
from torch import nn
from torch.nn import functional as F


def mlp(sizes, last=None) -> nn.Sequential:
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1], *([last] if last else []))


class Dlrm(nn.Module):
    """Dense features and hashed categories; the vectors interact by dot products ("dot") or by the
    flattened outer product of the joined vector with itself ("outer")."""

    def __init__(self, interaction: str, rows: int = 10, features: int = 26, width: int = 16,
                 bottom=(512, 256, 64), top=(512, 256)):
        super().__init__()
        self.interaction, self.rows = interaction, rows
        self.bottom = mlp((13, *bottom, width), nn.ReLU())
        self.tables = nn.ModuleList([nn.Embedding(rows, width) for _ in range(features)])
        count = features + 1
        inputs = width + count * (count - 1) // 2 if interaction == "dot" else (count * width) ** 2
        self.top = mlp((inputs, *top, 1))
        row, column = torch.tril_indices(count, count, offset=-1)
        self.register_buffer("row", row)
        self.register_buffer("column", column)

    def forward(self, dense, ids):
        x = self.bottom(dense)
        slots = (ids + 1) % self.rows
        vectors = [x] + [table(slots[:, i]) for i, table in enumerate(self.tables)]
        if self.interaction == "dot":
            stacked = torch.stack(vectors, dim=1)
            products = torch.bmm(stacked, stacked.transpose(1, 2))
            joined = torch.cat([x, products[:, self.row, self.column]], dim=1)
        else:
            flat = torch.cat(vectors, dim=1)
            joined = torch.bmm(flat[:, :, None], flat[:, None, :]).flatten(1)
        return torch.sigmoid(self.top(joined)).squeeze(1)


SMALL = {"features": 5, "width": 4, "bottom": (24, 12), "top": (16, 8)}


def dlrm_dot():
    return Dlrm("dot", **SMALL)


def dlrm_outer():
    return Dlrm("outer", **SMALL)


def dlrm_dot_full():
    return Dlrm("dot", rows=1000)


class DlrmLoss(nn.Module):
    """The loss of a training step."""

    def __init__(self, interaction: str):
        super().__init__()
        self.model = Dlrm(interaction, **SMALL)

    def forward(self, dense, ids, label):
        return F.binary_cross_entropy(self.model(dense, ids), label)


def dlrm_loss():
    return DlrmLoss("dot")


def dlrm_outer_loss():
    return DlrmLoss("outer")


class TwoTower(nn.Module):
    """Users are bags of items; scores are cosine similarities."""

    def __init__(self):
        super().__init__()
        self.users = nn.EmbeddingBag(30, 8, mode="mean")
        self.items = nn.Embedding(30, 8)
        self.project = nn.Linear(8, 8)

    def forward(self, history, offsets, items):
        user = self.project(self.users(history, offsets))
        item = self.project(self.items(items))
        return F.cosine_similarity(user[:, None], item[None], dim=-1)


class DeepFm(nn.Module):
    """Factorisation machine and a deep network on shared embeddings."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(40, 6)
        self.linear = nn.Embedding(40, 1)
        self.deep = nn.Sequential(nn.Linear(24, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, fields):
        vectors = self.embedding(fields)
        pairs = 0.5 * (vectors.sum(1).square() - vectors.square().sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(self.linear(fields).sum(1) + pairs + self.deep(vectors.flatten(1)))
