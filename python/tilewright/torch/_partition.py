# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of which a part is not supported: programs, and eager PyTorch between them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from . import _private
from ._explain import GraphRecord
from ._layout import COPY, is_view


class NotCompiled(Exception):
    """Why a graph, or a piece of one, cannot be compiled."""


def run_in_pieces(module: GraphModule, reasons: dict[Node, str], compile_part: Callable[[GraphModule], Any],
                  seen: GraphRecord) -> Any:
    """Runs `module` with all that is not in `reasons` compiled, in as few pieces as there can be."""

    def is_supported(node: Node) -> bool:
        return (node.op == "call_function" and node not in reasons and node.target is not COPY
                and isinstance(node.meta.get("val"), (torch.Tensor, tuple, list)))

    order = [node.name for node in module.graph.nodes if _is_ordered(node)]
    partitioner = _private.partitioner(module, is_supported)
    pieces = [piece for piece in partitioner.propose_partitions() if _is_worthwhile(piece)]
    fused = partitioner.fuse_partitions(pieces)
    _move_to_end(fused, [node for node in fused.graph.nodes if node.target is COPY])
    if [node.name for node in fused.graph.nodes if _is_ordered(node)] != order:
        for node in module.graph.nodes:
            if node.op == "call_function" and node not in reasons:
                seen.add_eager(node, "in pieces, the graph's random operators would change places")
        return _boxed(module)
    for node in list(fused.graph.nodes):
        if node.op == "call_module" and isinstance(part := fused.get_submodule(str(node.target)), GraphModule):
            _compile_part(fused, node, part, compile_part, seen)
    fused.recompile()
    return _boxed(fused)


def _is_ordered(node: Node) -> bool:
    """What must run in the order of the graph: draws from the generator, and writes."""
    return node.op == "call_function" and (_private.is_random(node) or node.target is COPY)


def _is_worthwhile(piece: Any) -> bool:
    """Views alone are cheaper without a call."""
    return any(not is_view(node) for node in piece.nodes)


def _move_to_end(module: GraphModule, nodes: list[Node]) -> None:
    """Writes to arguments come when all has been read."""
    end = next(iter(reversed(module.graph.nodes)))
    for node in nodes:
        end.prepend(node)


def _compile_part(module: GraphModule, node: Node, part: GraphModule, compile_part: Callable[[GraphModule], Any],
                  seen: GraphRecord) -> None:
    for inner, outer in zip((each for each in part.graph.nodes if each.op == "placeholder"), node.args):
        inner.meta = dict(outer.meta)
    end = next(iter(reversed(part.graph.nodes)))
    is_single = not isinstance(end.args[0], (list, tuple))
    try:
        run = compile_part(part)
    except NotCompiled as refusal:
        for each in part.graph.nodes:
            if each.op == "call_function":
                seen.add_eager(each, str(refusal))
        return
    setattr(module, str(node.target), Part(run, is_single))


class Part(torch.nn.Module):
    """A compiled piece in the place of the submodule that it was."""

    def __init__(self, run: Any, is_single: bool) -> None:
        super().__init__()
        self.run, self.is_single = run, is_single

    def forward(self, *args: Any) -> Any:
        results = self.run(list(args))
        return results[0] if self.is_single else results


def _boxed(module: GraphModule) -> Any:
    def call(args: list[Any]) -> list[Any]:
        given = list(args)
        args.clear()
        return list(module(*given))

    call._boxed_call = True  # type: ignore[attr-defined]
    return call
