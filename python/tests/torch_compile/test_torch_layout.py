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


IMAGES = torch.linspace(-1, 1, 288).view(2, 4, 6, 6).to(memory_format=torch.channels_last)
SIGNALS = torch.linspace(-1, 1, 150).view(5, 6, 5).transpose(1, 2)
TURNED = torch.linspace(0.5, 3, 50).view(5, 10).t()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("f, x", [
    (lambda x: x.roll(1, 2), IMAGES), (lambda x: x.roll((1, 6), (3, 2)), IMAGES), (lambda x: x.roll(1), IMAGES),
    (lambda x: torch.channel_shuffle(x, 2), IMAGES), (lambda x: nn.functional.max_pool1d(x, 2), SIGNALS),
    (nn.MaxPool1d(2), SIGNALS), (lambda x: nn.functional.max_pool2d(x.unsqueeze(-2), (1, 2)).squeeze(-2), SIGNALS),
    (lambda x: nn.functional.interpolate(x, scale_factor=2), SIGNALS), (nn.BatchNorm1d(5), SIGNALS),
    (nn.BatchNorm1d(5).eval(), SIGNALS), (lambda x: nn.functional.cross_entropy(x, x[:, 0].long().clamp(0, 3), reduction="none"), IMAGES),
    (lambda x: x // (x.contiguous() + 4), TURNED), (lambda x: torch.div(x, x.contiguous() + 4, rounding_mode="floor"), TURNED),
    (lambda x: x.copysign(x.contiguous()), TURNED), (lambda x: torch.xlogy(x, x.contiguous()), TURNED),
    (lambda x: torch.ldexp(x, x.contiguous()), TURNED), (lambda x: 2 ** x, TURNED),
    (lambda x: torch.logaddexp(x[:1], x.contiguous()), TURNED), (lambda x: x.contiguous() * x, TURNED),
    (lambda x: x.masked_fill(x > 1, 0), TURNED), (lambda x: (x * 1).masked_fill_(x > 1, 0), TURNED),
])
def test_strides_of_other_orders(f, x, dynamic):
    """Of results, and of what is computed from them, which the memory they have decides."""
    def more(x):
        y = f(x)
        return y, y + 1, y.flatten() + 1, (y * 2).reshape(-1, y.shape[-1]).exp(), y.transpose(0, 1) + y.transpose(0, 1)

    check(more, x, dynamic=dynamic)


def test_strides_of_sums_in_dimensions_of_one_element():
    x = torch.ones(1, 3, 1).as_strided((1, 3, 1), (100, 1, 7))
    check(lambda x: (x * 2, x + x, x.exp(), torch.where(x > 0, x, 1.0)), x)


def test_views_that_autograd_makes_of_results():
    """Where torch has traced a view of a result, and gradients are needed, it makes that view of what the graph gives."""
    x = IMAGES.clone(memory_format=torch.preserve_format).requires_grad_()

    def f(x):
        y = x.roll(1, 2)
        return y, y.flatten(), y.flatten()[3:]

    for got, expected in zip(torch.compile(f, backend=backend)(x), f(x), strict=True):
        assert torch.equal(got, expected)


def test_views_behind_a_graph_break():
    def f(x):
        y = x.roll(1, 2)
        torch._dynamo.graph_break()
        return y.permute(0, 2, 3, 1).view(-1)

    assert torch.equal(torch.compile(f, backend=backend)(IMAGES), f(IMAGES))


@pytest.mark.parametrize("channels", [4, 16])
def test_strides_of_gradients_of_pointwise_convolutions(channels):
    """Their weights have dimensions of one element."""
    net = nn.Conv2d(4, channels, 1)
    expected = torch.autograd.grad(net(IMAGES).sum(), list(net.parameters()))
    got = torch.autograd.grad(torch.compile(net, backend=backend)(IMAGES).sum(), list(net.parameters()))
    assert [x.stride() for x in got] == [x.stride() for x in expected]


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


@pytest.mark.parametrize("shape, order", [((4, 2, 1, 4), (0, 1, 2, 3)), ((4, 3, 1, 4), (3, 2, 1, 0)), ((4, 1, 3, 1), (2, 3, 1, 0))])
def test_views_of_a_part_in_dimensions_of_one_element(shape, order):
    """Their steps there are eager PyTorch's, and they begin where the part does."""
    x = torch.randn(shape).permute(order).contiguous().permute([order.index(d) for d in range(4)])
    x = x.as_strided(shape, [7 if size == 1 else stride for size, stride in zip(shape, x.stride())])
    check(lambda x: (x * 2)[1:].unsqueeze(3).view(3, *shape[1:3], 1, shape[3]), x)
    check(lambda x: (x * 2)[1:].view(3, 1, *shape[1:]), x)


def test_what_is_repeated_and_stacked_in_dimensions_of_one_element():
    x = torch.randn(1, 2, 1, 4).to(memory_format=torch.channels_last)
    check(lambda x: torch.stack([x, x * 2, x], 2), x)
    leaf = torch.randn(3, 2, 1, 2, requires_grad=True)
    for f in (torch.sum, torch.compile(torch.sum, backend="tilewright")):
        gradient, = torch.autograd.grad(f(leaf), leaf)
        assert gradient.stride() == (0, 0, 0, 0)
