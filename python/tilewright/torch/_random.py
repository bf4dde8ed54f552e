# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operators move to an eager prologue: the same numbers as in eager PyTorch, and the same state of the
generator afterwards, bit for bit. They can as long as only their sizes depend on arguments; from the first that
needs data on, they stay where they are and run eagerly there."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from . import _private
from ._sizes import Sizes, Unplannable

aten = torch.ops.aten
# Of these a tensor argument gives nothing but sizes and dtype.
LIKE = {aten.rand_like.default, aten.randn_like.default, aten.randint_like.default, aten.randint_like.low_dtype,
        aten.uniform.default, aten.bernoulli.p, aten.normal_functional.default, aten.exponential.default,
        aten.log_normal.default, aten.cauchy.default, aten.geometric.default, aten.random.default,
        aten.random.to, getattr(aten.random, "from")}


class Prologue:
    """Draws the numbers of one graph, in order, and puts them behind its arguments."""

    def __init__(self, sources: list[tuple[int, int]], evaluate: Callable[..., Any] | None,
                 draws: list[Callable[[Any], torch.Tensor]]) -> None:
        self.sources, self.evaluate, self.draws = sources, evaluate, draws

    def add_to(self, args: list[Any]) -> None:
        numbers: Sequence[int] = [args[i] if d < 0 else args[i].size(d) for i, d in self.sources]
        if self.evaluate is not None:
            numbers = self.evaluate(*numbers)
        args.extend([draw(numbers) for draw in self.draws])


def extract(module: GraphModule) -> Prologue | None:
    """Takes the random operators that can move out of `module`; None when there are none."""
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    sizes = Sizes(placeholders)
    draws: list[Callable[[Any], torch.Tensor]] = []
    last = placeholders[-1] if placeholders else None
    for node in list(module.graph.nodes):
        if node.op != "call_function" or not _private.is_random(node):
            continue
        try:
            draw = _dropout(node, sizes) if node.target is aten.native_dropout.default else _plain(node, sizes)
        except Unplannable:
            break
        if draw is None:
            continue
        with (module.graph.inserting_after(last) if last else module.graph.inserting_before()):
            drawn = last = module.graph.placeholder(f"random_{len(draws)}")
        _replace(module, node, drawn)
        draws.append(draw)
    if not draws:
        return None
    module.graph.lint()
    module.recompile()
    return Prologue(*sizes.plan(), draws)


def _at(number: Any, numbers: Sequence[int]) -> Any:
    return numbers[number[0]] if isinstance(number, tuple) else number


def _like(value: torch.Tensor, sizes: Sizes) -> Callable[[Any], torch.Tensor]:
    """Memory with the sizes and strides of a fake tensor."""
    shape, strides = sizes.numbers(value.shape), sizes.numbers(value.stride())
    dtype, device = value.dtype, value.device
    return lambda numbers: torch.empty_strided([_at(each, numbers) for each in shape],
                                               [_at(each, numbers) for each in strides], dtype=dtype, device=device)


def _dropout(node: Node, sizes: Sizes) -> Callable[[Any], torch.Tensor] | None:
    """The mask of native_dropout(x, p, train), drawn as eager draws it."""
    x, p, train = (*node.args, None)[:3]
    if train is False or p == 0:
        return None
    value = x.meta["val"]
    if value.device.type != "cpu":  # which draws in an order of its own
        like = _like(value, sizes)
        return lambda numbers: aten.native_dropout.default(like(numbers), p, train)[1]
    memory = _like(value.to(torch.bool) if value.dtype != torch.bool else value, sizes)
    if p == 1:  # eager PyTorch's dropout draws nothing then
        return lambda numbers: memory(numbers).zero_()
    return lambda numbers: memory(numbers).bernoulli_(1 - p)


def _plain(node: Node, sizes: Sizes) -> Callable[[Any], torch.Tensor]:
    """The operator itself, called with numbers for sizes."""
    if not isinstance(node.meta.get("val"), torch.Tensor):
        raise Unplannable("not one tensor")

    def argument(each: Any) -> Callable[[Any], Any]:
        if isinstance(each, (list, tuple)):
            parts = [argument(part) for part in each]
            return lambda numbers: [part(numbers) for part in parts]
        if not isinstance(each, Node):
            return lambda numbers: each
        value = each.meta.get("val")
        if isinstance(value, (int, torch.SymInt)):
            number = sizes.number(value)
            return lambda numbers: _at(number, numbers)
        if isinstance(value, torch.Tensor) and node.target in LIKE:
            return _like(value, sizes)
        raise Unplannable("an argument is data")

    args = [argument(each) for each in node.args]
    kwargs = {name: argument(each) for name, each in node.kwargs.items()}
    target = node.target
    return lambda numbers: target(*(each(numbers) for each in args),
                                  **{name: each(numbers) for name, each in kwargs.items()})


def _replace(module: GraphModule, node: Node, drawn: Node) -> None:
    if node.target is not aten.native_dropout.default:
        drawn.meta = dict(node.meta)
        node.replace_all_uses_with(drawn)
        module.graph.erase_node(node)
        return
    x, p = node.args[:2]
    out, mask = node.meta["val"]
    drawn.meta = {**node.meta, "val": mask}
    with module.graph.inserting_before(node):
        kept = module.graph.call_function(aten.mul.Tensor, (x, drawn))
        scaled = module.graph.call_function(aten.mul.Tensor, (kept, 1.0 / (1.0 - p) if p < 1 else 0.0))
    for made in (kept, scaled):
        made.meta = {**node.meta, "val": out}
    for user in list(node.users):
        assert user.target is operator.getitem
        user.replace_all_uses_with(drawn if user.args[1] else scaled)
        module.graph.erase_node(user)
    module.graph.erase_node(node)
