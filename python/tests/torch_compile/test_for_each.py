# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators on lists of tensors, which optimizers and the clipping of gradients call."""
import pytest
import torch
from torch import nn

import tilewright.torch
from compare import check, mlp
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")


def unary(xs):
    return [f(xs) for f in (torch._foreach_abs, torch._foreach_exp, torch._foreach_sqrt, torch._foreach_neg,
                            torch._foreach_reciprocal, torch._foreach_sigmoid, torch._foreach_sign)]


def with_numbers(xs):
    return [f(xs, 2.0) for f in (torch._foreach_add, torch._foreach_sub, torch._foreach_mul, torch._foreach_div,
                                 torch._foreach_pow, torch._foreach_maximum, torch._foreach_clamp_max)]


def with_a_number_each(xs):
    return [f(xs, [2.0, 0.5, 3.0]) for f in (torch._foreach_add, torch._foreach_mul, torch._foreach_pow,
                                             torch._foreach_minimum, torch._foreach_clamp_min)]


def with_tensors(xs):
    ys = [x.flip(0) + 1 for x in xs]
    return [torch._foreach_add(xs, ys, alpha=3), torch._foreach_div(xs, ys), torch._foreach_pow(xs, ys),
            torch._foreach_maximum(xs, ys), torch._foreach_mul(xs, ys[0].sum()), torch._foreach_pow(2.0, ys),
            torch._foreach_lerp(xs, ys, 0.25), torch._foreach_lerp(xs, ys, xs), torch._foreach_addcmul(xs, ys, xs, 0.5),
            torch._foreach_addcdiv(xs, xs, ys, [1.0, 2.0, 3.0])]


def norms(xs):
    return [torch._foreach_norm(xs), torch._foreach_norm(xs, 1), torch._foreach_norm(xs, float("inf")),
            torch._foreach_norm(xs, 2, torch.float64)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("f", [unary, with_numbers, with_a_number_each, with_tensors, norms])
def test_each_element_has_an_operator(f, dynamic):
    def of_three(x, y, z):
        return f([x, y, z])

    given = [torch.rand(3, 4) + 0.1, torch.rand(5) + 0.1, torch.rand(())]
    check(of_three, *given, dynamic=dynamic)
    assert not tilewright.torch.explain(of_three, *given, dynamic=dynamic).eager


def test_clipped_gradients():
    nets = [mlp(), mlp()]
    nets[1].load_state_dict(nets[0].state_dict())
    x = torch.randn(4, 16)

    def step(net, v):
        net(v).square().sum().backward()
        return nn.utils.clip_grad_norm_(net.parameters(), 0.5)

    torch.testing.assert_close(torch.compile(step, backend=backend)(nets[0], x), step(nets[1], x))
    for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)
    assert not tilewright.torch.explain(step, mlp(), x).eager


def test_in_exported_programs():
    class Clip(nn.Module):
        def forward(self, x, y):
            norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm([x, y])))
            return torch._foreach_mul([x, y], (1 / norm).clamp(max=1.0))

    given = torch.randn(3, 4), torch.randn(5)
    for a, b in zip(tilewright.compile(Clip(), given)(*given), Clip()(*given), strict=True):
        torch.testing.assert_close(a, b)
