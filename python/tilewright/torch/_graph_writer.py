# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of torch.fx in the JSON that the compiler's importer reads: version 8 of the schema that
torch.export.save writes, of which lib/Import/Pt2/Schema/Schema.h says what is read. torch's own writer takes ten
times as long, and refuses the graphs of AOTAutograd."""
from __future__ import annotations

import math
import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .. import _native
from . import _kernel_calls, _private

SCHEMA = {"major": 8, "minor": 20}

# The schema's numbers.
DTYPES = {torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6,
          torch.float32: 7, torch.float64: 8, torch.complex32: 9, torch.complex64: 10, torch.complex128: 11,
          torch.bool: 12, torch.bfloat16: 13, torch.uint16: 28, torch.float8_e4m3fn: 29, torch.float8_e5m2: 30,
          torch.float8_e4m3fnuz: 31, torch.float8_e5m2fnuz: 32, torch.uint32: 34, torch.uint64: 35}
LAYOUTS = {torch.sparse_coo: 1, torch.sparse_csr: 2, torch.sparse_csc: 3, torch.sparse_bsr: 4, torch.sparse_bsc: 5,
           torch.strided: 7}
MEMORY_FORMATS = {torch.contiguous_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3,
                  torch.preserve_format: 4}


class Unwritable(Exception):
    """What a graph holds that the schema cannot say."""


class GraphWriter:
    """Writes one graph; subgraphs have writers of their own.

    `tensors` stand for what the nodes' meta["val"] says of placeholders and attributes (weights: their real
    strides). `skipped` nodes are left out: what others use of them are inputs.
    """

    def __init__(self, module: GraphModule, tensors: dict[str, torch.Tensor] | None = None,
                 skipped: frozenset[Node] | set[Node] = frozenset(), sizes: dict[Any, Any] | None = None,
                 kernels: dict[str, str] | None = None) -> None:
        self.module, self.given, self.skipped = module, tensors or {}, skipped
        self.sizes: dict[Any, Any] = {} if sizes is None else sizes  # of symbolic expressions, for all graphs
        self.kernels: dict[str, str] = {} if kernels is None else kernels  # texts by name, of registered operators
        self.tensors: dict[str, Any] = {}
        self.ints: dict[str, Any] = {}
        self.floats: dict[str, Any] = {}
        self.bools: dict[str, Any] = {}
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.nodes: list[Any] = []
        self.names: dict[Node, str] = {}  # of what is called otherwise than its node
        self.attributes: list[tuple[str, Node]] = []  # tensors among the module's attributes that are inputs

    def graph(self) -> dict[str, Any]:
        for node in self.module.graph.nodes:
            if node in self.skipped:
                self._input_of_skipped(node)
            else:
                getattr(self, f"_{node.op}")(node)
        return {"inputs": self.inputs, "outputs": self.outputs, "nodes": self.nodes, "tensor_values": self.tensors,
                "sym_int_values": self.ints, "sym_float_values": self.floats, "sym_bool_values": self.bools,
                "custom_obj_values": {}, "is_single_tensor_return": False}

    # Nodes

    def _placeholder(self, node: Node) -> None:
        value = self.given.get(node.name, node.meta.get("val"))
        self.inputs.append(self._define(node.name, value) if _is_value(value) else self._constant(value))

    def _get_attr(self, node: Node) -> None:
        value = attribute(self.module, node.target)
        if isinstance(value, GraphModule):
            return  # written where it is called
        if not isinstance(value, torch.Tensor):
            raise Unwritable(f"an attribute that is a {type(value).__name__}")
        self.attributes.append((node.target, node))
        self.inputs.append(self._define(node.name, value))

    def _input_of_skipped(self, node: Node) -> None:
        value = node.meta.get("val")
        if _is_value(value) and any(user.op != "output" and user not in self.skipped for user in node.users):
            self.inputs.append(self._define(node.name, value))

    def _call_function(self, node: Node) -> None:
        if node.target is operator.getitem:
            return  # its name is a result's of the producer
        target, value, name = node.target, node.meta.get("val"), _private.target_name(node.target)
        if (call := _kernel_calls.find(node)) is not None:
            self._kernel_call(node, call)
            return
        if isinstance(target, _private.OpOverload):
            arguments = _private.schema_of(target).arguments
            inputs = [self._named(arguments[i].name, argument, 1) for i, argument in enumerate(node.args)]
            outputs = self._results(node, value, _private.returns_one_list(target))
        elif isinstance(target, _private.HigherOrderOperator):
            inputs = [self._named("", argument, 1) for argument in node.args]
            outputs = self._results(node, value, False)
        elif isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool, int, float)):
            inputs = [self._named("ab"[i] if i < 2 else "c", argument, 1) for i, argument in enumerate(node.args)]
            outputs = [self._define(node.name, value)]
        else:
            raise Unwritable(f"a call of {_private.target_name(target)}")
        inputs += [self._named(name, argument, 2) for name, argument in node.kwargs.items()]
        self._add_node(node, name, inputs, outputs)

    def _kernel_call(self, node: Node, call: _kernel_calls.KernelCall) -> None:
        """A call of a kernel gives the new values of what it writes in place."""
        name, kernel, text = call.operator.written([each for _, each in call.arguments])
        self.kernels[kernel] = text
        declared = call.operator.arguments()
        inputs = [self._named(key, _as_declared(each, declared[i]), 1) for i, (key, each) in enumerate(call.arguments)]
        results = self._results(node, node.meta.get("val"), False)
        new = [self._define(f"{node.name}_{key}", each.meta["val"]) for key, each in call.written()] if call.bases is None \
            else [results[index - len(call.bases)] for index in call.bases.values()]
        self._add_node(node, name, inputs, call.order(results, new))
        if call.bases is None:
            for (key, each), value in zip(call.written(), new):
                inputs = [self._named("self", each, 1), {"name": "src", "arg": value, "kind": 1}]
                self._add_node(node, "torch.ops.aten.copy_.default", inputs,
                               [self._define(f"{node.name}_{key}_written", each.meta["val"])], f"_{key}_written")

    def _add_node(self, node: Node, target: str, inputs: list[Any], outputs: list[Any], suffix: str = "") -> None:
        self.nodes.append({"target": target, "inputs": inputs, "outputs": outputs, "metadata": _metadata(node),
                           "name": f"{node.name}{suffix}"})

    def _call_other(self, node: Node) -> None:
        """Neither torch.export nor AOTAutograd makes such calls, but whoever changes an exported program may."""
        raise Unwritable(f"a call of the {node.op.removeprefix('call_')} {node.target}")

    _call_module = _call_method = _call_other

    def _output(self, node: Node) -> None:
        given = node.args[0]
        values = given if isinstance(given, (list, tuple)) else [given]
        self.outputs = [self._argument(value) for value in values if value not in self.skipped]

    def _results(self, node: Node, value: Any, is_list: bool) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, (list, tuple)):
            return [self._define(node.name, value)]
        parts: dict[Any, Node] = {}
        for user in node.users:
            if user.target is operator.getitem:
                first = parts.setdefault(user.args[1], user)
                self.names[user] = first.name
        results = []
        for i, element in enumerate(value):
            part = parts.get(i)
            name = part.name if part else f"{node.name}_unused_{i}"
            if isinstance(element, (list, tuple)):
                inner = {user.args[1]: user.name for user in part.users} if part else {}
                results.append(_list_of([self._define(inner.get(j, f"{name}_unused_{j}"), each)
                                         for j, each in enumerate(element)]))
            else:
                results.append(self._define(name, element))
        return [_list_of(results)] if is_list else results

    # Values

    def _define(self, name: str, value: Any) -> dict[str, Any]:
        if value is None:
            return {"as_none": True}
        if isinstance(value, torch.Tensor):
            self.tensors[name] = self._meta(value)
            return {"as_tensor": {"name": name}}
        for kinds, table, tag in (((bool, torch.SymBool), self.bools, "as_sym_bool"),
                                  ((int, torch.SymInt), self.ints, "as_sym_int"),
                                  ((float, torch.SymFloat), self.floats, "as_sym_float")):
            if isinstance(value, kinds):
                table[name] = self._size(value)
                return {tag: {"as_name": name}}
        raise Unwritable(f"a value that is a {type(value).__name__}")

    def _size(self, value: Any) -> dict[str, Any]:
        if isinstance(value, bool):
            return {"as_bool": value}
        if isinstance(value, int):
            return {"as_int": value}
        if isinstance(value, float):
            return {"as_float": value}
        expression = _private.expression_of(value)
        known = self.sizes.get(expression)
        if known is None:
            known = self.sizes[expression] = _expression(expression)
        return known

    def _meta(self, tensor: torch.Tensor) -> dict[str, Any]:
        strided = tensor.layout is torch.strided
        return {"dtype": _number(DTYPES, tensor.dtype), "sizes": [self._size(size) for size in tensor.shape],
                "requires_grad": False, "device": {"type": tensor.device.type, "index": tensor.device.index},
                "strides": [self._size(stride) for stride in tensor.stride()] if strided else [],
                "storage_offset": self._size(tensor.storage_offset()) if strided else {"as_int": 0},
                "layout": LAYOUTS.get(tensor.layout, 0)}

    # Arguments

    def _named(self, name: str, argument: Any, kind: int) -> dict[str, Any]:
        return {"name": name, "arg": self._argument(argument), "kind": kind}

    def _argument(self, argument: Any) -> dict[str, Any]:
        if isinstance(argument, Node):
            return self._use(argument)
        if isinstance(argument, (list, tuple)):
            return self._list(argument)
        return self._constant(argument)

    def _use(self, node: Node) -> dict[str, Any]:
        name = self.names.get(node, node.name)
        if node.op == "get_attr":
            body = attribute(self.module, node.target)
            if isinstance(body, GraphModule):
                return {"as_graph": {"name": str(node.target), "graph": GraphWriter(body, sizes=self.sizes,
                                                                                     kernels=self.kernels).graph()}}
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) or node.op == "get_attr":
            return {"as_tensor": {"name": name}}
        for kinds, tag in (((bool, torch.SymBool), "as_sym_bool"), ((int, torch.SymInt), "as_sym_int"),
                           ((float, torch.SymFloat), "as_sym_float")):
            if isinstance(value, kinds):
                return {tag: {"as_name": name}}
        if value is None:
            return {"as_none": True}
        raise Unwritable(f"an argument that is a {type(value).__name__}")

    def _list(self, elements: Any) -> dict[str, Any]:
        kinds = {type(element) for element in elements}
        for kind, tag, write in ((bool, "as_bools", bool), (int, "as_ints", _int), (str, "as_strings", _text)):
            if kinds == {kind}:
                return {tag: [write(element) for element in elements]}
        if not kinds:
            return {"as_ints": []}
        if kinds <= {float, int}:
            return {"as_floats": [_float(float(element)) for element in elements]}
        written = [self._argument(element) for element in elements]
        tags = {next(iter(each)) for each in written}
        if tags == {"as_tensor"}:
            return {"as_tensors": [each["as_tensor"] for each in written]}
        if tags == {"as_tensor", "as_none"} or tags == {"as_none"}:
            return {"as_optional_tensors": written}
        if tags <= {"as_int", "as_sym_int"}:
            return {"as_sym_ints": [each.get("as_sym_int", each) for each in written]}
        if tags <= {"as_float", "as_sym_float"}:
            return {"as_sym_floats": [each.get("as_sym_float", each) for each in written]}
        kinds = ", ".join(sorted(tag.removeprefix("as_").replace("_", " ") for tag in tags))
        raise Unwritable(f"a list of values of several kinds: {kinds}")

    def _constant(self, value: Any) -> dict[str, Any]:
        if value is None:
            return {"as_none": True}
        for kind, write in CONSTANTS.items():
            if type(value) is kind:
                return write(value)
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            size = self._size(value)
            if "as_int" in size or "as_float" in size or "as_bool" in size:
                return size
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"as_string_to_argument": {key: self._argument(each) for key, each in value.items()}}
        raise Unwritable(f"a constant that is a {type(value).__name__}")


def _list_of(results: list[dict[str, Any]]) -> dict[str, Any]:
    """One result that is a list."""
    if any("as_tensor" not in each for each in results):
        raise Unwritable("a result that is a list of something else than tensors")
    return {"as_tensors": [each["as_tensor"] for each in results]}


def _as_declared(value: Any, argument: Any) -> Any:
    """A Python int where the schema has a float is one."""
    return float(value) if isinstance(value, int) and str(argument.type) == "float" else value


def _int(value: int) -> int:
    if not -2**63 <= value < 2**63:
        raise Unwritable("an integer beyond 64 bits")
    return value


def _number(numbers: dict[Any, int], value: Any) -> int:
    """The schema's number of a dtype, layout or memory format."""
    if value not in numbers:
        raise Unwritable(f"the {type(value).__name__} {value}")
    return numbers[value]


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Unwritable(f"the text {_native.shown(value)}, which is not UTF-8,") from None
    return value


def _float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


CONSTANTS = {
    bool: lambda value: {"as_bool": value},
    int: lambda value: {"as_int": _int(value)},
    float: lambda value: {"as_float": _float(value)},
    str: lambda value: {"as_string": _text(value)},
    complex: lambda value: {"as_complex": {"real": value.real, "imag": value.imag}},
    torch.dtype: lambda value: {"as_scalar_type": _number(DTYPES, value)},
    torch.device: lambda value: {"as_device": {"type": value.type, "index": value.index}},
    torch.layout: lambda value: {"as_layout": _number(LAYOUTS, value)},
    torch.memory_format: lambda value: {"as_memory_format": _number(MEMORY_FORMATS, value)},
}


def attribute(module: GraphModule, path: str) -> Any:
    value: Any = module
    for part in path.split("."):
        value = getattr(value, part)
    return value


def _is_value(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool))


def _expression(expression: Any) -> dict[str, Any]:
    import sympy

    if isinstance(expression, sympy.Integer):
        return {"as_int": int(expression)}
    if isinstance(expression, sympy.Float):
        return {"as_float": float(expression)}
    return {"as_expr": {"expr_str": sympy.srepr(expression), "hint": None}}


def _metadata(node: Node) -> dict[str, str]:
    facts = {}
    if trace := node.meta.get("stack_trace"):
        facts["stack_trace"] = trace
    if stack := node.meta.get("nn_module_stack"):
        # torch's keys may have addresses, and the text is part of the cache's key: numbers stand for them.
        facts["nn_module_stack"] = ";".join(
            f"{number},{path},{kind if isinstance(kind, str) else f'{kind.__module__}.{kind.__qualname__}'}"
            for number, (path, kind) in enumerate(stack.values()))
    return {key: _native.escaped(text) for key, text in facts.items()}


def program(graph: dict[str, Any], input_specs: list[Any], output_specs: list[Any], ranges: dict[str, Any],
            out_spec: str = "") -> bytes:
    """The whole program as JSON. `ranges`: (least, most) of each symbol; None stands for no limit."""
    import json

    calls = [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "", "out_spec": out_spec,
                                       "forward_arg_names": None}}] if out_spec else []
    return json.dumps({
        "graph_module": {"graph": graph, "signature": {"input_specs": input_specs, "output_specs": output_specs},
                         "module_call_graph": calls, "metadata": {}},
        "opset_version": {"aten": 10},
        "range_constraints": {name: {"min_val": least, "max_val": most} for name, (least, most) in ranges.items()},
        "schema_version": SCHEMA, "torch_version": torch.__version__}).encode()
