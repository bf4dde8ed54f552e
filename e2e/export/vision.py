# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional networks, small by configuration."""

import torch
from torch import nn
from torch.nn import functional as F


class SmallCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)
        x = F.relu(self.conv2(x)).mean(dim=(2, 3))
        return self.head(x)
