# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What becomes of the graphs of torch.compile: told to a logger, and collected by explain."""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.fx import Node

from .. import _native
from . import _private, _support
from ._options import read


GUARDS = "guard_filter_fn"


class GraphRecord:
    """One graph. kind: "inference", "forward" or "backward". operators: how many it has. programs: what was
    compiled of it. eager: for each operator that runs eagerly its name, why, and the user's line. beside: how many more
    nodes are in no program though nothing speaks against them: views of which no program is made, sizes, and writes to
    arguments."""

    def __init__(self, kind: str, operators: int) -> None:
        self.kind, self.operators = kind, operators
        self.programs: list[Any] = []
        self.eager: list[str] = []
        self.beside = 0

    def add_program(self, program: Any) -> None:
        self.programs.append(program)

    def add_eager(self, node: Node, reason: str) -> None:
        if node.target is operator.getitem:
            return  # a part of what another gives
        self.eager.append(_support.describe(node, reason))

    def add_beside(self, nodes: Iterable[Node]) -> None:
        self.beside += sum(node.target is not operator.getitem for node in nodes)

    def begun(self) -> GraphRecord:
        """One of the same graph, for an attempt to compile it."""
        return GraphRecord(self.kind, self.operators)

    def add(self, attempt: GraphRecord) -> None:
        self.programs += attempt.programs
        self.eager += attempt.eager
        self.beside += attempt.beside

    def tell(self) -> None:
        """Tells the logger."""
        for line in self.eager:
            _private.logger.info("runs eagerly: %s", line)

    def __str__(self) -> str:
        lines = [f"{self.kind} graph: {_native.counted(self.operators, 'operator')}, "
                 f"{_native.counted(len(self.programs), 'program')}, "
                 f"{len(self.eager)} {'runs' if len(self.eager) == 1 else 'run'} eagerly"]
        if self.beside:
            lines[0] += f", {self.beside} more beside the programs (views, sizes, writes to arguments)"
        lines += [f"  {line}" for line in self.eager]
        return "\n".join(lines)


class Cuts:
    """What Dynamo leaves to Python, from when this is made."""

    def __init__(self) -> None:
        self._counted = {kind: _private.dynamo_reasons(kind) for kind in (_private.CUTS, _private.LEFT_OUT)}
        self._attempts = _private.dynamo_attempts()
        self._behind: list[tuple[str, str]] = []  # reasons and lines

    def add(self, module: Any) -> None:
        """Takes a graph that Dynamo gives a backend."""
        if cut := _private.cut_behind(module):
            reason, stack = cut
            self._behind.append((reason, _support.frame_text(stack)))

    def breaks(self) -> list[str]:
        """Why functions were cut, each with the line of the user's program where Dynamo tells it."""
        branch = next((reason for reason in self._new(_private.LEFT_OUT) if reason.startswith(BRANCH)), None)
        named = [_at(line, branch if branch and reason.startswith(JUMP) else reason) for reason, line in self._behind]
        return named + self._without(self._new(_private.CUTS), named + self._failures())

    def left_out(self) -> list[str]:
        """Functions of which nothing was compiled, each with reason and line."""
        named = self._failures()
        return named + self._without(self._new(_private.LEFT_OUT), named + self.breaks())

    def _new(self, kind: str) -> list[str]:
        return list(_private.dynamo_reasons(kind) - self._counted[kind])

    def _without(self, reasons: list[str], told: list[str]) -> list[str]:
        return [reason for reason in reasons if all(reason not in each for each in told)]

    def _failures(self) -> list[str]:
        new = [each for each in _private.dynamo_attempts() if all(each is not before for before in self._attempts)]
        failures = [failure for each in new if (failure := _private.failure_of(each))]
        return list(dict.fromkeys(f"{function}: {_at(line, reason)}" for function, reason, line in failures))


# What Dynamo says of a branch that depends on data: at the cut, and in its counts, which have the words for users.
JUMP, BRANCH = "generic_jump", "Data-dependent branching"


def _at(line: str, reason: str) -> str:
    return f"{line}: {reason}" if line else reason


class Explanation:
    """What explain found. graphs: a GraphRecord for each graph; breaks: why Dynamo cut the function, if it did, and at which
    lines; left_out: functions of which it compiled nothing, so that Python runs them, with the same."""

    def __init__(self, graphs: list[GraphRecord], breaks: list[str], left_out: list[str]) -> None:
        self.graphs, self.breaks, self.left_out = graphs, breaks, left_out

    @property
    def eager(self) -> list[str]:
        """All operators that run eagerly, with reason and line."""
        return [line for graph in self.graphs for line in graph.eager]

    def __str__(self) -> str:
        lines = [*map(str, self.graphs), *(f"graph break: {each}" for each in self.breaks),
                 *(f"not compiled: {each}" for each in self.left_out)]
        return "\n".join(lines) or "no graph: there is nothing to compile"

    __repr__ = __str__


def explain(f: Callable[..., Any], *args: Any, options: dict[str, Any] | None = None, dynamic: bool | None = None,
            **kwargs: Any) -> Explanation:
    """Compiles `f` afresh for these arguments, runs it once (and backward, where a result needs gradients), and
    says what runs eagerly and why, where Dynamo cut it, and what it left to Python. What torch.compile has compiled before is compiled again when it is called next.
    options: those of torch.compile, guard_filter_fn among them, which is Dynamo's.
    Errors: those of the backend and of `f`."""
    from ._backend import compile_for

    if not callable(f):
        _native.refuse("TW-PYTHON-0007", f"what is to be explained is {_native.described(f)}",
                       "give a function or a module, and its arguments behind it")
    records: list[GraphRecord] = []
    ours = {key: value for key, value in options.items() if key != GUARDS} if isinstance(options, dict) else options
    guards = {GUARDS: options[GUARDS]} if isinstance(options, dict) and GUARDS in options else None

    def tilewright(module: Any, inputs: list[Any]) -> Any:  # torch names it in errors
        cuts.add(module)
        return compile_for(module, inputs, read(None, ours), records.append)

    cuts = Cuts()
    try:
        torch.compiler.reset()
        results = torch.compile(f, backend=tilewright, dynamic=dynamic, options=guards)(*args, **kwargs)
        _run_backward(_differentiable(results), _differentiable((args, kwargs)))
        said = Explanation(records.copy(), cuts.breaks(), cuts.left_out())
    finally:
        torch.compiler.reset()
        records.clear()  # results in the traceback of an error keep their graphs, and this backend, beyond Python's end
    return said


def _differentiable(tree: Any) -> list[torch.Tensor]:
    return [each for each in _private.tree_leaves(tree) if isinstance(each, torch.Tensor) and each.requires_grad]


def _run_backward(results: list[torch.Tensor], given: list[torch.Tensor]) -> None:
    """Adds to nobody's .grad, and goes no further than to what was given. Passes over results through which `f` has run
    backward itself: what these need is freed. Frees as it goes, for AOTAutograd donates saved tensors to backward graphs,
    which then refuse retain_graph; one that is freed here has been compiled here."""
    sources = given + _parameters_behind(results, given)
    if not results or not sources:
        return
    try:
        torch.autograd.grad(results, sources, [torch.ones_like(each) for each in results], allow_unused=True)
    except RuntimeError as error:
        if "second time" not in str(error):
            raise
        for each in results if len(results) > 1 else ():
            _run_backward([each], given)


def _parameters_behind(results: list[torch.Tensor], given: list[torch.Tensor]) -> list[torch.Tensor]:
    """The leaves of the results' graphs that were not given: parameters, of modules and of closures."""
    seen: set[Any] = {None, *(each.grad_fn for each in given)}
    found: dict[int, torch.Tensor] = {}
    nodes = [each.grad_fn for each in results]
    while nodes:
        if (node := nodes.pop()) not in seen:
            seen.add(node)
            if (leaf := getattr(node, "variable", None)) is not None:
                found[id(leaf)] = leaf
            nodes += [each for each, _ in node.next_functions]
    return [leaf for leaf in found.values() if all(leaf is not each for each in given)]
