# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results to which torch's fake tensors give other strides or dtypes than eager PyTorch does. They get eager PyTorch's,
and so does what is computed from them."""
from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from . import _private
from ._layout import NO_VIEW, is_row_major, is_view, order_of, root_of
from ._operator_strides import OF_ANY_ORDER, in_eager, in_row_major, instead_of

aten = torch.ops.aten
# Results that are the new values of arguments which eager PyTorch writes to, so that they have the dtypes of these; the
# fake ones have that of sums.
WRITTEN = {aten._native_batch_norm_legit_functional.default: {3: 3, 4: 4},
           aten._batch_norm_with_update_functional.default: {4: 3, 5: 4}}
# Norms whose parameters have another dtype than the input, as with autocast: in eager PyTorch that is the dtype of the mean
# and the deviation that are saved for backward, and of the parameters' gradients, and the fake ones have the input's. By
# operator: where the input is; where parameters are, one of which may be given; and which results have the parameters'
# dtype.
NORMS = {aten.native_layer_norm.default: (0, (2, 3), (1, 2)), aten.native_group_norm.default: (0, (1, 2), (1, 2)),
         **dict.fromkeys((aten.native_batch_norm.default, aten._native_batch_norm_legit.default,
                          aten._native_batch_norm_legit_functional.default), (0, (1, 2, 3, 4), (1, 2))),
         aten._native_batch_norm_legit.no_stats: (0, (1, 2), (1, 2)),
         aten.native_layer_norm_backward.default: (1, (5, 6), (1, 2)),
         aten.native_group_norm_backward.default: (1, (4,), (1, 2)),
         aten.native_batch_norm_backward.default: (1, (2, 3, 4), (1, 2))}


class InEager:
    """What eager PyTorch gives of the graphs of one function, where that is not what torch has traced. What a forward graph
    gives, its backward graph is given."""

    def __init__(self) -> None:
        self.saved: dict[str, torch.Tensor] = {}  # by the name of the node
        self.results: dict[Any, torch.Tensor] = {}  # by AOTAutograd's description

    def corrected(self, module: GraphModule, is_inference: bool) -> GraphModule:
        """A copy of `module` whose nodes say what eager PyTorch gives. `is_inference`: nothing in it needs gradients."""
        kept: set[str] = set()
        while True:
            work, before = _private.copied(module), dict(self.saved)
            self.saved, changed, more = self._correct_all(work, kept, is_inference)
            if more <= kept:
                break
            self.saved, kept = before, kept | more
        self.results |= {described: node.meta["val"] for described, node in _private.described_results(work)
                         if node in changed}
        return work

    def _correct_all(self, module: GraphModule, kept: set[str],
                     is_inference: bool) -> tuple[dict[str, torch.Tensor], set[Node], set[str]]:
        """What the graph saves, the nodes that give something else than torch has traced, and those, by their names, that
        have to give what it has traced."""
        with _private.fake_mode_of(module):
            walk = _Walk(module.graph, self._given(module), kept, is_inference)
            for node in module.graph.nodes:
                walk.visit(node)
        saved = {node.name: node.meta["val"] for node in walk.changed if isinstance(node.meta["val"], torch.Tensor)}
        return self.saved | saved | walk.copied, walk.changed, walk.to_be_kept

    def _given(self, module: GraphModule) -> set[Node]:
        """What the forward graph has given, of a backward graph's arguments. Gradients of its results come as traced."""
        changed = set()
        for node in module.graph.find_nodes(op="placeholder"):
            if node.name in self.saved:
                node.meta["val"] = self.saved[node.name]
                changed.add(node)
            elif (known := self.results.get(_private.tangent_of(node))) is not None:
                node.meta["val"] = node.meta["val"].to(known.dtype)
                if order_of(known) is not None:
                    changed.add(_copy_like(module.graph, node, known))
        return changed


class _Walk:
    """Over a graph, in its order. `kept`: the names of nodes that give what torch has traced."""

    def __init__(self, graph: Graph, changed: set[Node], kept: set[str], is_inference: bool) -> None:
        self.end, self.changed, self.kept, self.is_inference = graph.output_node(), changed, kept, is_inference
        self.plain: set[Node] = set()  # row-major, also in dimensions of one element
        self.copied: dict[str, torch.Tensor] = {}  # what is given instead of nodes, by their names
        self.to_be_kept: set[str] = set()

    def visit(self, node: Node) -> None:
        if node.op == "call_function":
            traced = node.meta.get("val")
            self._correct(node)
            wanted = traced if node.name in self.kept else self._wanted(node)
            if isinstance(wanted, torch.Tensor) and wanted.stride() != node.meta["val"].stride():
                copy = _copy_like(node.graph, node, wanted)
                self.copied[node.name] = copy.meta["val"]
                if node.name not in self.kept:
                    self.changed.add(copy)
        if _is_plain(node.meta.get("val")):
            self.plain.add(node)

    def _correct(self, node: Node) -> None:
        before = _facts(node.meta.get("val"))
        if not self.changed.isdisjoint(node.all_input_nodes):
            node.meta["val"] = self._computed_anew(node)
        if "val" in node.meta and (node.target in OF_ANY_ORDER or not self.plain.issuperset(node.all_input_nodes)):
            node.meta["val"] = in_eager(node)
        _give_dtypes(node, _dtypes_in_eager(node))
        if _facts(node.meta.get("val")) != before:
            self.changed.add(node)

    def _wanted(self, node: Node) -> torch.Tensor | None:
        return None if self.plain.issuperset(node.all_input_nodes) else instead_of(node, self.is_inference)

    def _computed_anew(self, node: Node) -> Any:
        value = _computed(node)
        if value is not None or not is_view(node):
            return value if value is not None else node.meta.get("val")
        if not self.is_inference and self.end in root_of(node).users and self._is_given(node):
            self.to_be_kept.add(root_of(node).name)  # AOTAutograd makes that view, of the result that it is given
        # Memory of these strides has no such view: eager PyTorch copies.
        with node.graph.inserting_before(node):
            copy = node.graph.call_function(aten.clone.default, node.args[:1], {"memory_format": torch.contiguous_format})
        copy.meta = {**node.args[0].meta, "val": in_row_major(node.args[0].meta["val"])}
        node.replace_input_with(node.args[0], copy)
        return _computed(node)

    def _is_given(self, node: Node) -> bool:
        """Whether the graph gives the view, or a view of it."""
        return self.end in node.users or any(is_view(user) and self._is_given(user) for user in node.users)


def _dtypes_in_eager(node: Node) -> dict[int, torch.dtype]:
    """Of some results, by their places."""
    if node.target in WRITTEN:
        dtypes = {result: _dtype(node.args[argument]) for result, argument in WRITTEN[node.target].items()}
    else:
        dtypes = {}
    if node.target not in NORMS:
        return dtypes
    source, parameters, results = NORMS[node.target]
    dtype = _dtype_of_parameters(node, source, parameters)
    return dtypes | dict.fromkeys(results, dtype) if dtype else dtypes


def _copy_like(graph: Graph, node: Node, value: torch.Tensor) -> Node:
    """A copy that is given for `node`, with the strides of `value`, which is dense."""
    order = order_of(value)
    inverse = [order.index(d) for d in range(len(order))]
    steps = [(aten.permute.default, (order,), {}), (aten.clone.default, (), {"memory_format": torch.contiguous_format}),
             (aten.permute.default, (inverse,), {})]
    last, made = node, []
    for target, args, options in steps if order != sorted(order) else steps[1:2]:
        with graph.inserting_after(last):
            last = graph.call_function(target, (last, *args), options)
        last.meta = {**node.meta, "val": _computed(last)}
        made.append(last)
    last.meta |= {"val": value, NO_VIEW: True}
    node.replace_all_uses_with(last, delete_user_cb=lambda user: user not in made)
    return last


def _is_plain(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and is_row_major(value, exactly=True)


def _facts(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_facts(each) for each in value]
    return (value.dtype, value.stride()) if isinstance(value, torch.Tensor) else None


def _computed(node: Node) -> Any:
    """What the operator gives for its arguments as they are now; what was traced where it cannot tell; None of a view that
    these arguments do not have."""
    is_operator = isinstance(node.target, _private.OpOverload)
    if not (is_operator or node.target is operator.getitem) or "unbacked_bindings" in node.meta:
        return node.meta.get("val")
    if is_operator and _private.schema_of(node.target).is_mutable:
        return node.meta.get("val")
    try:
        return node.target(*_private.values_of(node.args), **_private.values_of(node.kwargs))
    except (RuntimeError, ValueError):
        return None


def _dtype(node: Node) -> torch.dtype:
    return node.meta["val"].dtype


def _dtype_of_parameters(node: Node, source: int, parameters: tuple[int, ...]) -> torch.dtype | None:
    """Where it is not that of the input."""
    given = next((node.args[place] for place in parameters if isinstance(node.args[place], Node)), None)
    return _dtype(given) if given is not None and _dtype(given) != _dtype(node.args[source]) else None


def _give_dtypes(node: Node, dtypes: dict[int, torch.dtype]) -> None:
    if dtypes:
        node.meta["val"] = tuple(value if value is None else value.to(dtypes.get(place, value.dtype))
                                 for place, value in enumerate(node.meta["val"]))
