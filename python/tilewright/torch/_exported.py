# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as the compiler takes them: a torch.export.ExportedProgram as JSON, its weights as pointers."""
from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from .. import _native
from .._program import is_odd
from . import _kernel_views, _operators, _private
from ._graph_writer import GraphWriter, Unwritable, program

WEIGHTS = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "tensor_constant"}
# Kinds of results that belong to something: the tag, and the key of its name.
RESULTS = {OutputKind.BUFFER_MUTATION: ("buffer_mutation", "buffer_name"),
           OutputKind.PARAMETER_MUTATION: ("parameter_mutation", "parameter_name"),
           OutputKind.USER_INPUT_MUTATION: ("user_input_mutation", "user_input_name"),
           OutputKind.GRADIENT_TO_PARAMETER: ("gradient_to_parameter", "parameter_name"),
           OutputKind.GRADIENT_TO_USER_INPUT: ("gradient_to_user_input", "user_input_name")}


def export(model: Any, example_inputs: Any, dynamic_shapes: Any) -> ExportedProgram:
    """The exported program that `model` is, or is exported to. Errors: TW-PYTHON-0007."""
    if isinstance(model, ExportedProgram):
        if dynamic_shapes is not None:
            _native.refuse("TW-PYTHON-0007", "dynamic_shapes are given with an exported program",
                           "give them to torch.export.export")
        return model
    if not isinstance(model, torch.nn.Module):
        _native.refuse("TW-PYTHON-0007", f"{_native.described(model)} is no model",
                       "give a torch.nn.Module, a torch.export.ExportedProgram, or the path of a .pt2 file")
    if not isinstance(example_inputs, (tuple, list, dict)):
        _native.refuse("TW-PYTHON-0007", f"example_inputs is {_native.described(example_inputs)}",
                       "give a tuple of arguments, or a dict of them by name, to export the module with")
    if not _private.is_tracing_possible():
        _native.refuse("TW-PYTHON-0007", f"torch cannot export {type(model).__name__} in the child of this fork: another "
                       "thread of its parent was tracing", "fork when no thread compiles, or begin the process by spawn")
    args, kwargs = ((), example_inputs) if isinstance(example_inputs, dict) else (tuple(example_inputs), {})
    try:
        with _private.tracing_lock():
            return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    except Exception as error:
        try:
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            _native.refuse("TW-PYTHON-0007", f"torch.export cannot export {type(model).__name__}: {first}",
                           "see the error before this one; torch.export.export(module, args) raises it, too")
        except _native.Error as refusal:
            raise refusal from error
        raise


def serialize(exported: ExportedProgram, name: str,
              is_for_gpu: bool = False) -> tuple[str, bytes, list[tuple[str, int, int]], list[tuple[str, str]], Any]:
    """Name, JSON, (name, address, bytes) of each weight's storage, kernels of registered operators, and what owns the
    storages. Weights on a GPU are copied to main memory where the program is for one."""
    tensors, weights = _weights(exported, is_for_gpu)
    try:
        module = exported.graph_module
        if _kernel_views.has_views(module):
            module = _private.copied(module)
            _kernel_views.make_views_explicit(module)
        writer = GraphWriter(module, tensors)
        graph = writer.graph()
    except Unwritable as error:
        _native.refuse("TW-PYTHON-0007", f"{name} has {error} in it", "write that part of the model in another way")
    signature = exported.graph_signature
    inputs = [_input_spec(spec, argument) for spec, argument in zip(signature.input_specs, graph["inputs"])]
    # What is no argument of the exported program, but an attribute of its graph, is a constant.
    for (path, node), argument in zip(writer.attributes, graph["inputs"][len(inputs):]):
        inputs.append({"tensor_constant": {"arg": argument["as_tensor"], "tensor_constant_name": path}})
        weights[path] = getattr(exported.graph_module, path).cpu()
    outputs = [_output_spec(spec, argument) for spec, argument in zip(signature.output_specs, graph["outputs"])]
    ranges = {str(symbol): _bounds(limits) for symbol, limits in exported.range_constraints.items()}
    json = program(graph, inputs, outputs, ranges, _out_spec(exported))
    storages = [(key, *_storage(key, tensor)) for key, tensor in weights.items()]
    return name, json, storages, _operators.texts_of(writer.kernels), weights


def _weights(exported: ExportedProgram, is_for_gpu: bool) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """The real tensors by their inputs' names, and by their own."""
    tensors, weights = {}, {}
    for spec in exported.graph_signature.input_specs:
        if spec.kind in WEIGHTS:
            if is_odd(spec.target):
                _native.refuse("TW-PYTHON-0007", f"the name of a weight is {_native.shown(spec.target)}",
                               "rename it: names are texts in UTF-8 without a zero")
            known = exported.state_dict if spec.target in exported.state_dict else exported.constants
            tensor = known[spec.target]
            if is_for_gpu and tensor.is_cuda:
                tensor = tensor.cpu()
            if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.device.type != "cpu":
                _native.refuse("TW-PYTHON-0007", f"weight {spec.target} is {_native.described(tensor)} on {tensor.device}",
                               "weights are plain tensors in main memory: call .cpu() first")
            if tensor.is_conj() or tensor.is_neg():
                tensor = tensor.resolve_conj().resolve_neg()
            tensors[spec.arg.name] = weights[spec.target] = tensor.detach()
    return tensors, weights


def _storage(name: str, tensor: torch.Tensor) -> tuple[int, int]:
    if tensor.layout is not torch.strided:
        _native.refuse("TW-PYTHON-0007", f"weight {name} is a tensor of the layout {tensor.layout}",
                       "call .to_dense() first")
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def _input_spec(spec: Any, argument: dict[str, Any]) -> dict[str, Any]:
    if spec.kind in WEIGHTS:
        tag = WEIGHTS[spec.kind]
        more = {"persistent": bool(spec.persistent)} if tag == "buffer" else {}
        return {tag: {"arg": {"name": spec.arg.name}, f"{tag}_name": spec.target, **more}}
    if spec.kind is InputKind.USER_INPUT and ("as_tensor" in argument or "as_sym_int" in argument
                                              or "as_sym_float" in argument or "as_sym_bool" in argument):
        return {"user_input": {"arg": argument}}
    if spec.kind is InputKind.USER_INPUT:
        return {"constant_input": {"name": spec.arg.name, "value": argument}}
    return {spec.kind.name.lower(): {}}  # which the importer names when it refuses it


def _output_spec(spec: Any, argument: dict[str, Any]) -> dict[str, Any]:
    if spec.kind is OutputKind.USER_OUTPUT:
        return {"user_output": {"arg": argument}}
    if spec.kind is OutputKind.LOSS_OUTPUT:
        return {"loss_output": {"arg": argument["as_tensor"]}}
    if spec.kind in RESULTS:
        tag, key = RESULTS[spec.kind]
        return {tag: {"arg": argument["as_tensor"], key: spec.target}}
    return {spec.kind.name.lower(): {}}


def _bounds(limits: Any) -> tuple[int | None, int | None]:
    def bound(limit: Any) -> int | None:
        try:
            value = int(limit)
        except (OverflowError, TypeError, ValueError, AttributeError):
            return None  # infinite
        return value if abs(value) < 2**62 else None

    return bound(limits.lower), bound(limits.upper)


def _out_spec(exported: ExportedProgram) -> str:
    """How results are nested, which gives them names; "" when that cannot be written."""
    try:
        return _private.treespec_text(exported.call_spec.out_spec)
    except (NotImplementedError, TypeError, ValueError):
        return ""
