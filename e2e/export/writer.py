# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports one model and writes it with its inputs and expected outputs.

The folder of a model holds `NAME.pt2`, `case.json`, the `.npy` files that it names, and `f64.npz`
with the outputs in double precision (case tables of operators have all their arrays in `data.npz`):

    {"model": "NAME.pt2", "cases": [{"name": "B=3", "calls": [
        {"inputs": ["@c0s0_in0.npy"], "outputs": [{"dtype": "f32", "expected": "c0s0_out0.npy",
         "f64": "c0s0_out0", "name": "logits", "distance": 1e-7}]}]}], "reduction": 784}

`distance` is that of the exported graph, run by PyTorch, from double precision if it is larger than
that of the original module: export decomposes some operators.
The calls of a case are consecutive calls on one loaded instance. Values of bf16 are stored as f32.
"""

import copy
import json
import pathlib
import re

import numpy
import torch
from torch.export.experimental import _export_forward_backward
from torch.export.graph_signature import OutputKind
from torch.utils import _pytree as pytree

from .double import GraphRunner
from .model import DTYPE_NAMES, Model
from .reduction import longest_reduction

FRAME = re.compile(r'File "[^"]*?(site-packages/|e2e/)?([^"/]*/)*([^"/]+)"')


def export(model: Model) -> tuple[torch.nn.Module, torch.export.ExportedProgram]:
    """The module and its exported program, in the form that the table asks for."""
    torch.manual_seed(0)
    module = model.build()
    module.train(model.train or model.form == "joint")
    args, kwargs = model.arguments(model.make_inputs(0, 0))
    program = torch.export.export(
        copy.deepcopy(module), args, kwargs, dynamic_shapes=model.dynamic_shapes(), strict=False)
    if model.form == "core":
        program = program.run_decompositions()
    if model.form == "joint":
        program = _export_forward_backward(program)
    for graph_module in program.graph_module.modules():
        for node in graph_module.graph.nodes:
            tidy_metadata(node, model.verbatim)
    return module, program


def tidy_metadata(node: torch.fx.Node, whole: bool) -> None:
    """Makes the source places independent of the machine, and keeps only the innermost two frames
    and the innermost module unless the model wants the `whole`."""
    modules = node.meta.get("nn_module_stack")
    if modules and not whole:
        node.meta["nn_module_stack"] = dict(list(modules.items())[-1:])
    if not whole:
        node.meta.pop("from_node", None)
    trace = node.meta.get("stack_trace")
    if not trace:
        return
    frames = re.split(r'(?m)^(?=\s*File ")', trace)
    frames = [frame for frame in frames if frame.strip().startswith("File")]
    if not whole:
        frames = frames[-2:]
    node.meta["stack_trace"] = "".join(FRAME.sub(shorten, frame) for frame in frames)


def shorten(match: re.Match) -> str:
    path = match[0][6:-1]
    for root in ("site-packages/", "/e2e/"):
        if root in path:
            path = path[path.rindex(root) + 1:] if root[0] == "/" else path[path.rindex(root) + len(root):]
    return f'File "{path}"'


def eager(model: Model, module: torch.nn.Module, program, flat: list) -> tuple[list, list]:
    """Names and values of the outputs of one eager call, as the exported program orders them."""
    args, kwargs = model.arguments([copy.deepcopy(value) for value in flat])
    if model.form != "joint":
        with torch.no_grad():
            outputs = pytree.tree_leaves(module(*args, **kwargs))
        return getattr(module, "labels", [None] * len(outputs)), outputs
    for parameter in module.parameters():
        parameter.grad = None
    tensors = [t.requires_grad_() for t in pytree.tree_leaves((args, kwargs)) if t.requires_grad]
    outputs = pytree.tree_leaves(module(*args, **kwargs))
    outputs[0].backward()
    gradients = {name: parameter.grad for name, parameter in module.named_parameters()}
    names, values = [], []
    waiting = list(outputs)
    for spec in program.graph_signature.output_specs:
        if spec.kind in (OutputKind.LOSS_OUTPUT, OutputKind.USER_OUTPUT):
            names.append("loss" if spec.kind == OutputKind.LOSS_OUTPUT else None)
            values.append(waiting.pop(0).detach())
        elif spec.kind == OutputKind.GRADIENT_TO_PARAMETER:
            names.append(spec.target)
            values.append(gradients[spec.target])
        elif spec.kind == OutputKind.GRADIENT_TO_USER_INPUT:
            raise ValueError(f"{model.name}: gradients of inputs are not exported here: {tensors}")
    return names, values


def to_numpy(value):
    if not isinstance(value, torch.Tensor):
        return numpy.asarray(value)
    value = value.detach().contiguous()
    return (value.float() if value.dtype == torch.bfloat16 else value).numpy()


def write(model: Model, folder: pathlib.Path) -> int:
    """Writes the model's folder; returns its size in bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    module, program = export(model)
    file = f"{model.name}.mlir"
    if not model.text:
        file = f"{model.name}.pt2"
        if not model.verbatim:
            program._example_inputs = None
        if model.packed:
            pack_metadata(program)
        torch.export.save(program, folder / file)
    arrays = Arrays(folder, model.packed)
    cases = []
    for case, sizes in enumerate(model.sizes):
        title = ",".join(f"{name}={value}" for name, value in sizes.items())
        cases.append({"name": title, "calls": write_calls(model, module, program, arrays, case)})
    arrays.finish()
    description = {"model": file, "reduction": longest_reduction(program), "cases": cases}
    if model.packed:
        description["compare_here"] = True
    if model.kernels:
        description["kernels"] = model.kernels
    (folder / "case.json").write_text(compact(json.dumps(description, indent=1)) + "\n")
    return sum(file.stat().st_size for file in folder.iterdir())


def compact(text: str) -> str:
    """Puts the innermost objects and lists of indented JSON on one line each."""
    return re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda match: re.sub(r"\s*\n\s*", " ", match[0]), text)


def pack_metadata(program) -> None:
    """Drops what a case table does not need: module paths and all but one frame."""
    for node in program.graph.nodes:
        node.meta.pop("nn_module_stack", None)
        node.meta.pop("torch_fn", None)
        frames = re.findall(r'File "[^"]*operators/[^"]*", line \d+, in \w+\n[^\n]*', node.meta.get("stack_trace") or "")
        node.meta["stack_trace"] = frames[-1] if frames else ""


class Arrays:
    """Writes arrays: as files of their own, or all in data.npz; those in double precision in f64.npz."""

    def __init__(self, folder: pathlib.Path, packed: bool):
        self.folder, self.packed = folder, packed
        self.data, self.exact = {}, {}

    def add(self, stem: str, value) -> str:
        if self.packed:
            self.data[stem] = to_numpy(value)
        else:
            numpy.save(self.folder / f"{stem}.npy", to_numpy(value))
        return f"{stem}.npy"

    def finish(self) -> None:
        for name, arrays in (("data.npz", self.data), ("f64.npz", self.exact)):
            if arrays:
                numpy.savez_compressed(self.folder / name, **arrays)


def write_calls(model: Model, module, program, arrays: Arrays, case: int) -> list:
    """Writes inputs and outputs of the consecutive calls of one case."""
    module = copy.deepcopy(module)
    plain, double = GraphRunner(program, double=False), GraphRunner(program, double=True)
    calls = []
    for step in range(model.steps):
        flat = model.make_inputs(case, step)
        prefix = f"c{case}s{step}_"
        inputs = [write_input(arrays, f"{prefix}in{i}", value) for i, value in enumerate(flat)]
        names, values = eager(model, module, program, flat)
        results = zip(names, values, plain(flat), double(flat), strict=True)
        outputs = [write_output(arrays, f"{prefix}out{i}", *result)
                   for i, result in enumerate(results) if result[1] is not None]
        calls.append({"inputs": inputs, "outputs": outputs})
    return calls


def write_input(arrays: Arrays, stem: str, value) -> str:
    return f"i64={value}" if isinstance(value, int) else f"@{arrays.add(stem, value)}"


def distance(value, wide) -> float:
    """The maximum norm of the difference of finite values."""
    return (value.double() - wide).nan_to_num(0.0, 0.0, 0.0).abs().max().item() if value.numel() else 0.0


def write_output(arrays: Arrays, stem: str, name, value, graph, wide) -> dict:
    """Describes one output: `value` as eager PyTorch gives it, `graph` as PyTorch gives it operator by
    operator from the exported graph, `wide` in double precision."""
    entry = {"name": name} if name else {}
    if not isinstance(value, torch.Tensor):
        return entry | {"dtype": "i64" if isinstance(value, int) else "f64", "value": value}
    entry |= {"dtype": DTYPE_NAMES[value.dtype], "expected": arrays.add(stem, value)}
    if not value.dtype.is_floating_point or value.dtype == torch.float64:
        return entry
    if arrays.packed and torch.equal(value.double().nan_to_num(), wide.nan_to_num()):
        return entry
    entry["f64"] = stem
    if distance(graph, wide) > distance(value, wide):
        entry["distance"] = distance(graph, wide)
    arrays.exact[stem] = wide.detach().contiguous().numpy()
    return entry
