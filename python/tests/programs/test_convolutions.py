# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions by Winograd's method are as exact as all else: no further from f64 than twice as far as eager PyTorch."""
import pytest
import tilewright
import torch
from torch import nn


@pytest.mark.parametrize("channels, size", [(64, 28), (100, 28), (128, 28), (256, 14), (512, 7)])
@pytest.mark.parametrize("inputs", [torch.relu, torch.nn.Identity(), lambda x: torch.exp(2 * x)])
def test_transformed_products_are_exact(channels, size, inputs):
    torch.manual_seed(channels)
    convolution = nn.Conv2d(channels, 64, 3, padding=1, bias=False).eval()
    x = inputs(torch.randn(1, channels, size, size))
    program = tilewright.compile(convolution, (x,))
    assert "evaluated at compile time" in str(program.report)  # the transformed filters
    with torch.no_grad():
        exact = nn.functional.conv2d(x.double(), convolution.weight.double(), padding=1)
        eager = convolution(x)
    def distance(y):
        return (y.double() - exact).abs().max() / exact.abs().max()
    assert distance(torch.as_tensor(program(x))) <= max(2 * distance(eager), 4 * 2**-23)
