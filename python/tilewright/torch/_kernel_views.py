# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that write to a part of a tensor. AOTAutograd hands the whole tensor to the functional call, and says which part
of it the kernel is given: a slice, or sizes, strides and an offset in the memory. Here the part becomes a node of its own
on which the kernel is called, and what it is then is put back into the whole."""
from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, GraphModule, Node

from . import _operators, _private
from ._kernel_calls import FUNCTIONAL, view_of
from ._layout import NO_VIEW, order_of

aten = torch.ops.aten
PART = "tilewright_part"  # in the meta of a part that a kernel writes to: which, for messages
Arguments = tuple[Any, ...]


class Step(NamedTuple):
    """view(x, *where) is a part of x, or all of it. back(x, part, *back_where) is x with another part; where `is_all`,
    back(part, *back_where), or the part itself where there is no `back`."""
    view: Any
    where: Arguments
    back: Any
    back_where: Arguments
    is_all: bool = False


def has_views(module: GraphModule) -> bool:
    return any(True for node in module.graph.nodes for _ in _calls_on_views(node))


def make_views_explicit(module: GraphModule) -> None:
    """Kernels that write to views are called on these, and their bases are put together again."""
    for node in list(module.graph.nodes):
        for name in list(_calls_on_views(node)):
            _make_explicit(module.graph, node, name)


def _calls_on_views(node: Node) -> Iterator[str]:
    """The arguments of kernels that are views of what is written, where no two share memory."""
    if node.op == "call_function" and node.target is FUNCTIONAL and (kernel := _operators.find(node.args[0])):
        names = [kernel.signature.inputs[i].name for i in kernel.written_in_place]
        if len({node.kwargs[f"_{name}_base_index"] for name in names}) == len(names):
            yield from (name for name in names if view_of(node, name))


def _steps(graph: Graph, base: Node, kwargs: dict[str, Any], name: str) -> list[Step]:
    """From the base to the argument."""
    if f"_{name}_slice_dim" in kwargs:
        where = tuple(kwargs[f"_{name}_slice_{each}"] for each in ("dim", "start", "end"))
        return [Step(aten.slice.Tensor, where, aten.slice_scatter.default, where)]
    whole = base.meta["val"]
    size, stride, offset = (kwargs[f"_{name}_{each}"] for each in ("size", "stride", "storage_offset"))
    given = aten.as_strided.default(whole, *_private.values_of((size, stride, offset)))
    if (order := _permutation(whole, given)) is not None:
        return [_permuted(order)]
    begin = given.storage_offset() - whole.storage_offset()
    is_known = isinstance(begin, int) or _private.is_known(whole.storage_offset() == 0)
    if (order := order_of(whole)) is None or not is_known:
        strided = (size, stride, offset)
        return [Step(aten.as_strided.default, strided, aten.as_strided_scatter.default, strided)]
    steps = [] if order == sorted(order) else [_permuted(order)]
    if whole.dim() != 1:
        steps.append(Step(aten.view.default, ([-1],), aten.view.default, ([_size(graph, base, d) for d in order],), True))
    # Where the base begins in its memory the next call may say otherwise; where the part is in a copy of it, it may not.
    strided = (size, stride, begin if isinstance(begin, int) else offset)
    return [*steps, Step(aten.clone.default, (), None, ()),
            Step(aten.as_strided.default, strided, aten.as_strided_scatter.default, strided)]


def _permuted(order: list[int]) -> Step:
    inverse = [order.index(d) for d in range(len(order))]
    return Step(aten.permute.default, (order,), aten.permute.default, (inverse,), is_all=True)


def _permutation(base: torch.Tensor, view: torch.Tensor) -> list[int] | None:
    """The dimensions of `base` that those of `view` are, where it is all of it in another order."""
    left, order = list(range(base.dim())), []
    for size, stride in zip(view.shape, view.stride()):
        fits = [d for d in left if _private.is_known(base.shape[d] == size) and _private.is_known(base.stride(d) == stride)]
        if not fits:
            return None
        left.remove(fits[0])
        order.append(fits[0])
    return None if left or not _private.is_known(base.storage_offset() == view.storage_offset()) else order


def _size(graph: Graph, tensor: Node, d: int) -> Any:
    size = tensor.meta["val"].shape[d]
    return size if isinstance(size, int) else _called(graph, aten.sym_size.int, (tensor, d), {**tensor.meta, "val": size})


def _called(graph: Graph, target: Any, args: Arguments, meta: dict[str, Any]) -> Node:
    node = graph.call_function(target, args)
    node.meta = meta
    return node


def _make_explicit(graph: Graph, node: Node, name: str) -> None:
    kwargs = dict(node.kwargs)
    index = kwargs[f"_{name}_base_index"]
    base = part = kwargs["_all_bases"][index]
    passed: list[tuple[Step, Node]] = []  # and what the step is made from
    with graph.inserting_before(node):
        for step in _steps(graph, base, kwargs, name):
            passed.append((step, part))
            value = step.view(part.meta["val"], *_private.values_of(step.where))
            part = _called(graph, step.view, (part, *step.where), {**node.meta, "val": value})
    part.meta[PART] = f"argument \"{name}\" of {_private.operator_name(node.args[0])}, which writes to it,"
    for key in [key for key in kwargs if key.startswith(f"_{name}_") and key != f"_{name}_base_index"]:
        del kwargs[key]
    kwargs["_all_bases"] = [part if i == index else each for i, each in enumerate(kwargs["_all_bases"])]
    node.kwargs = kwargs
    values = list(node.meta["val"])
    place = len(values) - len(kwargs["_all_bases"]) + index
    whole, values[place] = values[place], part.meta["val"]
    node.meta["val"] = tuple(values)
    for user in [user for user in node.users if user.target is operator.getitem and user.args[1] == place]:
        _put_back(graph, user, passed, whole)
        user.meta = {**user.meta, "val": part.meta["val"]}


def _put_back(graph: Graph, new: Node, passed: list[tuple[Step, Node]], whole: torch.Tensor) -> None:
    """Gives the users of `new`, what a part is after the call, the whole with this part in it."""
    users, put_back = list(new.users), new
    for step, source in reversed(passed):
        if step.back is None:
            continue
        with graph.inserting_after(put_back):
            put_back = _called(graph, step.back, (*(() if step.is_all else (source,)), put_back, *step.back_where),
                               {**new.meta, "val": source.meta["val"]})
    put_back.meta.update({"val": whole, NO_VIEW: True})
    for user in users:
        user.replace_input_with(new, put_back)
