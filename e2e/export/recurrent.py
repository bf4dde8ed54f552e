# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent networks."""

from torch import nn


class Lstm(nn.Module):
    """All outputs and the final state of a recurrent layer."""

    def __init__(self, kind=nn.LSTM, **options):
        super().__init__()
        self.layer = kind(8, 12, **options)

    def forward(self, x):
        return self.layer(x)
