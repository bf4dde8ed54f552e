# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks of linear layers."""

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    """28x28 images to ten classes: flatten, linear, relu."""

    def __init__(self, hidden: int = 0):
        super().__init__()
        self.flatten = nn.Flatten()
        self.hidden = nn.Linear(784, hidden) if hidden else nn.Identity()
        self.linear = nn.Linear(hidden or 784, 10)

    def forward(self, x):
        x = self.flatten(x)
        return F.relu(self.linear(F.relu(self.hidden(x)) if not isinstance(self.hidden, nn.Identity) else x))


class Toy(nn.Module):
    """relu((a @ b^T).float() @ v), the product in half precision."""

    def forward(self, a, b, v):
        return torch.relu((a @ b.t()).to(torch.float32) @ v)


class SmallMlp(nn.Module):
    """sigmoid(relu(x W1 + b1) W2 + b2): the whole network is worth one kernel."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 8)

    def forward(self, x):
        return torch.sigmoid(self.second(torch.relu(self.first(x))))
