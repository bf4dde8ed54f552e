# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of convolutions: of filters, which are a product for each tap, and of inputs."""
import copy

import pytest
import torch
from torch import nn

from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")

# Our distance from f64 may be twice PyTorch's; that of some hundred terms is a matter of luck below so many roundings.
FACTOR, FLOOR = 2, 16 * torch.finfo(torch.float32).eps


def gradients(module, x, weights):
    x = x.detach().requires_grad_()
    (module(x) * weights).sum().backward()
    return [x.grad, *(parameter.grad for parameter in module.parameters())]


def check(module, *sizes, dynamic=False):
    """Compares gradients for inputs of these sizes with those in f64, and with how far eager PyTorch's are."""
    exact = copy.deepcopy(module).double()
    eager = copy.deepcopy(module)
    compiled = torch.compile(module, backend=backend, dynamic=dynamic, fullgraph=True)
    for size in sizes:
        x = torch.randn(size)
        weights = torch.randn(eager(x).shape)
        for each in (module, eager, exact):
            each.zero_grad()
        expected = gradients(exact, x.double(), weights.double())
        theirs, ours = gradients(eager, x, weights), gradients(compiled, x, weights)
        for number, (a, b, e) in enumerate(zip(ours, theirs, expected, strict=True)):
            allowed = max(FACTOR * (b - e).abs().max().item(), FLOOR * e.abs().max().item())
            assert (a - e).abs().max().item() <= allowed, (size, number)
            assert a.stride() == b.stride()


@pytest.mark.parametrize("options", [
    {}, {"padding": 1}, {"stride": 2, "padding": 1}, {"stride": (1, 2), "padding": (0, 2)}, {"dilation": 2, "padding": 2},
    {"stride": 3, "dilation": 2, "padding": 1}, {"padding": "same", "dilation": (1, 3)}, {"groups": 2, "padding": 1},
    {"groups": 4, "stride": 2}, {"bias": False, "kernel_size": (1, 5), "padding": (0, 4)}, {"kernel_size": 2, "stride": 2}],
    ids=lambda options: ",".join(f"{name}={value}" for name, value in options.items()) or "plain")
def test_windows(options):
    check(nn.Conv2d(16, 40, **{"kernel_size": 3, **options}), (3, 16, 13, 17))


@pytest.mark.parametrize("module, size", [
    (nn.Conv1d(24, 16, 5, stride=2, padding=2), (4, 24, 331)), (nn.Conv1d(8, 8, 3), (1, 8, 1021)),
    (nn.Conv3d(8, 24, 3, padding=1), (2, 8, 5, 6, 7)), (nn.Conv3d(8, 8, (1, 3, 2), stride=(1, 2, 1)), (2, 8, 3, 9, 8)),
    (nn.Conv2d(16, 16, 3), (16, 11, 12))], ids=["1d", "1d long", "3d", "3d strides", "no batch"])
def test_ranks(module, size):
    check(module, size)


@pytest.mark.parametrize("channels", [(1, 8), (3, 20), (7, 9), (16, 3), (130, 70)])
def test_channels(channels):
    """Few of them, and so many that programs have a part."""
    check(nn.Conv2d(*channels, 3, padding=1), (2, channels[0], 9, 10))


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise(multiplier):
    check(nn.Conv2d(12, 12 * multiplier, 3, padding=1, groups=12), (2, 12, 9, 10))


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1, "output_padding": 1}, {"dilation": 2}, {"groups": 2, "stride": 2}],
                         ids=["plain", "strides", "dilation", "groups"])
def test_transposed(options):
    check(nn.ConvTranspose2d(16, 24, 3, **options), (2, 16, 9, 10))


def test_long_sums():
    """Of 40,000 terms, added up in parts."""
    check(nn.Conv2d(8, 8, 3, padding=1), (4, 8, 100, 100))


def test_small_images():
    """With windows as large as what they move over, and larger."""
    check(nn.Conv2d(16, 16, 3, padding=1), (3, 16, 1, 1))
    check(nn.Conv2d(16, 16, 3, padding=1), (3, 16, 2, 3))
    for size in ((4, 6, 6), (2, 4, 6, 6)):
        check(nn.Conv2d(4, 4, 3, stride=(3, 2), groups=4), size)
        check(nn.Conv2d(4, 8, 3, stride=(3, 2), groups=4), size)


def test_any_batch():
    check(nn.Conv2d(16, 24, 3, padding=1), (2, 16, 8, 9), (5, 16, 8, 9), (3, 16, 8, 9), dynamic=True)


def test_any_sizes():
    check(nn.Conv2d(16, 24, 3, stride=2, padding=1), (2, 16, 8, 9), (5, 16, 17, 12), (3, 16, 30, 31), dynamic=True)


def test_bf16():
    conv = nn.Conv2d(32, 64, 3, padding=1)
    exact, x, weights = copy.deepcopy(conv).double(), torch.randn(2, 32, 14, 14), torch.randn(2, 64, 14, 14)
    half = conv.bfloat16()
    compiled = torch.compile(half, backend=backend, fullgraph=True)
    ours = gradients(compiled, x.bfloat16(), weights.bfloat16())
    expected = gradients(exact, x.double(), weights.double())
    for a, e in zip(ours, expected, strict=True):
        assert (a - e).abs().max().item() <= 2e-2 * e.abs().max().item()
