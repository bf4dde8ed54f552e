# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers in torch.compile are those of eager PyTorch, and so is the generator afterwards."""
import pytest
import torch
from torch import nn

from compare import check, check_training

pytestmark = pytest.mark.usefixtures("fresh")


@pytest.mark.parametrize("f", [
    lambda x: nn.functional.dropout(x, 0.3) * 2, lambda x: x + torch.rand(4, 6),
    lambda x: torch.randn_like(x) + torch.rand_like(x), lambda x: x.clone().uniform_(-1, 1),
    lambda x: torch.randint(0, 9, (x.shape[0],)), lambda x: torch.bernoulli(torch.full_like(x, 0.4)) + x,
    lambda x: nn.functional.dropout(torch.rand(4, 6) + x, 0.5) + torch.randn(6),
])
def test_random_numbers_are_those_of_eager(f):
    check(f, torch.randn(4, 6), eager=["maybe"])


def test_random_numbers_with_dynamic_sizes():
    check(lambda x: nn.functional.dropout(x, 0.3) + torch.rand(x.shape[0], 1), torch.randn(5, 3), dynamic=True,
          again=[(torch.randn(7, 3),)])


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout_between_draws(p):
    """All of a tensor is dropped without a draw, so what comes after is as in eager PyTorch."""
    check(lambda x: (nn.functional.dropout(x, p) + 1, nn.functional.dropout(x, 0.5), torch.rand_like(x)), torch.randn(6, 7))
    check_training(nn.Sequential(nn.Linear(5, 6), nn.Dropout(p), nn.Linear(6, 7), nn.Dropout(0.5)), torch.randn(4, 5))
