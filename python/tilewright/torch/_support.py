# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which nodes of a graph cannot be compiled, and why: the compiler is asked."""
from __future__ import annotations

import json
import operator
import re
import traceback
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .. import _native
from . import _kernel_calls, _operators, _order, _private
from ._graph_writer import DTYPES, GraphWriter, Unwritable, program
from ._kernel_views import PART
from ._layout import may_overlap, root_of, row_major
from ._place import Place, tensors_in

# What programs can be given and give; the compiler has the same list (tw_dtype).
OURS = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.uint8, torch.bool}

# Eager PyTorch copies the first argument with its strides and writes to the copy: where elements of it share memory, to
# all of them, which is how a graph says that a tensor which overlaps itself is written through a view.
aten = torch.ops.aten
SCATTERS = {aten.select_scatter.default, aten.slice_scatter.default, aten.diagonal_scatter.default,
            aten.as_strided_scatter.default}
# The offset that these are given counts from where the memory of a tensor begins. Where in it an argument begins no guard
# of Dynamo's says, so that the next call's may be elsewhere.
STRIDED = {aten.as_strided.default, aten.as_strided_copy.default, aten.as_strided_scatter.default}


def about_memory(node: Node) -> str | None:
    """Why a node cannot be compiled whose result depends on more than the elements of its arguments; None for others."""
    if node.target in SCATTERS and may_overlap(node.meta["val"]):
        return "elements of its result share memory"
    if node.target in STRIDED and root_of(node.args[0]).op == "placeholder":
        count = len(_private.schema_of(node.target).arguments)
        if node.kwargs.get("storage_offset", node.args[-1] if len(node.args) == count else None) is not None:
            value = node.meta["val"]
            if part := node.meta.get(PART):
                return (f"{part} has the sizes {list(value.shape)} and the strides {list(value.stride())} in memory of an "
                        f"argument that has gaps or overlaps, or begins where only a call tells: give the kernel a copy, and "
                        f"copy that back")
            return "it is given a place in the memory of an argument"
    return None


def foreign(value: Any, place: Place | str) -> str | None:
    """Why a program at `place`, or why there is none, cannot be given or give a tensor like this; None when it can."""
    for tensor in tensors_in(value):
        if isinstance(place, str):
            return place
        if tensor.device != place.tensors:
            return f"a tensor is on the device {tensor.device}, and others on {place.tensors}" if place.tensors.type == "cuda" \
                else f"a tensor is on the device {tensor.device}"
        if tensor.layout is not torch.strided:
            return f"a tensor has the layout {tensor.layout}"
        if tensor.dtype not in OURS or tensor.dtype not in DTYPES:
            return f"a tensor has the dtype {tensor.dtype}"
    return None


def _reason(node: Node, place: Place | str) -> str | None:
    """What can be said without asking the compiler."""
    if not isinstance(node.target, (_private.OpOverload, _private.HigherOrderOperator)) and not _is_size(node):
        return "it is no operator"
    if why := _kernel_calls.refusal(node):
        return why
    if node.target in _order.EFFECTS:
        return f"{_order.called(node)} has an effect outside of the graph"
    if _order.is_random(node):
        return "its random numbers are to be those of eager PyTorch"
    if why := about_memory(node):
        return why
    for value in (node.meta.get("val"), *(each.meta.get("val") for each in node.all_input_nodes)):
        if why := foreign(value, place):
            return why
    return None


def _reason_of_bodies(node: Node, kernels: tuple[list[str], list[tuple[str, str]]], place: Place | str) -> str | None:
    """Why a branch or loop cannot be compiled: because of the first operator in it that cannot."""
    for body in _order.bodies(node):
        for inner, why in unsupported(body, kernels, place).items():
            return f"in it, {describe(inner, why)}"
    return None


def _is_size(node: Node) -> bool:
    value = node.meta.get("val")
    return node.target is operator.getitem or isinstance(
        value, (torch.SymInt, torch.SymFloat, torch.SymBool, int, float))


def serialize(module: GraphModule, skipped: frozenset[Node] | set[Node] = frozenset(),
              frozen: list[str] | tuple[str, ...] = ()) -> tuple[bytes, list[tuple[str, str]]]:
    """The graph as the compiler reads it, and the kernels of registered operators in it. `frozen` inputs are its
    parameters, in the order in which they lie in memory. Raises Unwritable."""
    writer = GraphWriter(module, skipped=skipped)
    graph = writer.graph()
    values = [node.meta.get("val") for node in module.graph.nodes]
    ranges = _private.ranges_of([value for value in values if isinstance(value, (torch.Tensor, torch.SymInt))])
    for name in frozen:
        meta = graph["tensor_values"][name]
        sizes = [size["as_int"] for size in meta["sizes"]]
        meta["strides"] = [{"as_int": stride} for stride in row_major(sizes)]
        meta["storage_offset"] = {"as_int": 0}
    json_text = program(graph, [_input_spec(each, frozen) for each in graph["inputs"]],
                        [{"user_output": {"arg": each}} for each in graph["outputs"]], ranges)
    return json_text, _operators.texts_of(writer.kernels)


def _input_spec(argument: dict[str, Any], frozen: list[str] | tuple[str, ...]) -> dict[str, Any]:
    name = argument.get("as_tensor", {}).get("name")
    if name in frozen:
        return {"parameter": {"arg": {"name": name}, "parameter_name": name}}
    return {"user_input": {"arg": argument}}


def unsupported(module: GraphModule, kernels: tuple[list[str], list[tuple[str, str]]], place: Place | str,
                known: dict[Node, str] | None = None) -> dict[Node, str]:
    """The reason for each node that cannot be compiled; of some it is `known`."""
    calls = {node.name: node for node in module.graph.nodes if node.op == "call_function"}
    reasons = dict(known or {})
    reasons |= {node: why for node in calls.values() if node not in reasons and (why := _reason(node, place))}
    reasons |= {node: why for node in calls.values() if node not in reasons and (why := _reason_of_bodies(node, kernels, place))}
    reasons |= _unwritable(module, calls, reasons)
    hidden = {node for node in module.graph.nodes
              if node.op in ("placeholder", "get_attr") and foreign(node.meta.get("val"), place)}
    while True:
        _take_parts_along(calls, reasons)
        json_text, texts = serialize(module, hidden | reasons.keys())
        try:
            found = json.loads(_native.inspect("graph", json_text, kernels[0], kernels[1] + texts, True))["unsupported"]
        except _native.UnsupportedError as error:  # the importer stops at what it cannot say in its own terms
            fresh = {calls[name]: error.message for name in names_in(error) if name in calls}
            if not fresh.keys() - reasons.keys():
                raise
        else:
            fresh = {calls[each["node"]]: each["reason"] or "it is not supported"
                     for entry in found for each in entry["nodes"] if each["node"] in calls}
        if not fresh.keys() - reasons.keys():
            return reasons
        reasons |= fresh


def names_in(error: _native.Error) -> list[str]:
    """The nodes that an error names as its places."""
    return re.findall(r"node (\w+) \(#\d+\)", error.text)


def _take_parts_along(calls: dict[str, Node], reasons: dict[Node, str]) -> None:
    """A part of a result is got where the result is made."""
    for node in calls.values():
        if node.target is operator.getitem and node.args[0] in reasons:
            reasons[node] = reasons[node.args[0]]


def _unwritable(module: GraphModule, calls: dict[str, Node], known: dict[Node, str]) -> dict[Node, str]:
    """Nodes whose arguments the schema cannot say."""
    reasons = {}
    writer = GraphWriter(module)
    for node in calls.values():
        if node in known:
            continue
        try:
            writer._call_function(node)
        except Unwritable as error:
            higher = isinstance(node.target, _private.HigherOrderOperator)
            reasons[node] = f"the higher-order operator is not supported with {error}" if higher else f"it has {error}"
    return reasons


def user_line(node: Node) -> str:
    """"net.py:12 in forward", of the innermost frame that is not torch's; "" when none is known."""
    frames = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines() if line.strip().startswith("File ")]
    theirs = [frame for frame in frames if "/torch/" not in frame] or frames
    if not theirs:
        return ""
    file, line, function = (theirs[-1].split(", ") + ["", ""])[:3]
    return f"{file.removeprefix('File ').strip(chr(34))}:{line.removeprefix('line ')} {function}"


def frame_text(stack: list[traceback.FrameSummary]) -> str:
    """The same of a stack, innermost last."""
    theirs = [frame for frame in stack if "/torch/" not in frame.filename] or stack
    return f"{theirs[-1].filename}:{theirs[-1].lineno} in {theirs[-1].name}" if theirs else ""


def describe(node: Node, reason: str) -> str:
    line = user_line(node)
    return f"{_private.target_name(node.target).removeprefix('torch.ops.')}: {reason}{f' ({line})' if line else ''}"
