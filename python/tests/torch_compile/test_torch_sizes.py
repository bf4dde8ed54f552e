# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that are open in torch.compile, and numbers."""
import pytest
import torch

from compare import check, mlp
import tilewright.torch
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


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("f", [
    lambda x, n: x * n,
    lambda x, n: x + n % 5 - n // 3,
    lambda x, n: x[n:] + n,
    lambda x, n: x[n] + 1,
    lambda x, n: torch.arange(n + 20) * x.new_ones(n + 20),
    lambda x, n: (x.repeat(n + 10).view(n + 10, -1) * n, n * 3),
    lambda x, n: x.outer(x).triu(n),
])
def test_ints_may_be_negative(f, dynamic):
    """They are no sizes, also where sizes are computed of them."""
    x = torch.randn(12)
    check(f, x, 4, dynamic=dynamic, again=[(x, 7), (x, -7), (x, 0), (x, -1)])
    assert not tilewright.torch.explain(f, x, -2, dynamic=True).eager


def test_gradients_with_a_negative_int():
    """The backward pass takes the int, and tensors whose sizes it is a part of."""
    def f(x, n):
        return (x.repeat(n + 10).exp() * n).sum()

    compiled = torch.compile(f, backend=backend, dynamic=True)
    for n in (4, -7, 2):
        mine = torch.randn(6, requires_grad=True)
        theirs = mine.detach().clone().requires_grad_()
        compiled(mine, n).backward()
        f(theirs, n).backward()
        torch.testing.assert_close(mine.grad, theirs.grad)


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


@pytest.mark.parametrize("turned", [lambda x: x, lambda x: x.permute(2, 0, 1), lambda x: x.transpose(0, 1)])
def test_strides_are_products_of_sizes(turned):
    """Of arguments and of what is computed from them, row-major or permuted."""
    def f(x):
        y = (x + 1).relu()
        return x * x.stride(0) + x.stride(2), y * (y.stride(1) + 1), torch.arange(x.stride(0) + 3) * y.stride(0)

    given = [(turned(torch.randn(3, 4, 5)),), (turned(torch.randn(5, 2, 7)),)]
    check(f, *given[0], dynamic=True, again=given[1:])
    assert not tilewright.torch.explain(f, *given[0], dynamic=True).eager


def test_memory_of_what_is_computed_is_read_by_strides():
    def f(x):
        y = x + 1
        return y.as_strided((x.shape[0], x.shape[1]), (x.shape[1], 1)) * 2, y.as_strided((x.shape[1],), (1,)).exp()

    check(f, torch.randn(3, 4), dynamic=True, again=[(torch.randn(5, 2),)])
    assert not tilewright.torch.explain(f, torch.randn(3, 4), dynamic=True).eager


def test_strides_of_memory_with_gaps_run_eagerly():
    def f(x):
        return x * x.stride(0)

    x = torch.randn(4, 6)[:, ::2]
    check(f, x, dynamic=True, again=[(torch.randn(5, 8)[:, ::2],)], eager=["sym_stride"])
    said = tilewright.torch.explain(f, x, dynamic=True)
    assert all("gaps" in line for line in said.eager)
