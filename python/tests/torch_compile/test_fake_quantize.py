# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fake quantization, of which op_db has no samples: values, masks and gradients as in eager PyTorch. (With dynamic sizes
torch itself refuses to trace it.)"""
import pytest
import torch

import tilewright.torch
from compare import check, tensors
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")
aten = torch.ops.aten

SCALES, ZEROS = torch.tensor([0.1, 0.25, 0.5]), torch.tensor([3, 0, 7], dtype=torch.int32)
ONE_SCALE, ONE_ZERO = SCALES[:1], ZEROS[:1]
CALLS = {
    "per tensor": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 31),
    "from tensors": lambda x: torch.fake_quantize_per_tensor_affine(x, ONE_SCALE, ONE_ZERO, 0, 31),
    "per channel": lambda x: torch.fake_quantize_per_channel_affine(x, SCALES, ZEROS, 1, -8, 7),
    "zero points of floats": lambda x: torch.fake_quantize_per_channel_affine(x, SCALES, ZEROS + 0.5, 1, -8, 8),
    "with its mask": lambda x: aten.fake_quantize_per_channel_affine_cachemask(x, SCALES, ZEROS, 1, 0, 15),
    "switched off": lambda x: aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        x, ONE_SCALE, ONE_ZERO, torch.tensor([0]), 0, 15),
}


@pytest.mark.parametrize("name, dtype", [
    *((name, torch.float32) for name in CALLS), ("per tensor", torch.bfloat16), ("per tensor", torch.float64),
    ("per channel", torch.float16), ("zero points of floats", torch.float64)])
def test_values(name, dtype):
    check(CALLS[name], (torch.randn(5, 3, 4) * 2).to(dtype).transpose(0, 2))


def test_it_is_compiled():
    x, words = torch.randn(4, 3, 5), "fake quantization with scales that are learnt or observed is not supported"
    said = tilewright.torch.explain(lambda x: [each for call in CALLS.values() for each in tensors(call(x))], x)
    assert len(said.graphs[0].programs) == 1 and not said.eager
    said = tilewright.torch.explain(
        lambda x: torch._fake_quantize_learnable_per_tensor_affine(x, ONE_SCALE, ONE_ZERO.float(), 0, 15), x)
    assert len(said.eager) == 1 and words in said.eager[0]


def test_values_at_the_ends():
    def f(x):
        return aten.fake_quantize_per_tensor_affine_cachemask(x, 0.1, 3, 0, 31)

    x = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e30, -1e30, -0.0, 0.05, 0.15, 0.25, 100.0])
    for got, expected in zip(torch.compile(f, backend=backend)(x), f(x), strict=True):
        torch.testing.assert_close(got, expected)
    check(CALLS["per tensor"], torch.empty(0, 3))
    check(CALLS["per tensor"], torch.tensor(2.0))


@pytest.mark.parametrize("name", ["per tensor", "from tensors", "per channel", "zero points of floats"])
def test_gradients(name):
    ours, theirs = (torch.linspace(-9, 9, 60).view(4, 3, 5).clone().requires_grad_() for _ in range(2))
    torch.compile(CALLS[name], backend=backend, fullgraph=True)(ours).square().sum().backward()
    CALLS[name](theirs).square().sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)
    assert 0 < ours.grad.count_nonzero() < 60
