# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions where their values are tiny, and at infinity."""
import math

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


@pytest.mark.parametrize("q, expected", [(1.0, 1.0), (0.5, math.inf), (2.0, 0.0), (1e300, 0.0), (-1.5, math.inf), (0.0, math.inf),
                                         (math.nan, math.nan), (math.inf, math.nan)])
@pytest.mark.parametrize("x", [math.inf, 1e300, 1e20])
def test_zeta_far_right(x, q, expected):
    """Of the sum of (q + k)^-x nothing is left but powers of numbers up to 1."""
    class Zeta(torch.nn.Module):
        def forward(self, x, q):
            return torch.special.zeta(x, q)

    given = torch.full((3,), x, dtype=torch.float64), torch.full((3,), q, dtype=torch.float64)
    assert torch.equal(tilewright.compile(Zeta(), given)(*given).nan_to_num(7, 8), torch.full((3,), expected).double().nan_to_num(7, 8))


def test_lgamma_at_its_poles_and_next_to_0():
    class LogGamma(torch.nn.Module):
        def forward(self, x):
            return torch.lgamma(x)

    x = torch.tensor([5e-324, -5e-324, 1e-310, 0.0, -0.0, -1.0, -170.0, -1e16, -1.7e308, -0.5, -2.5, 0.3, 1e300], dtype=torch.float64)
    torch.testing.assert_close(tilewright.compile(LogGamma(), (x,))(x), torch.lgamma(x), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_odd_functions_keep_the_sign_of_0(dtype):
    names = ["tanh", "sin", "tan", "sinh", "asin", "atan", "asinh", "atanh", "erf", "expm1", "log1p", "sqrt", "round", "erfinv"]

    class Odd(torch.nn.Module):
        def forward(self, x):
            return [getattr(torch, name)(x) for name in names]

    x = torch.tensor([-0.0, 0.0] * 40, dtype=dtype)
    for name, y in zip(names, tilewright.compile(Odd(), (x,))(x), strict=True):
        assert torch.equal(y.signbit(), x.signbit()) and not y.count_nonzero(), name
