# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for few rows, which calls choose: each gives what the one for any number of rows gives."""
import pytest
import torch
from torch import nn
from torch.export import Dim

import tilewright

ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 63, 64, 65, 100)


class Block(nn.Module):
    """A product with what is fused to it on both sides."""

    def __init__(self, dtype):
        super().__init__()
        self.up = nn.Linear(64, 144, dtype=dtype)
        self.down = nn.Linear(144, 40, bias=False, dtype=dtype)

    def forward(self, x):
        return torch.tanh(self.down(nn.functional.gelu(self.up(x)))) + x[..., :40]


def variants_of(program):
    """For each kernel of the program, the sizes up to which it has variants."""
    return [dispatch["variants"] for dispatch in program.report.dispatches]


@pytest.mark.parametrize("target", ["cpu", "cpu:x86-64-v3"])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.float64, 1e-12), (torch.bfloat16, 2e-2)])
def test_any_number_of_rows(target, dtype, tolerance):
    torch.manual_seed(1)
    model = Block(dtype).eval()
    program = tilewright.compile(model, (torch.randn(3, 64, dtype=dtype),), target=target, threads=2,
                                 dynamic_shapes=({0: Dim("rows", min=0, max=4096)},))
    assert any(sizes and sizes[0] == 1 for sizes in variants_of(program)), program.report
    for rows in ROWS:
        x = torch.randn(rows, 64, dtype=dtype)
        torch.testing.assert_close(program(x), model(x), rtol=tolerance, atol=tolerance)


def test_no_rows():
    model = Block(torch.float32).eval()
    program = tilewright.compile(model, (torch.randn(3, 64),), dynamic_shapes=({0: Dim("rows", min=0, max=4096)},))
    assert program(torch.randn(0, 64)).shape == (0, 40)


def test_rows_of_several_dimensions():
    """The rows are what two sizes of the input make together."""
    model = Block(torch.float32).eval()
    program = tilewright.compile(model, (torch.randn(3, 5, 64),),
                                 dynamic_shapes=({0: Dim("batch", min=1, max=64), 1: Dim("length", min=1, max=64)},))
    for batch, length in ((1, 1), (1, 6), (2, 3), (7, 1), (3, 5), (8, 9)):
        x = torch.randn(batch, length, 64)
        torch.testing.assert_close(program(x), model(x), rtol=1e-5, atol=1e-5)


def test_static_rows_have_none():
    program = tilewright.compile(Block(torch.float32).eval(), (torch.randn(3, 64),))
    assert not any(variants_of(program))


class GivenWeights(nn.Module):
    """Layers whose weights are inputs, as torch.compile hands them over: [N, K] and [K, N]."""

    def forward(self, x, up, down):
        return torch.relu(nn.functional.linear(x, up)) @ down


@pytest.mark.parametrize("target", ["cpu", "cpu:x86-64-v3"])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 2e-5), (torch.float64, 1e-12), (torch.bfloat16, 3e-2)])
def test_weights_that_are_inputs(target, dtype, tolerance):
    torch.manual_seed(2)
    up, down = torch.randn(320, 288, dtype=dtype) / 17, torch.randn(320, 100, dtype=dtype) / 18
    program = tilewright.compile(GivenWeights(), (torch.randn(3, 288, dtype=dtype), up, down), target=target, threads=2,
                                 dynamic_shapes=({0: Dim("rows", min=0, max=4096)}, {}, {}))
    # Nothing copies a weight as a whole.
    assert len(program.report.dispatches) == 2, program.report
    for rows in (*ROWS, 0, 127, 191, 193, 200, 385):
        x = torch.randn(rows, 288, dtype=dtype)
        torch.testing.assert_close(program(x, up, down), GivenWeights()(x, up, down), rtol=tolerance, atol=tolerance)
