# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions where their values are tiny, and at infinity."""
import pytest
import tilewright
import torch


@pytest.mark.parametrize("name", ["erfcx", "log_ndtr"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_far_arguments(name, dtype):
    class Special(torch.nn.Module):
        def forward(self, x):
            return getattr(torch.special, name)(x)

    far = [float("inf"), 1e30, 1e8, 1e4, 101.0, 100.0, 99.0, 20.0, 3.0, 0.5]
    x = torch.tensor([*far, *(-value for value in far), 0.0, float("nan")], dtype=dtype)
    got, expected = torch.as_tensor(tilewright.compile(Special(), (x,))(x)), Special()(x)
    torch.testing.assert_close(got, expected, rtol=1e-5 if dtype == torch.float32 else 1e-12, atol=0, equal_nan=True)
