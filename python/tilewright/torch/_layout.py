# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What memory the arguments and results of a graph are.

An artifact takes and gives row-major tensors. A graph of AOTAutograd has arguments with any strides, and
whoever called it relies on every output having exactly the strides of its fake tensor, and on views being
views. So each output is, by the root of its chain of views:

- an argument: that very tensor; a view of one (the transposed weights that backward keeps): as_strided of it;
- a result: computed once. Where its strides are a permutation of row-major ones (channels last), the graph
  permutes it and it is written into memory with those strides; views of it are as_strided;
- a number, or None.

Arguments whose memory is dense in another order of dimensions enter as that memory, with a permute in the
graph; others are made contiguous by the call.
"""
from __future__ import annotations

import functools
import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from . import _private
from ._sizes import Sizes, Unplannable

aten = torch.ops.aten
VIEWS = {aten.view.default, aten._unsafe_view.default, aten._reshape_alias.default, aten.t.default,
         aten.transpose.int, aten.permute.default, aten.expand.default, aten.unsqueeze.default,
         aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.slice.Tensor, aten.select.int,
         aten.detach.default, aten.alias.default, aten.as_strided.default, aten.diagonal.default,
         aten.unfold.default}
SPLITS = {aten.split.Tensor, aten.split_with_sizes.default, aten.unbind.int}
COPY = aten.copy_.default
NO_VIEW = "tilewright_no_view"  # in a view's meta: eager PyTorch has a result of its own there
FROZEN = "tilewright_frozen"  # in a placeholder's meta: a parameter or buffer of a graph that is frozen


def is_view(node: Node) -> bool:
    """Whether the node's result is memory of its first argument."""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return node.args[0].target in SPLITS
    return node.target in VIEWS or node.target in SPLITS


def root_of(node: Node) -> Node:
    """What `node` is a view of, and itself where it is none. What a mutation gives is its target."""
    while is_view(node) or (node.op == "call_function" and node.target is COPY):
        node = node.args[0]
    return node


def mutated_placeholders(module: GraphModule) -> set[Node]:
    return {root_of(node.args[0]) for node in module.graph.nodes if node.op == "call_function" and node.target is COPY}


def row_major(sizes: Any) -> list[Any]:
    strides: list[Any] = []
    expected: Any = 1
    for size in reversed(sizes):
        strides.insert(0, expected)
        if not _private.is_known(size == 0):
            expected = expected * size
    return strides


def is_row_major(value: torch.Tensor, exactly: bool = False) -> bool:
    """Whether it is known to be; strides of dimensions of size 1, and of tensors without elements, count only when
    `exactly`."""
    if not exactly and any(_private.is_known(size == 0) for size in value.shape):
        return True
    return all(_private.is_known(stride == expected) or (not exactly and _private.is_known(size == 1))
               for size, stride, expected in zip(value.shape, value.stride(), row_major(value.shape)))


def order_of(value: torch.Tensor) -> list[int] | None:
    """The dimensions from the outermost to the innermost in memory; None when it is not dense."""
    left = list(range(value.dim()))
    if is_row_major(value):
        return left
    order: list[int] = []
    expected: Any = 1
    while left:
        fits = [d for d in left if _private.is_known(value.shape[d] == 1)]
        fits += [d for d in left if _private.is_known(value.stride(d) == expected)]
        if not fits:
            return None
        chosen = max(fits[:1] if _private.is_known(value.shape[fits[0]] == 1) else fits)
        left.remove(chosen)
        order.insert(0, chosen)
        expected = expected * value.shape[chosen]
    return order


def may_overlap(value: torch.Tensor) -> bool:
    """Whether elements may share memory: unless each stride is known to be beyond all that those before it reach."""
    if order_of(value) is not None or any(_private.is_known(size == 0) for size in value.shape):
        return False
    reach: Any = 0
    for d in sorted(range(value.dim()), key=functools.cmp_to_key(
            lambda a, b: -1 if _private.is_known(value.stride(a) <= value.stride(b)) else 1)):
        if _private.is_known(value.shape[d] == 1):
            continue
        if not _private.is_known(value.stride(d) > reach):
            return True
        reach = reach + (value.shape[d] - 1) * value.stride(d)
    return False


class Layout:
    """Rewrites `module` for the compiler, and says how its calls are made: what _native.Graph takes."""

    def __init__(self, module: GraphModule) -> None:
        self.module, self.graph = module, module.graph
        self.placeholders = [node for node in self.graph.nodes if node.op == "placeholder"]
        self.place = {node: index for index, node in enumerate(self.placeholders)}
        self.is_frozen = any(FROZEN in node.meta for node in self.placeholders)
        self.sizes = Sizes(self.placeholders)
        self.mutated = mutated_placeholders(module)
        self.bases: list[Node] = []
        self.inputs: list[tuple[bool, bool, bool, list[int], bool, bool]] = []
        self.names: list[str] = []  # of the inputs
        self.constants: list[torch.Tensor] = []
        end = next(iter(reversed(self.graph.nodes)))
        given = end.args[0] if isinstance(end.args[0], (list, tuple)) else [end.args[0]]
        self.instead = self._results_that_are_no_views(given)
        self.outputs = [self._output(each) for each in given]
        self.base_plans = [self._base(node) for node in self.bases]
        end.args = (tuple(self._row_major(node, end) for node in self.bases),)
        self.graph.eliminate_dead_code(_is_effect)
        self._enter()
        self.is_empty = not self.bases and not self.mutated
        module.recompile()
        self.sources, self.evaluate = self.sizes.plan()

    # Outputs

    def _results_that_are_no_views(self, given: Any) -> dict[Node, Node]:
        """By the root of its chain, the result that eager PyTorch's _unsafe_view gives: it has the root's memory, but is
        no view, so that users may write to it and still call backward. The root, which they have not, is a view of it."""
        found: dict[Node, Node] = {}
        for node in given:
            if not isinstance(node, Node):
                continue
            root = root_of(node)
            while is_view(node) and node.target is not aten._unsafe_view.default and NO_VIEW not in node.meta:
                node = node.args[0]
            if node is root or root in self.place or not is_view(node):
                continue
            value, all_of_it = node.meta["val"], root.meta["val"]
            if order_of(value) is not None and _private.is_known(value.numel() == all_of_it.numel()):
                found.setdefault(root, node)
        return found

    def _output(self, node: Any) -> tuple[Any, ...]:
        if not isinstance(node, Node):
            return ("constant", node)
        value = node.meta["val"]
        if isinstance(value, torch.SymInt) or type(value) is int:
            number = self.sizes.number(value)
            return ("int", number[0]) if isinstance(number, tuple) else ("constant", number)
        if value is None or type(value) in (float, bool):
            return ("constant", value)
        if not isinstance(value, torch.Tensor):
            raise Unplannable(f"a result that is a {type(value).__name__}", node)
        root = root_of(node)
        if root in self.place and not self._is_before_mutation(node, root):
            if node is root or node.target is COPY:
                return ("argument", self.place[root])
            return ("argument view", self.place[root], *self._strided(node, root.meta["val"]))
        if value.is_neg():
            raise Unplannable("a result that is to be negated when it is read", root)
        if root in self.place or order_of(root.meta["val"]) is None:
            root = node = self._copied(node)
        root = self.instead.get(root, root)
        if root not in self.bases:
            self.bases.append(root)
        index = self.bases.index(root)
        if node is root:
            return ("base", index)
        return ("base view", index, *self._strided(node, root.meta["val"]))

    def _is_before_mutation(self, node: Node, root: Node) -> bool:
        """A mutated argument read as it was before: its memory has another value afterwards."""
        while is_view(node):
            node = node.args[0]
        return root in self.mutated and node.target is not COPY

    def _copied(self, node: Node) -> Node:
        """A result of its own with the elements and strides of `node`."""
        if order_of(node.meta["val"]) is None:
            root = root_of(node)
            whole = [root.args[0]] if root.target is operator.getitem else []
            raise Unplannable("a result whose memory has gaps or overlaps", node, root, *whole)
        with self.graph.inserting_after(node):
            copy = self.graph.call_function(aten.clone.default, (node,))
        copy.meta = dict(node.meta)
        return copy

    def _strided(self, node: Node, base: torch.Tensor) -> tuple[Any, Any, Any]:
        value = node.meta["val"]
        return (self.sizes.numbers(value.shape), self.sizes.numbers(value.stride()),
                self.sizes.number(value.storage_offset() - base.storage_offset()))

    def _base(self, node: Node) -> tuple[Any, Any, Any]:
        value = node.meta["val"]
        if is_row_major(value, exactly=True):
            return ((), None, None)
        return (self.sizes.numbers(value.shape), self.sizes.numbers(value.stride()), value.dtype)

    def _row_major(self, node: Node, end: Node) -> Node:
        """The elements of a result in the order in which they lie in memory."""
        order = order_of(node.meta["val"])
        if order == sorted(order or []):
            return node
        with self.graph.inserting_before(end):
            turned = self.graph.call_function(aten.permute.default, (node, order))
        turned.meta = {**node.meta, "val": node.meta["val"].permute(order)}
        return turned

    # Inputs

    def _enter(self) -> None:
        for node in self.placeholders:
            value = node.meta["val"]
            is_tensor, is_used = isinstance(value, torch.Tensor), bool(node.users)
            order = self._turn(node) if is_tensor and is_used else []
            if not is_tensor and not isinstance(value, (int, torch.SymInt)) and is_used:
                raise Unplannable(f"an argument that is a {type(value).__name__}")
            self.inputs.append((not is_tensor, is_used, node in self.mutated, order, self._is_frozen(node),
                                is_tensor and (value.is_neg() or _private.is_tangent(node))))
            self.names.append(node.name)
            if not is_used:
                self.graph.erase_node(node)
        for node in self.graph.nodes:
            if node.op == "get_attr" and isinstance(tensor := getattr(self.module, node.target), torch.Tensor):
                node.meta["val"] = tensor
                self.constants.append(tensor)
                self.inputs.append((False, True, False, [], self.is_frozen and can_be_frozen(tensor),
                                    tensor.is_neg()))
                self.names.append(node.name)

    def _is_frozen(self, node: Node) -> bool:
        return (FROZEN in node.meta and bool(node.users) and node not in self.mutated
                and can_be_frozen(node.meta["val"]))

    def _turn(self, node: Node) -> list[int]:
        """Makes `node` its memory, where that is dense in another order than row-major."""
        value = node.meta["val"]
        order = order_of(value)
        if is_row_major(value) or order is None or order == sorted(order):
            return []
        inverse = [order.index(d) for d in range(len(order))]
        with self.graph.inserting_after(node):
            turned = self.graph.call_function(aten.permute.default, (node, inverse))
        turned.meta = dict(node.meta)
        node.replace_all_uses_with(turned, delete_user_cb=lambda user: user is not turned)
        node.meta = {**node.meta, "val": value.permute(order)}
        return order

    def frozen_inputs(self) -> list[str]:
        """Names of the inputs that programs are prepared for."""
        return [name for name, each in zip(self.names, self.inputs) if each[4]]

    def native(self) -> tuple[Any, ...]:
        """inputs, bases, outputs, constants, sources and evaluate of _native.Graph."""
        return self.inputs, self.base_plans, self.outputs, self.constants, self.sources, self.evaluate


def can_be_frozen(tensor: torch.Tensor) -> bool:
    """Weights have fixed sizes, and a dtype that the compiler's types say alone."""
    return (isinstance(tensor, torch.Tensor) and all(isinstance(size, int) for size in tensor.shape)
            and tensor.dtype is not torch.uint8)


def _is_effect(node: Node) -> bool:
    return node.is_impure() or (node.op == "call_function" and node.target is COPY)
