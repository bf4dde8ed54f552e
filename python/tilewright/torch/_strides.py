# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results to which torch's fake tensors give other strides or dtypes than eager PyTorch does. They get eager PyTorch's,
and so does what is computed from them."""
from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from . import _private
from ._layout import row_major

aten = torch.ops.aten
# Results that are the new values of arguments which eager PyTorch writes to, so that they have the dtypes of these; the
# fake ones have that of sums.
WRITTEN = {aten._native_batch_norm_legit_functional.default: {3: 3, 4: 4},
           aten._batch_norm_with_update_functional.default: {4: 3, 5: 4}}


def is_channels_last(value: torch.Tensor) -> bool:
    """Whether eager PyTorch is known to take the tensor for one of images with their channels innermost."""
    if value.dim() != 4:
        return False
    least: Any = 0
    for d in (1, 3, 2, 0):
        size, stride = value.shape[d], value.stride(d)
        if not _private.is_known(stride >= least) or _private.is_known(size == 0):
            return False
        if d == 0 and _private.is_known(least == value.stride(1)):
            return False  # only the channels have more than one element: it is row-major as well
        least = stride if _private.is_known(size == 1) else stride * size
    return not _private.is_known(value.stride(1) == 0)


def _row_major(node: Node) -> Any:
    value = node.meta["val"]
    return value.new_empty_strided(value.shape, row_major(value.shape))


def _channels_last_as_first(node: Node) -> Any:
    """In the order of dimensions of the first argument, where that is images with their channels innermost."""
    value = node.meta["val"]
    if not is_channels_last(node.args[0].meta["val"]):
        return value
    images, channels, height, width = value.shape
    return value.new_empty_strided(value.shape, (height * width * channels, 1, width * channels, channels))


# What eager PyTorch gives of operators whose fake results have other strides. Which they are says no rule of torch, so it
# is a table: a test compares the strides of every sample of torch's op_db.
IN_EAGER = {aten.max_unpool2d.default: _channels_last_as_first, aten.poisson.default: _row_major}
# Whose first result is row-major in eager PyTorch, which calls another operator there; that of the graph gives no such.
COPIED = {aten.rrelu_with_noise_functional.default}


def as_in_eager(module: GraphModule) -> None:
    """Says of the nodes of `module` what eager PyTorch gives."""
    changed: set[Node] = set()
    with _private.fake_mode_of(module):
        for node in module.graph.nodes:
            if node.op != "call_function":
                continue
            if node.target in WRITTEN:
                _give_dtypes(node, WRITTEN[node.target])
            before = _strides_of(node.meta.get("val"))
            if not changed.isdisjoint(node.all_input_nodes):
                node.meta["val"] = _computed(node)
            if node.target in IN_EAGER:
                node.meta["val"] = IN_EAGER[node.target](node)
            if _strides_of(node.meta.get("val")) != before:
                changed.add(node)
            if node.target is operator.getitem and node.args[1] == 0 and node.args[0].target in COPIED:
                changed.add(_row_major_copy(module.graph, node))


def _row_major_copy(graph: Graph, node: Node) -> Node:
    with graph.inserting_after(node):
        copy = graph.call_function(aten.clone.default, (node,), {"memory_format": torch.contiguous_format})
    copy.meta = {**node.meta, "val": _row_major(node)}
    node.replace_all_uses_with(copy, delete_user_cb=lambda user: user is not copy)
    return copy


def _strides_of(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_strides_of(each) for each in value]
    return value.stride() if isinstance(value, torch.Tensor) else None


def _computed(node: Node) -> Any:
    """What the operator gives for its arguments as they are now; what was traced where it cannot tell."""
    if not (isinstance(node.target, _private.OpOverload) or node.target is operator.getitem) or "unbacked_bindings" in node.meta:
        return node.meta.get("val")
    if isinstance(node.target, _private.OpOverload) and _private.schema_of(node.target).is_mutable:
        return node.meta.get("val")
    try:
        return node.target(*_private.values_of(node.args), **_private.values_of(node.kwargs))
    except RuntimeError:  # a view that these strides do not have: eager PyTorch copies there
        return node.meta.get("val")


def _give_dtypes(node: Node, written: dict[int, int]) -> None:
    """Gives results, by their places, the dtypes of arguments."""
    values = list(node.meta["val"])
    for result, argument in written.items():
        values[result] = values[result].to(node.args[argument].meta["val"].dtype)
    node.meta["val"] = tuple(values)
    for user in node.users:
        if user.target is operator.getitem:
            user.meta["val"] = values[user.args[1]]
