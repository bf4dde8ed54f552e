# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the models of seeds with their inputs and expected outputs, for judge.py:

    python e2e/random/make.py FOLDER FIRST COUNT          # needs torch 2.13

A seed's folder holds model.pt2, source.py and case.json:

    {"seed": 7, "calls": [{"inputs": ["in0_0.npy"], "outputs": [
        {"dtype": "f32", "expected": "out0_0.npy", "rtol": 2e-6, "atol": 1e-7, "skipped": [3]}]}]}

Values of bf16 are stored as f32. An output that says nothing has no "expected"."""

import json
import pathlib
import sys
import warnings

import numpy
import torch

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent))

from export.double import GraphRunner
from export.model import DTYPE_NAMES
from model import Model
from truth import expectations


def save(path: pathlib.Path, tensor: torch.Tensor) -> str:
    tensor = tensor.detach().contiguous()
    numpy.save(path, (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy())
    return path.name


def describe(folder: pathlib.Path, call: int, number: int, found) -> dict:
    output = {"dtype": DTYPE_NAMES[found.tensor.dtype], "shape": list(found.tensor.shape)}
    if found.is_unstable:
        return output
    output["expected"] = save(folder / f"out{call}_{number}.npy", found.tensor)
    if found.tensor.dtype.is_floating_point:
        output |= {"rtol": float(f"{found.relative:.3g}"), "atol": float(f"{found.absolute:.3g}")}
    skipped = found.skipped.flatten().nonzero().flatten().tolist()
    return output | ({"skipped": skipped} if skipped else {})


def write(seed: int, folder: pathlib.Path) -> None:
    """Raises where the model cannot be exported."""
    model = Model(seed)
    program = model.export()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.py").write_text(model.source)
    module, double, calls = program.module(), GraphRunner(program, double=True), []
    for number, inputs in enumerate(model.calls(program)):
        try:
            found = expectations(module, double, inputs)
        except (RuntimeError, IndexError, ValueError):
            if number == 0:
                raise
            continue  # other sizes than the first ones need not fit
        calls.append({"inputs": [save(folder / f"in{number}_{i}.npy", x) for i, x in enumerate(inputs)],
                      "outputs": [describe(folder, number, i, output) for i, output in enumerate(found)]})
    for graph in program.graph_module.modules():
        for node in graph.graph.nodes:
            for key in ("stack_trace", "nn_module_stack", "from_node", "torch_fn"):
                node.meta.pop(key, None)
    program._example_inputs = None
    torch.export.save(program, folder / "model.pt2")
    (folder / "case.json").write_text(json.dumps({"seed": seed, "calls": calls}, indent=1))


def prepare() -> None:
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")


def main() -> int:
    root, first, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    prepare()
    for seed in range(first, first + count):
        try:
            write(seed, root / f"{seed:06}")
        except Exception as problem:  # export fails in many ways, none of them ours
            print(f"{seed}: not exported: {type(problem).__name__}: {str(problem).splitlines()[0][:150]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
