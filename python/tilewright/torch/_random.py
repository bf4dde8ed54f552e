# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operators move to an eager prologue: the same numbers as in eager PyTorch, and the same state of the
generator afterwards, bit for bit. They can as long as only their sizes depend on arguments; from the first that
needs data on, and from the first operator that may draw without saying so, they stay where they are and run
eagerly there.

Activation checkpointing draws twice: forward saves the generator's state before a draw, and backward draws again
from that state. Both are draws like others, of which one gives the state and the other begins from it."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from . import _order, _private
from ._sizes import Sizes, Unplannable

aten = torch.ops.aten
SAVE_STATE, FROM_STATE, FROM_GENERATOR = _private.SAVE_STATE, _private.FROM_STATE, _private.FROM_GENERATOR
# Of these a tensor argument gives nothing but sizes and dtype.
LIKE = {aten.rand_like.default, aten.randn_like.default, aten.randint_like.default, aten.randint_like.low_dtype,
        aten.uniform.default, aten.bernoulli.p, aten.normal_functional.default, aten.exponential.default,
        aten.log_normal.default, aten.cauchy.default, aten.geometric.default, aten.random.default,
        aten.random.to, getattr(aten.random, "from")}

Draw = Callable[[Sequence[int]], torch.Tensor]


class Prologue:
    """Draws the numbers of one graph, in order, and puts them behind its arguments."""

    def __init__(self, sources: list[tuple[int, int]], evaluate: Callable[..., Any] | None,
                 draws: list[Callable[[Any, list[Any]], tuple[torch.Tensor, ...]]]) -> None:
        self.sources, self.evaluate, self.draws = sources, evaluate, draws

    def add_to(self, args: list[Any]) -> None:
        numbers: Sequence[int] = [args[i] if d < 0 else args[i].size(d) for i, d in self.sources]
        if self.evaluate is not None:
            numbers = self.evaluate(*numbers)
        for draw in self.draws:
            args.extend(draw(numbers, args))


class Call(NamedTuple):
    """One draw: of which operator, and with the generator in which state."""
    op: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    wrapper: Any = None  # the higher-order operator around it
    state: Node | None = None


def _call(node: Node) -> Call:
    args, kwargs = node.args, dict(node.kwargs)
    if node.target is SAVE_STATE:
        return Call(args[0], args[1:], kwargs, SAVE_STATE)
    if node.target is FROM_STATE:
        return Call(args[1], args[2:], kwargs, FROM_STATE, args[0])
    if node.target is FROM_GENERATOR:
        return Call(args[0], args[1:], kwargs, FROM_GENERATOR, kwargs.pop("rng_state"))
    return Call(node.target, args, kwargs)


def extract(module: GraphModule, is_opaque: Callable[[Node], bool]) -> tuple[Prologue | None, dict[Node, str]]:
    """Takes the random operators that can move out of `module`; None when there are none. And for each that stays,
    why it does."""
    _describe(module)
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    sizes = Sizes(placeholders)
    places = {node: index for index, node in enumerate(placeholders)}
    draws: list[Any] = []
    left: dict[Node, str] = {}
    last = placeholders[-1] if placeholders else None
    first: tuple[Node, str] | None = None  # from which on all stay
    for node in list(module.graph.nodes):
        if node.op != "call_function":
            continue
        if not _order.is_random(node):
            if first is None and is_opaque(node):
                first = node, "may draw from the generator without saying so"
            continue
        if first is None:
            try:
                with sizes.all_known():
                    draw, call, device = _draw(node, sizes, places), _call(node), _device(node)
            except Unplannable as why:
                first = node, str(why)
        if first is not None:
            left[node] = _reason(node, *first)
            continue
        made = []
        for suffix in ("_state", "") if call.wrapper is SAVE_STATE else ("",):
            with (module.graph.inserting_after(last) if last else module.graph.inserting_before()):
                last = module.graph.placeholder(f"random_{len(draws)}{suffix}")
            made.append(last)
        _replace(module, node, call, made)
        draws.append(_in_state(draw, call, places.get(call.state), device))
    if not draws:
        return None, left
    module.graph.lint()
    module.recompile()
    return Prologue(*sizes.plan(), draws), left


def _describe(module: GraphModule) -> None:
    """Says of the draws of activation checkpointing what they give: torch puts them into a graph without."""
    for node in module.graph.nodes:
        if node.target in (SAVE_STATE, FROM_STATE, FROM_GENERATOR) and "val" not in node.meta:
            call = _call(node)
            with _private.fake_mode_of(module):
                args, kwargs = map_arg((call.args, call.kwargs), lambda each: each.meta["val"])
                value = call.op(*args, **kwargs)
            state = [user.meta["val"] for user in node.users if user.target is operator.getitem and user.args[1] == 0]
            node.meta["val"] = (state[0] if state else None, value) if node.target is SAVE_STATE else value


def _reason(node: Node, first: Node, why: str) -> str:
    text = "its random numbers are to be those of eager PyTorch, "
    if node is first:
        return f"{text}and {why}"
    return f"{text}where {_private.operator_name(first.target)} is called before, which {why}"


def _device(node: Node) -> torch.device:
    """Whose generator it draws from."""
    value = node.meta.get("val")
    while isinstance(value, (list, tuple)):
        value = value[-1]
    return value.device if isinstance(value, torch.Tensor) else torch.device("cpu")


def _get_state(device: torch.device) -> torch.Tensor:
    return torch.get_rng_state() if device.type == "cpu" else torch.cuda.get_rng_state(device)


def _set_state(device: torch.device, state: torch.Tensor) -> None:
    if device.type == "cpu":
        torch.set_rng_state(state)
    else:
        torch.cuda.set_rng_state(state.cpu(), device)


def _in_state(draw: Draw, call: Call, place: int | None,
              device: torch.device) -> Callable[[Any, list[Any]], tuple[torch.Tensor, ...]]:
    """`draw` with what the operator around it does to the generator."""
    if call.wrapper is SAVE_STATE:
        return lambda numbers, args: (_get_state(device), draw(numbers))
    if call.wrapper is None:
        return lambda numbers, args: (draw(numbers),)

    def again(numbers: Any, args: list[Any]) -> tuple[torch.Tensor, ...]:
        state = args[place]  # type: ignore[index]
        if isinstance(state, torch.Generator):
            return (_with_generator(state, draw, numbers),)
        before = _get_state(device)
        _set_state(device, state)
        try:
            return (draw(numbers),)
        finally:
            _set_state(device, before)

    return again


def _with_generator(given: torch.Generator, draw: Draw, numbers: Any) -> torch.Tensor:
    """As the GPU's own generator in this state."""
    with _private.drawing_from(given):
        return draw(numbers)


def _draw(node: Node, sizes: Sizes, places: dict[Node, int]) -> Draw:
    call = _call(node)
    if call.wrapper is not None and call.wrapper is not SAVE_STATE and call.state not in places:
        raise Unplannable("begins from a state that the graph computes")
    if not isinstance(call.op, _private.OpOverload):
        raise Unplannable("are drawn in a branch or loop")
    if call.op is aten.native_dropout.default:
        return _dropout(call, sizes)
    value = node.meta.get("val")
    return _plain(value[1] if call.wrapper is SAVE_STATE else value, call, sizes)


def _at(number: Any, numbers: Sequence[int]) -> Any:
    return numbers[number[0]] if isinstance(number, tuple) else number


def _like(value: torch.Tensor, sizes: Sizes) -> Callable[[Any], torch.Tensor]:
    """Memory with the sizes and strides of a fake tensor."""
    shape, strides = sizes.numbers(value.shape), sizes.numbers(value.stride())
    dtype, device = value.dtype, value.device
    return lambda numbers: torch.empty_strided([_at(each, numbers) for each in shape],
                                               [_at(each, numbers) for each in strides], dtype=dtype, device=device)


def _dropout(call: Call, sizes: Sizes) -> Draw:
    """The mask of native_dropout(x, p, train), drawn as eager draws it."""
    x, p, train = call.args
    if train is False:
        raise Unplannable("are none: it is not in training")
    value = x.meta["val"]
    if value.device.type != "cpu":  # which draws in an order of its own
        like = _like(value, sizes)
        return lambda numbers: aten.native_dropout.default(like(numbers), p, train)[1]
    memory = _like(value.to(torch.bool) if value.dtype != torch.bool else value, sizes)
    if p == 1:  # eager PyTorch's dropout draws nothing then
        return lambda numbers: memory(numbers).zero_()
    return lambda numbers: memory(numbers).bernoulli_(1 - p)


def _plain(value: Any, call: Call, sizes: Sizes) -> Draw:
    """The operator itself, called with numbers for sizes; `value` is what the graph says of its result."""
    if not isinstance(value, torch.Tensor):
        raise Unplannable("are not one tensor")

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
        if isinstance(value, torch.Tensor) and call.op in LIKE:
            return _like(value, sizes)
        raise Unplannable("depend on data")

    args = [argument(each) for each in call.args]
    kwargs = {name: argument(each) for name, each in call.kwargs.items()}
    target = call.op
    return lambda numbers: target(*(each(numbers) for each in args),
                                  **{name: each(numbers) for name, each in kwargs.items()})


def _replace(module: GraphModule, node: Node, call: Call, made: list[Node]) -> None:
    """Puts the placeholders of a draw, the last of which has the numbers, in the place of `node`."""
    drawn = made[-1]
    if call.wrapper is SAVE_STATE:
        parts = [user for user in node.users if user.target is operator.getitem]
        made[0].meta = {**node.meta, "val": node.meta["val"][0]}
        for part in parts:
            if part.args[1] == 0:
                _put(module, part, made[0])
            else:
                _replace_numbers(module, part, node.meta["val"][1], call, drawn)
        drawn.meta = {**node.meta, "val": _numbers_of(node.meta["val"][1])}
        module.graph.erase_node(node)
        return
    _replace_numbers(module, node, node.meta["val"], call, drawn)


def _numbers_of(value: Any) -> torch.Tensor:
    """Of what dropout gives, the mask."""
    return value[1] if isinstance(value, (list, tuple)) else value


def _put(module: GraphModule, node: Node, other: Node) -> None:
    node.replace_all_uses_with(other)
    module.graph.erase_node(node)


def _replace_numbers(module: GraphModule, node: Node, value: Any, call: Call, drawn: Node) -> None:
    """Puts `drawn` in the place of what `call` gave as `node`."""
    drawn.meta = {**node.meta, "val": _numbers_of(value)}
    if call.op is not aten.native_dropout.default:
        _put(module, node, drawn)
        return
    x, p = call.args[:2]
    with module.graph.inserting_before(node):
        kept = module.graph.call_function(aten.mul.Tensor, (x, drawn))
        scaled = module.graph.call_function(aten.mul.Tensor, (kept, 1.0 / (1.0 - p) if p < 1 else 0.0))
    for each in (kept, scaled):
        each.meta = {**node.meta, "val": value[0]}
    for user in list(node.users):
        assert user.target is operator.getitem
        _put(module, user, drawn if user.args[1] else scaled)
    module.graph.erase_node(node)
