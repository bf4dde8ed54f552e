# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of registered kernels in graphs. A kernel that writes to its arguments is called as it is in exported programs;
AOTAutograd makes of it a higher-order operator that gives what the arguments' memory is then, and writes nothing."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch.fx import Node

from . import _operators, _private

FUNCTIONAL = _private.FUNCTIONAL


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
    if len(set(bases.values())) < len(bases) or any(view_of(node, name) for name in bases):
        return None  # two of them share memory
    return KernelCall(kernel, [(each.name, given[each.name]) for each in kernel.signature.inputs], bases)


def view_of(node: Node, name: str) -> str | None:
    """How a functional call says that the argument is a part of its base: "slice" or "strides"; None where it is all."""
    if f"_{name}_slice_dim" in node.kwargs:
        return "slice"
    return "strides" if f"_{name}_storage_offset" in node.kwargs else None


def refusal(node: Node) -> str | None:
    """Why a functional call of an operator that writes to its arguments is no call of a kernel."""
    if node.target is not FUNCTIONAL or find(node) is not None:
        return None
    name = _private.operator_name(node.args[0])
    if (kernel := _operators.find(node.args[0])) is None:
        return f"{name} writes to its arguments, and is no registered kernel"
    written = [kernel.signature.inputs[i].name for i in kernel.written_in_place]
    return f"of the arguments {', '.join(written)}, to which {name} writes, two share memory"
