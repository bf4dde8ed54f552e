# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must run in the order of a graph, though no value says so: draws from a random generator, operators of which
nobody knows whether they draw, and writes to arguments."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from . import _operators, _private
from ._graph_writer import attribute
from ._layout import COPY

aten = torch.ops.aten
# Whose tags say what draws; an operator of another library may draw without one.
TAGGED = {"aten", "prim", "prims"}
EFFECTS = {_private.WITH_EFFECTS}


def bodies(node: Node) -> Iterator[GraphModule]:
    """The graphs that a higher-order operator is given."""
    for each in node.all_input_nodes:
        if each.op == "get_attr" and isinstance(body := attribute(node.graph.owning_module, each.target), GraphModule):
            yield body


def _given(node: Node) -> list[Any]:
    return [each for each in (*node.args, *node.kwargs.values()) if isinstance(each, _private.OpOverload)]


def called(node: Node) -> str:
    """The operator that a higher-order operator is to call: "aten._print.default"."""
    return ", ".join(map(_private.operator_name, _given(node)))


def _any(node: Node, holds: Callable[[Node], bool]) -> bool:
    """Whether it holds for `node`, or one in a body of it."""
    return holds(node) or any(_any(each, holds) for body in bodies(node)
                              for each in body.graph.nodes if each.op == "call_function")


def is_random(node: Node) -> bool:
    """Whether a node is known to draw from a generator."""
    return node.op == "call_function" and _any(node, _draws)


def _draws(node: Node) -> bool:
    """Attention is tagged as if it drew, and does where it has dropout."""
    op = node.target
    if not isinstance(op, _private.OpOverload):
        return any(torch.Tag.nondeterministic_seeded in each.tags for each in _given(node))
    if torch.Tag.nondeterministic_seeded not in op.tags:
        return False
    if op is aten.native_dropout.default:
        return node.args[2] is not False
    for index, argument in enumerate(_private.schema_of(op).arguments):
        if argument.name == "dropout_p":
            given = node.args[index] if index < len(node.args) else node.kwargs.get("dropout_p", argument.default_value)
            return given != 0
    return True


def is_opaque(node: Node) -> bool:
    """Whether a node calls what may draw or have another effect, as far as is known: operators of other libraries that
    are no kernels of ours."""
    def calls_one(each: Node) -> bool:
        called = [each.target, *_given(each)]
        return each.target in EFFECTS or any(isinstance(op, _private.OpOverload) and op.namespace not in TAGGED
                                             and _operators.find(op) is None for op in called)

    return node.op == "call_function" and _any(node, calls_one)


def is_ordered(node: Node) -> bool:
    return node.op == "call_function" and (node.target is COPY or is_random(node) or is_opaque(node))
