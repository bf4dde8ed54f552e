# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results to which torch's fake tensors give other strides or dtypes than eager PyTorch does. Where they leave a graph,
they leave it in eager PyTorch's strides; within it they have its dtypes."""
from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from . import _private

aten = torch.ops.aten
# Eager PyTorch gives the result the order of dimensions of the first argument; the fake one is row-major. Which operators
# these are says no rule of torch, so it is a table: a test compares the strides of every sample of torch's op_db.
ORDERED_AS_FIRST = {aten.max_unpool2d.default}
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


def as_in_eager(module: GraphModule) -> None:
    """Copies such results of `module`, whose copies have eager PyTorch's strides. What is computed from them keeps the
    strides that were traced."""
    graph = module.graph
    for node in graph.nodes:
        if node.op == "call_function" and node.target in WRITTEN:
            _give_dtypes(node, WRITTEN[node.target])
    end = next(iter(reversed(graph.nodes)))
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target not in ORDERED_AS_FIRST or end not in node.users:
            continue
        if not is_channels_last(node.args[0].meta["val"]):
            continue
        value = node.meta["val"]
        images, channels, height, width = value.shape
        strides = (height * width * channels, 1, width * channels, channels)
        with graph.inserting_after(node):
            copy = graph.call_function(aten.clone.default, (node,), {"memory_format": torch.channels_last})
        copy.meta = {**node.meta, "val": value.new_empty_strided((images, channels, height, width), strides)}
        end.replace_input_with(node, copy)


def _give_dtypes(node: Node, written: dict[int, int]) -> None:
    """Gives results, by their places, the dtypes of arguments."""
    values = list(node.meta["val"])
    for result, argument in written.items():
        values[result] = values[result].to(node.args[argument].meta["val"].dtype)
    node.meta["val"] = tuple(values)
    for user in node.users:
        if user.target is operator.getitem:
            user.meta["val"] = values[user.args[1]]
