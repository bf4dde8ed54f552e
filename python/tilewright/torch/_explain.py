# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What becomes of the graphs of torch.compile: told to a logger, and collected by explain."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import Node

from . import _private, _support

_listeners: list[list[GraphRecord]] = []


class GraphRecord:
    """One graph. kind: "inference", "forward" or "backward". operators: how many it has. programs: what was
    compiled of it. eager: for each operator that runs eagerly its name, why, and the user's line."""

    def __init__(self, kind: str, operators: int) -> None:
        self.kind, self.operators = kind, operators
        self.programs: list[Any] = []
        self.eager: list[str] = []

    def add_program(self, program: Any) -> None:
        self.programs.append(program)

    def add_eager(self, node: Node, reason: str) -> None:
        self.eager.append(_support.describe(node, reason))

    def finish(self) -> None:
        """Tells the logger and whoever listens."""
        for line in self.eager:
            _private.logger.info("runs eagerly: %s", line)
        for listener in _listeners:
            listener.append(self)

    def __str__(self) -> str:
        lines = [f"{self.kind} graph: {self.operators} operators, {len(self.programs)} programs, "
                 f"{len(self.eager)} operators run eagerly"]
        lines += [f"  {line}" for line in self.eager]
        return "\n".join(lines)


class Explanation:
    """What explain found. graphs: a GraphRecord for each graph; breaks: why Dynamo cut the function, if it did."""

    def __init__(self, graphs: list[GraphRecord], breaks: list[str]) -> None:
        self.graphs, self.breaks = graphs, breaks

    @property
    def eager(self) -> list[str]:
        """All operators that run eagerly, with reason and line."""
        return [line for graph in self.graphs for line in graph.eager]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.graphs), *(f"graph break: {each}" for each in self.breaks)])

    __repr__ = __str__


def explain(f: Callable[..., Any], *args: Any, options: dict[str, Any] | None = None, dynamic: bool | None = None,
            **kwargs: Any) -> Explanation:
    """Compiles `f` afresh for these arguments, runs it once (and backward, where a result needs gradients), and
    says what runs eagerly and why. Errors: those of the backend and of `f`."""
    import torch

    from ._backend import backend

    records: list[GraphRecord] = []

    def recording(module: Any, inputs: list[Any]) -> Any:
        return backend(module, inputs, options=options)

    _listeners.append(records)
    try:
        torch._dynamo.reset()
        results = torch.compile(f, backend=recording, dynamic=dynamic)(*args, **kwargs)
        total = sum(each.sum() for each in _differentiable(results))
        if isinstance(total, torch.Tensor):
            torch.autograd.grad(total, _leaves(f, args, kwargs), allow_unused=True)
        breaks = [str(key) for key in torch._dynamo.utils.counters["graph_break"]]
    finally:
        _listeners.remove(records)
        torch._dynamo.reset()
    return Explanation(records, breaks)


def _differentiable(results: Any) -> list[Any]:
    import torch
    from torch.utils import _pytree as pytree

    return [each for each in pytree.tree_leaves(results) if isinstance(each, torch.Tensor) and each.requires_grad]


def _leaves(f: Any, args: Any, kwargs: Any) -> list[Any]:
    """What gradients may be asked of, without adding to anybody's .grad."""
    import torch
    from torch.utils import _pytree as pytree

    given = pytree.tree_leaves((args, kwargs)) + (list(f.parameters()) if isinstance(f, torch.nn.Module) else [])
    return [each for each in given if isinstance(each, torch.Tensor) and each.requires_grad]
