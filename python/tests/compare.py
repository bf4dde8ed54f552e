# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons with eager PyTorch that several files of tests make."""
import copy

import torch
from torch import nn
from torch.utils import _pytree as pytree

from tilewright.torch import backend


def close(a, b, tolerance=1e-5):
    torch.testing.assert_close(torch.as_tensor(a), torch.as_tensor(b), rtol=tolerance, atol=tolerance)


def tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def check(f, *args, dynamic=False, tolerance=1e-5, eager=(), again=(), **options):
    """Compares results, strides and arguments after the call; `eager` are operators that fall back."""
    compiled = torch.compile(f, backend=backend, dynamic=dynamic, options=options or None, fullgraph=not eager)
    for given in (args, args, *again):
        ours, theirs = copy.deepcopy(given), copy.deepcopy(given)
        state = torch.get_rng_state()
        got = compiled(*ours)
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        expected = f(*theirs)
        assert torch.equal(after, torch.get_rng_state())
        for a, b in zip(tensors((got, ours)), tensors((expected, theirs)), strict=True):
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
            assert a.stride() == b.stride() and a.storage_offset() == b.storage_offset()
            assert (a._base is None) == (b._base is None)
        assert [x for x in pytree.tree_leaves(got) if not isinstance(x, torch.Tensor)] == \
               [x for x in pytree.tree_leaves(expected) if not isinstance(x, torch.Tensor)]
    return compiled


def check_training(module, *args, loss=lambda y: y.square().sum(), steps=2, tolerance=1e-4, dynamic=False, **options):
    """Compares losses, gradients, buffers and the generator over steps of training."""
    theirs = copy.deepcopy(module)
    compiled = torch.compile(module, backend=backend, dynamic=dynamic, options=options or None, fullgraph=True)
    for step in range(steps):
        state = torch.get_rng_state()
        ours = loss(compiled(*args))
        ours.backward()
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        expected = loss(theirs(*args))
        expected.backward()
        assert torch.equal(after, torch.get_rng_state()), "the generator's state differs"
        torch.testing.assert_close(ours, expected, rtol=tolerance, atol=tolerance)
        for (name, a), b in zip(module.named_parameters(), theirs.parameters(), strict=True):
            assert (a.grad is None) == (b.grad is None), name
            if b.grad is not None:
                scale = max(b.grad.abs().max().item(), 1e-2)
                assert (a.grad - b.grad).abs().max().item() <= tolerance * scale * 10, (step, name)
                assert a.grad.stride() == b.grad.stride()
        for a, b in zip(module.buffers(), theirs.buffers(), strict=True):
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def mlp():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
