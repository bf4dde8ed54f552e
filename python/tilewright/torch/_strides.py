# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results to which torch's fake tensors give other strides or dtypes than eager PyTorch does. They get eager PyTorch's,
and so does what is computed from them."""
from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from . import _private
from ._layout import order_of, row_major

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


def _dense_as_first(node: Node) -> Any:
    """With the strides of the first argument where that is dense, also in dimensions of one element."""
    value, given = node.meta["val"], node.args[0].meta["val"]
    if node.kwargs.get("memory_format") not in (None, torch.preserve_format) or order_of(given) is None or any(
            _private.is_known(size == 0) for size in given.shape):
        return value
    if any(_private.is_known(a != b) for a, b in zip(value.stride(), given.stride())):
        return value.new_empty_strided(value.shape, given.stride())
    return value


# What eager PyTorch gives of operators whose fake results have other strides. Which they are says no rule of torch, so it
# is a table: a test compares the strides of every sample of torch's op_db.
IN_EAGER = {aten.max_unpool2d.default: _channels_last_as_first, aten.poisson.default: _row_major,
            **dict.fromkeys((aten.empty_like.default, aten.zeros_like.default, aten.ones_like.default,
                             aten.full_like.default, aten.rand_like.default, aten.randn_like.default,
                             aten.randint_like.default, aten.randint_like.low_dtype, aten.put.default), _dense_as_first)}
# Whose first result is row-major in eager PyTorch, which calls another operator there; that of the graph gives no such.
COPIED = {aten.rrelu_with_noise_functional.default}


class InEager:
    """What eager PyTorch gives of the graphs of one function, where that is not what torch has traced. What a forward graph
    gives, its backward graph is given."""

    def __init__(self) -> None:
        self.saved: dict[str, torch.Tensor] = {}  # by the name of the node
        self.results: dict[Any, torch.Tensor] = {}  # by AOTAutograd's description

    def correct(self, module: GraphModule) -> None:
        """Says of the nodes of `module` what eager PyTorch gives."""
        with _private.fake_mode_of(module):
            changed = self._given(module)
            for node in module.graph.nodes:
                if node.op == "call_function":
                    self._correct(node, changed)
        self.saved |= {node.name: node.meta["val"] for node in changed if isinstance(node.meta["val"], torch.Tensor)}
        self.results |= {described: node.meta["val"] for described, node in _private.described_results(module)
                         if node in changed}

    def _given(self, module: GraphModule) -> set[Node]:
        """What the forward graph has given, of a backward graph's arguments. Gradients of its results come as traced."""
        changed = set()
        for node in module.graph.find_nodes(op="placeholder"):
            if node.name in self.saved:
                node.meta["val"] = self.saved[node.name]
                changed.add(node)
            elif (known := self.results.get(_private.tangent_of(node))) is not None:
                node.meta["val"] = node.meta["val"].to(known.dtype)
                changed.add(_copy_like(module.graph, node, known))
        return changed

    def _correct(self, node: Node, changed: set[Node]) -> None:
        before = _facts(node.meta.get("val"))
        if not changed.isdisjoint(node.all_input_nodes):
            node.meta["val"] = _computed(node)
        if node.target in IN_EAGER:
            node.meta["val"] = IN_EAGER[node.target](node)
        _give_dtypes(node, _dtypes_in_eager(node))
        if _facts(node.meta.get("val")) != before:
            changed.add(node)
        if node.target is operator.getitem and node.args[1] == 0 and node.args[0].target in COPIED:
            copy = _copy_like(node.graph, node, _row_major(node))
            self.saved[node.name] = copy.meta["val"]
            changed.add(copy)


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
    """A copy that is given for `node`, with the strides of `value`."""
    order = torch.channels_last if is_channels_last(value) else torch.contiguous_format
    with graph.inserting_after(node):
        copy = graph.call_function(aten.clone.default, (node,), {"memory_format": order})
    copy.meta = {**node.meta, "val": value}
    node.replace_all_uses_with(copy, delete_user_cb=lambda user: user is not copy)
    return copy


def _facts(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_facts(each) for each in value]
    return (value.dtype, value.stride()) if isinstance(value, torch.Tensor) else None


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
