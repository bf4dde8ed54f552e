# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers in torch.compile are those of eager PyTorch, and so is the generator afterwards."""
import operator

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode

import tilewright.torch
from compare import check, check_training
from tilewright.torch import _backend, _options, _random, _strides, backend

pytestmark = pytest.mark.usefixtures("fresh")


@pytest.mark.parametrize("f", [
    lambda x: nn.functional.dropout(x, 0.3) * 2, lambda x: x + torch.rand(4, 6),
    lambda x: torch.randn_like(x) + torch.rand_like(x), lambda x: x.clone().uniform_(-1, 1),
    lambda x: torch.randint(0, 9, (x.shape[0],)), lambda x: torch.bernoulli(torch.full_like(x, 0.4)) + x,
    lambda x: nn.functional.dropout(torch.rand(4, 6) + x, 0.5) + torch.randn(6),
])
def test_random_numbers_are_those_of_eager(f):
    check(f, torch.randn(4, 6), eager=["maybe"])


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("f, eager", [
    (lambda x: (torch.rand(4, 6), torch.rand_like(x), torch.randn(x.shape[1]), torch.randn_like(x)), ()),
    (lambda x: (torch.randint(0, 9, (x.shape[0],)), torch.randint_like(x, 9), torch.randperm(7)), ()),
    (lambda x: (x.clone().uniform_(-1, 1), x.clone().normal_(2, 3), x.clone().exponential_(), x.clone().geometric_(0.3)), ()),
    (lambda x: (x.clone().log_normal_(), x.clone().cauchy_(), x.clone().bernoulli_(0.3)), ()),
    (lambda x: nn.functional.dropout(torch.ones_like(x), 0.5), ()),
    (lambda x: (torch.bernoulli(x.abs().clamp(max=1)), torch.multinomial(x.abs(), 3), torch.normal(x, x.abs())), ["data"]),
], ids=["like", "integers", "distributions", "more distributions", "dropout", "of data"])
def test_draws_are_equal_bit_for_bit(f, eager, dynamic):
    check(f, torch.randn(4, 6), tolerance=0, dynamic=dynamic, eager=eager, again=[(torch.randn(5, 6),)] if dynamic else ())


def test_what_checkpoints_drop_is_equal_bit_for_bit():
    """Each gradient is 0 or 2 to the number of dropouts, as backward draws them again."""
    def f(x):
        return torch.utils.checkpoint.checkpoint(lambda x: nn.functional.dropout(nn.functional.dropout(x, 0.5) * 1, 0.5), x,
                                                 use_reentrant=False)

    gradients = []
    for function in (torch.compile(f, backend=backend, fullgraph=True), f):
        torch.manual_seed(0)
        x = torch.ones(40, 50, requires_grad=True)
        y = function(x)
        y.sum().backward()
        assert torch.equal(x.grad, y)
        gradients.append(x.grad)
    assert torch.equal(*gradients) and set(gradients[0].unique().tolist()) == {0.0, 4.0}


def test_random_numbers_with_dynamic_sizes():
    check(lambda x: nn.functional.dropout(x, 0.3) + torch.rand(x.shape[0], 1), torch.randn(5, 3), dynamic=True,
          again=[(torch.randn(7, 3),)])


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout_between_draws(p):
    """All of a tensor is dropped without a draw, so what comes after is as in eager PyTorch."""
    check(lambda x: (nn.functional.dropout(x, p) + 1, nn.functional.dropout(x, 0.5), torch.rand_like(x)), torch.randn(6, 7))
    check_training(nn.Sequential(nn.Linear(5, 6), nn.Dropout(p), nn.Linear(6, 7), nn.Dropout(0.5)), torch.randn(4, 5))


class Checkpointed(nn.Module):
    """Dropout in a part that backward computes again, and around it."""

    def __init__(self, part):
        super().__init__()
        self.part, self.last, self.drop = part, nn.Linear(8, 4), nn.Dropout(0.4)

    def forward(self, x):
        x = torch.utils.checkpoint.checkpoint(self.part, self.drop(x), use_reentrant=False)
        return self.drop(self.last(x)) + torch.rand(4)


class Noisy(nn.Module):
    def forward(self, x):
        return (x + torch.rand_like(x) + torch.randn(x.shape[1])).sin()


class Sampled(nn.Module):
    """Draws that depend on data."""

    def forward(self, x):
        return (x * torch.bernoulli(x.sigmoid())).sin()


@pytest.mark.parametrize("part, is_whole", [
    (lambda: nn.Sequential(nn.Linear(16, 32), nn.Dropout(0.5), nn.ReLU(), nn.Linear(32, 8), nn.Dropout(0.2)), True),
    (lambda: nn.Sequential(nn.Linear(16, 8), Noisy(), nn.Linear(8, 8), nn.Dropout(0.3)), True),
    (lambda: nn.Sequential(nn.Linear(16, 8), Sampled(), nn.Linear(8, 8), nn.Dropout(0.3)), False),
], ids=["dropout", "noise", "sampled"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_activation_checkpointing(part, is_whole, dynamic):
    """Backward draws again what forward drew, from the state that the generator had then."""
    net, x = Checkpointed(part()), torch.randn(4, 16)
    check_training(net, x, steps=2, dynamic=dynamic)
    said = tilewright.torch.explain(net, x, dynamic=dynamic)
    assert [len(graph.programs) for graph in said.graphs] == [1, 1] if is_whole else said.eager, said
    assert all("random numbers are to be those of eager PyTorch" in line for line in said.eager), said


LIBRARY = torch.library.Library("tilewright_random_test", "DEF")
LIBRARY.define("noise(int n) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
LIBRARY.define("jitter(Tensor x) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
LIBRARY.define("secret(Tensor x) -> Tensor")  # draws, too, and does not say so
for name, draw in (("noise", torch.rand), ("jitter", lambda x: x + torch.rand_like(x)), ("secret", lambda x: x + torch.randn(()))):
    LIBRARY.impl(name, draw, "CompositeExplicitAutograd")
torch.library.register_fake("tilewright_random_test::noise", lambda n: torch.empty(n))
for name in ("jitter", "secret"):
    torch.library.register_fake(f"tilewright_random_test::{name}", torch.empty_like)
theirs = torch.ops.tilewright_random_test


@pytest.mark.parametrize("f, eager", [
    (lambda x: torch.rand(6) + theirs.noise(6) * x + torch.rand(6), 0),
    (lambda x: torch.rand(6) + theirs.jitter(x * 2) * 3 + torch.rand(6), 2),
    (lambda x: torch.rand(6) + theirs.secret(x * 2) * 3 + torch.rand(6), 2),
    (lambda x: nn.functional.dropout(x) + theirs.secret(torch.rand(6)) + nn.functional.dropout(theirs.secret(x)), 3),
    (lambda x: (theirs.secret(x.exp()).sin(), theirs.secret(theirs.jitter(theirs.secret(x)).cos()), theirs.secret(x)), 5),
], ids=["sizes", "data", "unsaid", "between", "several"])
def test_random_operators_of_others(f, eager):
    x = torch.randn(2, 6)
    check(f, x, eager=["they"])
    said = tilewright.torch.explain(f, x)
    assert len(said.eager) == eager and said.graphs[0].programs, said
    if eager == 2 and "secret" in str(said):
        assert "where tilewright_random_test.secret.default is called before, which may draw" in str(said)


@pytest.mark.parametrize("f", [
    lambda x: torch.cond(x.sum() > 0, lambda x: x * torch.rand_like(x), lambda x: x - 1, (x,)) + torch.rand(6),
    lambda x: (torch.bernoulli((x * 2).sigmoid()) + 1, torch.bernoulli(torch.fft.fft(x * 3).abs().sigmoid()) * 2, torch.rand(6) * x),
    lambda x: (torch.multinomial(x.abs(), 3), torch.randperm(5), torch.normal(x, x.abs())),
], ids=["branch", "pieces", "several"])
def test_order_of_draws_from_data(f):
    for sign in (1, -1):
        check(f, sign * torch.rand(6), eager=["they"])
    said = tilewright.torch.explain(f, torch.rand(6))
    assert said.eager and any("random numbers" in line for line in said.eager)


def test_checkpoints_of_dropout_that_drops_nothing():
    """Which is tagged as if it drew: it runs eagerly where a checkpoint keeps the generator's state for it."""
    def f(x):
        return torch.utils.checkpoint.checkpoint(lambda x: torch.native_dropout(x.sin(), 0.5, False)[0].cos(), x,
                                                 use_reentrant=False)

    x = torch.randn(3, 4, requires_grad=True)
    check(f, x, eager=["dropout"])
    said = tilewright.torch.explain(f, x)
    assert said.eager == [
        f"higher_order.{name}: its random numbers are to be those of eager PyTorch, and are none: it is not in training"
        for name in ("run_and_save_rng_state", "run_with_rng_state")]


def test_generators_as_states(monkeypatch):
    """What activation checkpointing makes of draws on a GPU: the state is an argument, a torch.Generator."""
    given = []
    monkeypatch.setattr(_random, "_with_generator", lambda *rest: given.append(rest[0]) or rest[1](rest[2]))
    graph, fake = torch.fx.Graph(), FakeTensorMode()
    x, state = graph.placeholder("x"), graph.placeholder("state")
    x.meta["val"], state.meta["val"] = fake.from_tensor(torch.ones(4, 5)), torch.Generator()
    drawn = graph.call_function(torch.ops.higher_order.graphsafe_run_with_rng_state,
                                (torch.ops.aten.native_dropout.default, x, 0.5, True), {"rng_state": state})
    parts = [graph.call_function(operator.getitem, (drawn, i)) for i in range(2)]
    for part, dtype in zip(parts, (torch.float32, torch.bool)):
        part.meta["val"] = fake.from_tensor(torch.ones(4, 5, dtype=dtype))
    graph.output(tuple(parts))
    seen, generator = [], torch.Generator()
    run = _backend.compile_graph(torch.fx.GraphModule(torch.nn.Module(), graph), "forward", _options.read(None, None), seen.append,
                                 _strides.InEager())
    result, mask = run([torch.ones(4, 5), generator])
    assert given == [generator] and not seen[0].eager and len(seen[0].programs) == 1
    assert torch.equal(result, mask * 2.0) and 0 < mask.sum() < 20
