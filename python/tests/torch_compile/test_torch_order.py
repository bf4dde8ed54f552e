# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions drawn at random, of operators that are compiled, that run eagerly, that draw, write and have effects: results,
arguments, gradients and the generator are those of the same graphs run by PyTorch, whatever the pieces are. (torch.compile
itself removes draws of which nothing uses the numbers.)"""
import copy
import os
import random

import pytest
import torch
from torch import nn

import tilewright.kernel as tk
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")
COUNT = int(os.environ.get("TW_ORDERS", "5"))
M, N = tk.symbols("M N")


@tk.kernel
def shift(x: tk.InOut[tk.f32, M, N], y: tk.In[tk.f32, M, N]):
    m, = tk.grid(M)
    tk.store(x, [m, 0], tk.load(x, [m, 0], [1, N]) * 0.5 + tk.load(y, [m, 0], [1, N]))


in_place = shift.register("tilewright_order_test::shift")
LOG = []


@torch.library.custom_op("tilewright_order_test::noted", mutates_args=())
def noted(x: torch.Tensor) -> torch.Tensor:
    """Draws and notes, and says neither."""
    LOG.append(round(x.sum().item(), 2))
    return x + torch.rand(())


@noted.register_fake
def _(x):
    return torch.empty_like(x)


noted.register_autograd(lambda ctx, gradient: gradient)


def written(x, y):
    z = x.clone()
    in_place(z, y)
    return z


def rows_written(x, y):
    z = x.clone()
    z[1:3].mul_(2)
    z[:, ::2] = y[:, 1::2]
    return z


PURE = [lambda x, y: x * y, lambda x, y: x.sin() + y, lambda x, y: x - y.mean(), lambda x, y: (x.t() @ y).mean() + x,
        lambda x, y: x.t().reshape(4, 6) * 0.5 + y, lambda x, y: torch.cond(y.sum() > 0, lambda a: a.cos(), lambda a: a - 1, (x,)),
        rows_written]
EAGER = [lambda x, y: torch.fft.fft(x).abs() * 0.1, lambda x, y: torch.fft.fft(y, dim=0).real * 0.1 + x]
DRAWS = [lambda x, y: x + torch.rand_like(x), lambda x, y: nn.functional.dropout(x, 0.4), lambda x, y: x * torch.randn(6),
         lambda x, y: x + torch.bernoulli(y.sigmoid())]
EFFECTS = [lambda x, y: noted(x)]
WRITES = [lambda x, y: written(x, y)]


def drawn(seed, kinds):
    """A function of two tensors, which it may write to."""
    chooser = random.Random(seed)
    steps = [(chooser.choice(chooser.choice(kinds)), chooser.random(), chooser.random()) for _ in range(chooser.randint(4, 14))]
    writes, kept = chooser.random() < 0.4, [chooser.random() for _ in range(3)]

    def f(x, y):
        values = [x, y]
        for step, first, second in steps:
            recent = values[-4:]
            values.append(step(recent[int(first * len(recent))], recent[int(second * len(recent))]))
        if writes and not x.requires_grad:
            x.copy_(values[-1] * 2)
        return [values[2 + int(each * (len(values) - 2))] for each in kept] + [values[-1]]

    return f


def outcome(of, f, *given):
    """What a call leaves: results, arguments, their gradients, the generator, and what was noted."""
    given = copy.deepcopy(given)
    LOG.clear()
    torch.manual_seed(1)
    results = torch.compile(f, backend=of, fullgraph=True)(*given)
    differentiable = [each for each in results if each.requires_grad]
    if differentiable:
        sum((each * (i + 1)).sum() for i, each in enumerate(differentiable)).backward()
    strides = [each.stride() for each in results]
    return [*(each.detach() for each in (*results, *given)), *(each.grad for each in given)], strides, LOG[:], torch.get_rng_state()


def same(f, *given):
    (ours, *mine, drawn), (theirs, *others, expected) = (outcome(of, f, *given) for of in (backend, "aot_eager"))
    assert mine == others and torch.equal(drawn, expected)
    for a, b in zip(ours, theirs, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(COUNT))
def test_results_and_draws(seed):
    same(drawn(seed, [PURE, PURE, EAGER, DRAWS, EFFECTS, WRITES]), torch.randn(4, 6), torch.randn(4, 6))


@pytest.mark.parametrize("seed", range(COUNT))
def test_gradients(seed):
    f = drawn(seed, [PURE, EAGER, DRAWS, EFFECTS])
    same(f, torch.randn(4, 6, requires_grad=True), torch.randn(4, 6, requires_grad=True))


@pytest.mark.parametrize("seed", range(COUNT))
def test_activation_checkpointing(seed):
    f = drawn(seed, [PURE[:5], EAGER, DRAWS])  # torch has no rule for torch.cond there

    def again(x, y):
        return torch.utils.checkpoint.checkpoint(f, x, y, use_reentrant=False)

    same(again, torch.randn(4, 6, requires_grad=True), torch.randn(4, 6, requires_grad=True))
