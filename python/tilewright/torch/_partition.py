# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of which a part is not supported: programs, and eager PyTorch between them.

A graph is cut into stages, each of which is what runs eagerly and then what is compiled in one piece. A node is in the
earliest stage that its arguments allow, which makes the fewest pieces; what must run in the graph's order (_order.py)
is in no earlier stage than what it follows. Within a stage all is in the graph's order."""
from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from . import _order, _private
from ._explain import GraphRecord
from ._layout import COPY, is_view


class NotCompiled(Exception):
    """Why a graph, or a piece of one, cannot be compiled; and the names of the nodes that are the reason, where these
    are known."""

    def __init__(self, reason: str, names: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.names = set(names)


class _CutAgain(Exception):
    """A piece cannot be compiled because of some of its nodes."""

    def __init__(self, reasons: dict[Node, str]) -> None:
        super().__init__()
        self.reasons = reasons


def run_in_pieces(module: GraphModule, reasons: dict[Node, str], compile_part: Callable[[GraphModule, GraphRecord], Any],
                  seen: GraphRecord) -> Any:
    """Runs `module` with all that is not in `reasons` compiled, in as few pieces as there can be."""
    while True:
        attempt = seen.begun()
        try:
            run = _run_in_stages(module, reasons, lambda part: compile_part(part, attempt), attempt)
        except _CutAgain as more:
            reasons = reasons | more.reasons
            continue
        for node, reason in reasons.items():
            seen.add_eager(node, reason)
        seen.add(attempt)
        return run


def _run_in_stages(module: GraphModule, reasons: dict[Node, str], compile_part: Callable[[GraphModule], Any],
                   seen: GraphRecord) -> Any:
    eager, pieces = _stages(module, reasons)
    runner = _Runner(module)
    beside: list[Node] = []
    for stage in range(max([*eager, *pieces], default=-1) + 1):
        runner.add_eager(eager[stage])
        beside += [node for node in eager[stage] if node not in reasons]
        piece = pieces[stage]
        if not _is_worthwhile(piece):
            runner.add_eager(piece)
            beside += piece
        elif run := _compiled(piece, module, compile_part, seen):
            runner.add_piece(run, *_ends_of(piece))
        else:
            runner.add_eager(piece)
    # Writes to arguments come when all has been read.
    writes = [node for node in module.graph.nodes if node.target is COPY]
    runner.add_eager(writes)
    seen.add_beside([*beside, *(node for node in writes if node not in reasons)])
    return _boxed(runner.finish())


def _stages(module: GraphModule, reasons: dict[Node, str]) -> tuple[defaultdict[int, list[Node]], defaultdict[int, list[Node]]]:
    """The eager and the compiled nodes of each stage."""
    eager: defaultdict[int, list[Node]] = defaultdict(list)
    pieces: defaultdict[int, list[Node]] = defaultdict(list)
    stage: dict[Node, int] = {}
    compiled: set[Node] = set()
    last = 0  # the stage of what was last that must run in order
    for node in module.graph.nodes:
        if node.op != "call_function" or node.target is COPY:
            continue
        is_compiled = _is_supported(node, reasons)
        given = [each for each in node.all_input_nodes if each in stage]
        stage[node] = max((stage[each] + (each in compiled and not is_compiled) for each in given), default=0)
        if is_compiled:
            compiled.add(node)
        elif _order.is_ordered(node):
            stage[node] = last = max(last, stage[node])
        (pieces if is_compiled else eager)[stage[node]].append(node)
    return eager, pieces


def _is_supported(node: Node, reasons: dict[Node, str]) -> bool:
    return node not in reasons and isinstance(node.meta.get("val"), (torch.Tensor, tuple, list))


def _is_worthwhile(piece: list[Node]) -> bool:
    """Views alone are cheaper without a call."""
    return any(not is_view(node) for node in piece)


def _ends_of(piece: list[Node]) -> tuple[list[Node], list[Node]]:
    """What a piece is given, in the order of use, and which of its nodes are used outside. It is given the graph's
    numbers that sizes in it are made of, too: a tensor of the size 2 * n does not say what n is."""
    whole = (*_numbers_for(piece), *piece)
    inside = set(whole)
    given = dict.fromkeys(each for node in whole for each in node.all_input_nodes
                          if each not in inside and each.op != "get_attr")
    symbols = _private.symbols_in([node.meta.get("val") for node in (*whole, *given)])
    given |= dict.fromkeys(node for node in piece[0].graph.nodes if node.op == "placeholder"
                           and _private.symbols_in([node.meta.get("val")], of_tensors=False) & symbols)
    return list(given), [node for node in piece if any(user not in inside for user in node.users)]


def _numbers_for(piece: list[Node]) -> list[Node]:
    """What computes, from sizes, the numbers that are no ints and that a piece uses: it computes them anew, as a program is
    given tensors and ints."""
    found: dict[Node, None] = {}

    def add_inputs(node: Node) -> None:
        for each in node.all_input_nodes:
            if (isinstance(each.meta.get("val"), (torch.SymFloat, torch.SymBool)) and each not in found
                    and not isinstance(each.target, _private.OpOverload)):
                add_inputs(each)
                found[each] = None

    for node in piece:
        add_inputs(node)
    return list(found)


def _compiled(piece: list[Node], module: GraphModule, compile_part: Callable[[GraphModule], Any], seen: GraphRecord) -> Any:
    """What runs a piece; None when it cannot be compiled as a whole."""
    given, results = _ends_of(piece)
    graph, copies = Graph(), {}
    for node in given:
        copies[node] = graph.placeholder(node.name)
        copies[node].meta = dict(node.meta)
    for node in (*_numbers_for(piece), *piece):
        _copy(graph, node, copies)
    graph.output(tuple(copies[node] for node in results))
    try:
        return compile_part(_private.graph_module(module, graph))
    except NotCompiled as refusal:
        if named := {node: str(refusal) for node in piece if node.name in refusal.names}:
            raise _CutAgain(named) from refusal
        for node in piece:
            seen.add_eager(node, str(refusal))
        return None


def _copy(graph: Graph, node: Node, copies: dict[Node, Node]) -> None:
    """Adds a copy of `node` to `graph`, and before it those of attributes that it has."""
    for each in node.all_input_nodes:
        if each.op == "get_attr" and each not in copies:
            copies[each] = graph.node_copy(each)
    copies[node] = graph.node_copy(node, copies.__getitem__)


class _Runner:
    """The graph that runs all pieces, and eagerly what is between them."""

    def __init__(self, module: GraphModule) -> None:
        self.module, self.graph = module, Graph()
        self.copies: dict[Node, Node] = {}
        self.runs: dict[str, Any] = {}
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self.copies[node] = self.graph.node_copy(node)

    def add_eager(self, nodes: list[Node]) -> None:
        for node in nodes:
            _copy(self.graph, node, self.copies)

    def add_piece(self, run: Any, given: list[Node], results: list[Node]) -> None:
        name = f"piece_{len(self.runs)}"
        self.runs[name] = run
        call = self.graph.call_module(name, tuple(self.copies[node] for node in given))
        for index, node in enumerate(results):
            self.copies[node] = self.graph.call_function(operator.getitem, (call, index))

    def finish(self) -> GraphModule:
        end = next(iter(reversed(self.module.graph.nodes)))
        for each in end.all_input_nodes:
            if each.op == "get_attr" and each not in self.copies:
                self.copies[each] = self.graph.node_copy(each)
        self.graph.output(map_arg(end.args[0], self.copies.__getitem__))
        for name, run in self.runs.items():
            self.module.add_submodule(name, Part(run))
        return _private.graph_module(self.module, self.graph)


class Part(torch.nn.Module):
    """A compiled piece as a module."""

    def __init__(self, run: Any) -> None:
        super().__init__()
        self.run = run

    def forward(self, *args: Any) -> Any:
        return self.run(list(args))


def _boxed(module: GraphModule) -> Any:
    def call(args: list[Any]) -> list[Any]:
        given = list(args)
        args.clear()
        return list(module(*given))

    return _private.boxed(call)
