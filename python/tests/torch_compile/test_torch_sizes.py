# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that are open in torch.compile, and numbers."""
import pytest
import torch

from compare import check, mlp
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")


def test_dynamic_sizes():
    net = mlp().requires_grad_(False)
    check(lambda x: (net(x), x.t(), x.shape[0] * 2, x.view(-1)), torch.randn(5, 16), dynamic=True,
          again=[(torch.randn(n, 16),) for n in (7, 64, 3, 1, 0)])


def test_sizes_that_become_dynamic():
    counted = []

    def counting(module, inputs, **_):
        counted.append(module)
        return backend(module, inputs)

    net = mlp().requires_grad_(False)
    compiled = torch.compile(net, backend=counting)
    for n in (2, 5, 7, 64, 3):
        x = torch.randn(n, 16)
        torch.testing.assert_close(compiled(x), net(x))
    assert len(counted) == 2


@pytest.mark.parametrize("f", [lambda x, n: x.new_ones(n + (4 - n % 4) % 4, 5), lambda x, n: x.new_ones(7 - 2 * (-n % 4)),
                               lambda x, n: x.new_ones(n // 2 * 3 % 5, (n + 1) ** 2 % 7 + max(n, 6))])
def test_sizes_are_computed(f):
    """Views, whose sizes are evaluated outside of the program."""
    check(lambda x: (y := f(x, x.shape[0]) * 2, y.unsqueeze(0), y.t() if y.dim() == 2 else y.view(1, -1)), torch.randn(6, 5),
          dynamic=True, again=[(torch.randn(7, 5),), (torch.randn(8, 5),)])


def test_numbers_of_python():
    check(lambda x, n, s: x * n + s, torch.randn(3), 4, 0.5, dynamic=True)


def test_shared_heads_of_attention_that_only_calls_count():
    """Heads of the query that share one of the key: how many of either is open, and the operator has no flag."""
    def attention(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    def tensors(queries, keys):
        torch.manual_seed(0)
        return [torch.randn(2, heads, length, 8, requires_grad=True)
                for heads, length in ((queries, 5), (keys, 7), (keys, 7))]

    compiled = torch.compile(attention, backend=backend, dynamic=True)
    for heads in (8, 2), (6, 3), (4, 4), (12, 6):
        mine, theirs = tensors(*heads), tensors(*heads)
        got, expected = compiled(*mine), attention(*theirs)
        torch.testing.assert_close(got, expected)
        got.sum().backward()
        expected.sum().backward()
        for x, y in zip(mine, theirs):
            torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-4)
