# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of torch.compile's arguments and results: strides, aliases, mutation, as in eager PyTorch."""
import pytest
import torch
from torch import nn

import tilewright.torch
from compare import check, check_training
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")


@pytest.mark.parametrize("f", [
    lambda x: x, lambda x: x.t(), lambda x: x[1:, 2:], lambda x: (x + 1).t(), lambda x: (x + 1, (x + 1).t()),
    lambda x: x.view(2, 2, 6), lambda x: (x * 2).unsqueeze(0).expand(3, 4, 6), lambda x: (x.t(), x * 2, x.shape[0]),
    lambda x: x.chunk(2), lambda x: (x * 3).split(2), lambda x: torch.empty_like(x.t()).fill_(2.0) + x.t(),
    lambda x: (x[0], x[:, 1], x.sum(), None, 3, "text"), lambda x: x.t().contiguous().t() + 1,
    lambda x: (y := x + 1, y, y.view(-1)), lambda x: x.as_strided((2, 3), (1, 2)) * 2, lambda x: x.diagonal() + 1,
    lambda x: x.detach(), lambda x: torch.ones(3), lambda x: torch.tensor([1.0, 2.0]) + x[0, :2],
])
def test_outputs(f):
    check(f, torch.randn(4, 6))


@pytest.mark.parametrize("make", [lambda x: x.t(), lambda x: x[::2], lambda x: x.expand(2, 6, 6)[0],
                                  lambda x: x[:, :1].expand(6, 6), lambda x: x[1:4, 1:4],
                                  lambda x: x.view(1, 6, 6, 1).to(memory_format=torch.channels_last)])
def test_strided_inputs(make):
    check(lambda x: (x * 2, x.transpose(0, 1), x.sum(0)), make(torch.randn(6, 6)))


def test_as_strided_of_open_sizes():
    """The mean over positions of a turned tensor is an as_strided of a tensor whose outermost size alone is open."""
    check(lambda x: nn.functional.adaptive_avg_pool2d(x.transpose(1, 2).unsqueeze(-2), 1)[..., 0, 0] + 1, torch.randn(3, 5, 4),
          dynamic=True, again=[(torch.randn(2, 7, 4),)])


def test_channels_last():
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 1)).requires_grad_(False)
    x = torch.randn(2, 3, 8, 8)
    check(net, x)
    check(net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last))
    check_training(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).to(memory_format=torch.channels_last),
                   x.to(memory_format=torch.channels_last))


@pytest.mark.parametrize("shape,dynamic", [((2, 3, 6, 8), False), ((2, 3, 6, 8), True), ((1, 2, 2, 6), False),
                                           ((2, 3, 2, 2), False)])
def test_strides_that_fake_tensors_have_otherwise(shape, dynamic):
    """Eager PyTorch's result of unpooling has the order of its input, that of its fake tensors is row-major."""
    def unpool(x):
        values, places = nn.functional.max_pool2d(x, 2, return_indices=True)
        y = nn.functional.max_unpool2d(values, places, 2)
        return y, y + 1

    x = torch.randn(shape)
    check(unpool, x, dynamic=dynamic)
    with torch.no_grad():
        last = x.to(memory_format=torch.channels_last)
        y = torch.compile(lambda v: unpool(v)[0], backend=backend, dynamic=dynamic, fullgraph=True)(last)
        expected = unpool(last)[0]
    assert torch.equal(y, expected) and y.stride() == expected.stride()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("draw", [lambda x: torch.poisson(x * 4), lambda x: nn.functional.rrelu(x - 0.5, training=True)])
@pytest.mark.parametrize("turned", [lambda x: x.t(), lambda x: x[:, ::2].t(), lambda x: x])
def test_what_is_computed_from_random_numbers_of_a_permuted_tensor(turned, draw, dynamic):
    """They are row-major, and so is what eager PyTorch computes from them; with fake tensors both are permuted."""
    def f(x):
        y = draw(x)
        return y, y + 1, (y * 2).t(), y.clone() * y, y.flatten() + 1, y + x

    check(f, turned(torch.rand(4, 6)), dynamic=dynamic, eager=["random"])


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("draw", [lambda x: torch.poisson(x * 4) * x, lambda x: nn.functional.rrelu(x - 0.5, training=True) * x,
                                  lambda x: nn.functional.rrelu(x - 0.5).exp()], ids=["poisson", "rrelu", "rrelu in eval"])
@pytest.mark.parametrize("turned", [lambda x: x.t(), lambda x: x[:, ::2].t(), lambda x: x])
def test_gradients_of_what_is_computed_from_random_numbers(turned, draw, dynamic):
    """Before they reach a parameter, whose strides they then get."""
    def gradient(f):
        x = turned(torch.linspace(0.1, 1, 24).view(4, 6).requires_grad_() * 2)
        seen = []
        x.register_hook(seen.append)
        torch.manual_seed(0)
        y = f(x)
        (y.square().sum() + (y + 1).exp().sum()).backward()
        return seen[0]

    ours, theirs = gradient(torch.compile(draw, backend=backend, dynamic=dynamic)), gradient(draw)
    torch.testing.assert_close(ours, theirs)
    assert ours.stride() == theirs.stride()


def test_results_may_be_written_to():
    net = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    compiled = torch.compile(net, backend=backend)
    y = compiled(torch.randn(1, 3, 5, 5).to(memory_format=torch.channels_last))
    y.add_(1).sum().backward()
    assert torch.equal(net.bias.grad, torch.full((4,), 9.0))


def test_empty_and_scalar_tensors():
    check(lambda x: (x * 2, x.sum(0), x.t()), torch.randn(0, 3))
    check(lambda x: x * 2 + 1, torch.tensor(3.0))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("given", [torch.ones(1, 2)[:, 1], torch.ones(3, 1, 8)[..., ::8][:, 0], torch.ones(2, 3)[:1].t()],
                         ids=["element", "column", "row"])
def test_strides_of_dimensions_of_one_element(given, dynamic):
    """Eager PyTorch keeps them, and torch's fake tensors do not."""
    check(lambda x: (torch.zeros_like(x), torch.ones_like(x) + x, torch.full_like(x, 2).t(), torch.diff(x, n=0), torch.rand_like(x), torch.put(x, torch.tensor(0), torch.tensor(5.0)),
                     torch.zeros_like(x, memory_format=torch.contiguous_format)),
          given, dynamic=dynamic)


@pytest.mark.parametrize("f, shape", [(lambda x: nn.functional.pad(x, (-1, -2)), (0, 3, 6)),
                                      (lambda x: nn.functional.unfold(x, 2, padding=1), (0, 1, 5, 5))], ids=["pad", "unfold"])
def test_strides_of_results_without_elements(f, shape):
    """They may be of memory with gaps, which is no memory here."""
    x = torch.randn(shape, requires_grad=True)
    check(f, x.detach())
    assert tilewright.torch.explain(f, x).eager == []


def mutates(x, y):
    x.add_(1)
    y[1:].mul_(2)
    x.t()[0].zero_()
    return x * y.sum(), x.t()


def test_mutation():
    check(mutates, torch.randn(3, 4), torch.randn(5))
    check(mutates, torch.randn(4, 3).t(), torch.randn(10)[::2])  # what is not row-major


def test_mutation_raises_the_version():
    x = torch.randn(3)
    before = x._version
    torch.compile(lambda x: x.add_(1), backend=backend)(x)
    assert x._version > before


def test_old_values_of_mutated_inputs():
    def f(x):
        old = x.clone()
        x.add_(1)
        return old, x * old

    check(f, torch.randn(3))


def test_buffers():
    class Count(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count += 1
            return x * self.count

    module = Count()
    compiled = torch.compile(module, backend=backend)
    for i in range(1, 4):
        assert torch.equal(compiled(torch.ones(2)), torch.full((2,), float(i)))
    assert module.count == 3


@pytest.mark.parametrize("f", [
    lambda x: x @ torch.ones(4, 5), lambda x: (x * 2).transpose(0, 1).reshape(-1), lambda x: torch.kron(x[0].exp(), x[0]),
    lambda x: (x @ torch.ones(4, 5)).relu_()[0] @ torch.ones(5, 2),
])
def test_results_are_written_to_before_backward(f):
    """What is no view in eager PyTorch is none, though its memory is that of a result with other sizes."""
    x = torch.rand(2, 3, 4, requires_grad=True)
    torch._dynamo.reset()
    ours, theirs = torch.compile(f, backend=backend)(x), f(x)
    ours.mul_(3).sum().backward()
    got, x.grad = x.grad, None
    theirs.mul_(3).sum().backward()
    torch.testing.assert_close(got, x.grad)
    check(f, x.detach())
