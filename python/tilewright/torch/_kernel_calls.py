# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of registered kernels in graphs. A kernel that writes to its arguments is called as it is in exported programs;
AOTAutograd makes of it a higher-order operator that gives what the arguments' memory is then, and writes nothing."""
from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, GraphModule, Node

from . import _operators, _private
from ._layout import NO_VIEW

aten = torch.ops.aten
FUNCTIONAL = torch.ops.higher_order.auto_functionalized_v2


class KernelCall(NamedTuple):
    """`arguments`: (name, argument), as the kernel declares them. bases: of each that is written which of the operator's
    last results is its new value; None where the node writes to the argument itself."""
    operator: _operators.Operator
    arguments: list[tuple[str, Any]]
    bases: dict[str, int] | None

    def written(self) -> Iterator[tuple[str, Node]]:
        for i in self.operator.written_in_place:
            yield self.arguments[i]

    def order(self, results: list[Any], new: list[Any]) -> list[Any]:
        """The kernel's outputs and what it writes in place, in the order of its declaration."""
        outputs, writes = iter(results), iter(new)
        return [next(outputs if each.kind == "out" else writes) for each in self.operator.signature.arguments
                if each.kind in ("out", "inout")]


def find(node: Node) -> KernelCall | None:
    """The call of a registered kernel that `node` is."""
    if (kernel := _operators.find(node.target)) is not None:
        names = [each.name for each in _private.schema_of(node.target).arguments]
        given = dict(zip(names, node.args)) | node.kwargs
        return KernelCall(kernel, [(name, given[name]) for name in names], None)
    if node.target is not FUNCTIONAL or (kernel := _operators.find(node.args[0])) is None:
        return None
    given = dict(node.kwargs)
    bases: dict[str, int] = {}
    for i in kernel.written_in_place:
        name = kernel.signature.inputs[i].name
        bases[name] = given[f"_{name}_base_index"]
        given[name] = given["_all_bases"][bases[name]]
    if len(set(bases.values())) < len(bases) or any(_view_of(node, name) for name in bases):
        return None  # two of them share memory
    return KernelCall(kernel, [(each.name, given[each.name]) for each in kernel.signature.inputs], bases)


def _view_of(node: Node, name: str) -> tuple[Any, ...]:
    """What makes the argument of its base: () where it is all of it, else the operator, its inverse, and arguments."""
    kwargs = node.kwargs
    if f"_{name}_slice_dim" in kwargs:
        return (aten.slice.Tensor, aten.slice_scatter.default, *(kwargs[f"_{name}_slice_{each}"] for each in ("dim", "start", "end")))
    if f"_{name}_storage_offset" in kwargs:
        return (aten.as_strided.default, aten.as_strided_scatter.default,
                *(kwargs[f"_{name}_{each}"] for each in ("size", "stride", "storage_offset")))
    return ()


def has_views(module: GraphModule) -> bool:
    return any(True for node in module.graph.nodes for _ in _calls_on_views(node))


def _calls_on_views(node: Node) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The arguments of kernels that are views of what is written, where no two share memory."""
    if node.op == "call_function" and node.target is FUNCTIONAL and (kernel := _operators.find(node.args[0])):
        names = [kernel.signature.inputs[i].name for i in kernel.written_in_place]
        if len({node.kwargs[f"_{name}_base_index"] for name in names}) == len(names):
            yield from ((name, view) for name in names if (view := _view_of(node, name)))


def make_views_explicit(module: GraphModule) -> None:
    """Kernels that write to views are called on these, and their bases are put together again."""
    for node in list(module.graph.nodes):
        for name, (view, scatter, *where) in list(_calls_on_views(node)):
            _make_explicit(module.graph, node, name, view, scatter, tuple(where))


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


def refusal(node: Node) -> str | None:
    """Why a functional call of an operator that writes to its arguments is no call of a kernel."""
    if node.target is not FUNCTIONAL or find(node) is not None:
        return None
    name = _private.operator_name(node.args[0])
    if _operators.find(node.args[0]) is None:
        return f"{name} writes to its arguments, and is no registered kernel"
    return f"arguments that {name} writes to share memory"


def _make_explicit(graph: Graph, node: Node, name: str, view: Any, scatter: Any, where: tuple[Any, ...]) -> None:
    kwargs = dict(node.kwargs)
    index = kwargs[f"_{name}_base_index"]
    base = kwargs["_all_bases"][index]
    value = view(base.meta["val"], *_private.values_of(where))
    back = (base,)
    if (order := _permutation(base.meta["val"], value)) is not None:
        view, where, scatter, back = aten.permute.default, (order,), aten.permute.default, ()
    with graph.inserting_before(node):
        part = graph.call_function(view, (base, *where))
    part.meta = {**node.meta, "val": value}
    if order is not None:
        where = ([order.index(d) for d in range(len(order))],)
    for key in [key for key in kwargs if key.startswith(f"_{name}_") and key != f"_{name}_base_index"]:
        del kwargs[key]
    kwargs["_all_bases"] = [part if i == index else each for i, each in enumerate(kwargs["_all_bases"])]
    node.kwargs = kwargs
    values = list(node.meta["val"])
    place = len(values) - len(kwargs["_all_bases"]) + index
    whole, values[place] = values[place], part.meta["val"]
    node.meta["val"] = tuple(values)
    for user in [user for user in node.users if user.target is operator.getitem and user.args[1] == place]:
        with graph.inserting_after(user):
            put_back = graph.call_function(scatter, (*back, user, *where))
        user.replace_all_uses_with(put_back, delete_user_cb=lambda each, put_back=put_back: each is not put_back)
        put_back.meta, user.meta = {**user.meta, "val": whole, NO_VIEW: True}, {**user.meta, "val": part.meta["val"]}
