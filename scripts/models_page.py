#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/models.md: what becomes of models of full size, dispatch by dispatch.

    scripts/models_page.py [--tool=build/dev/bin/tilewright] [--target=cpu:x86-64-v4] [MODEL ...]

Exports each model of bench/full_models.py with random weights, compiles it, and reads the report. The target is a
fixed one, so the page is the same on every machine.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import torch  # noqa: E402
from full_models import MODELS, model  # noqa: E402

HEAD = """\
# What becomes of models

What the compiler makes of models of full size, dispatch by dispatch: which operators share a kernel, how often
the model runs it, and its [configuration](configurations.md). Each row is one compiled kernel; a model's
layers share the kernels of equal shape. This page is written by `scripts/models_page.py` for `--target={target}`;
`tilewright compile MODEL -o OUT.so --report=json` prints the same for a model of your own, and
`--dump-to=DIR` writes each kernel as source.
"""
# What says nothing about a schedule; and fields that say nothing at these values.
HEADS = ("kernel", "kind", "target", "variants", "at_most")
USUAL = {"k_block": 0, "packed": False, "panels": 1, "vectorize_reduction": False, "interleaved": False, "parts": 1,
         "row_programs": 1, "column_programs": 1, "query_programs": 1, "width_programs": 1, "groups": 1, "height": 1,
         "transposed": False, "split_keys": False, "one_loop": False, "in_scratch": False, "channel_step": 0,
         "outputs_outermost": False, "accumulators_in_memory": False, "column_parts": 1, "split_k": False, "split_parts": 0}


def compiled(name, tool, target):
    """The report of a model."""
    module, inputs = model(name)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        torch.export.save(torch.export.export(module, inputs), f"{folder}/model.pt2")
        done = subprocess.run([tool, "compile", f"{folder}/model.pt2", "-o", f"{folder}/model.so", f"--target={target}",
                               "--report=json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    return json.loads(done.stdout)


def is_usual(name, value):
    if name == "chunk":
        return not any(value)
    return set(value) == {1} if name == "programs" else USUAL.get(name) == value


def field(name, value):
    """'packed', 'rows 8', 'block [1, 0]'."""
    words = name.replace("_", " ")
    return words if value is True else f"{words} {value}"


def fields(configuration):
    """'contraction: columns 48, packed, rows 8'."""
    own = {name: value for name, value in configuration.items() if name not in HEADS}
    own |= {name: value for name, value in configuration.get("target", {}).items() if name != "kind"}
    said = [field(name, value) for name, value in own.items() if not is_usual(name, value)]
    return ": ".join(filter(None, [configuration["kind"].replace("_", " "), ", ".join(said)]))


def configuration_of(kernel, known):
    """Of a kernel, whose name has a number more where it was fused or split."""
    while kernel not in known and "_" in kernel:
        kernel = kernel.rpartition("_")[0]
    return known.get(kernel)


def section(name, report):
    known = {kernel["kernel"]: kernel for dispatch in report["configurations"] for kernel in dispatch["kernels"]}
    calls, plain, kernels = report["calls"], report["calls_on_reference"], report["dispatches"]
    _, inputs = model(name)
    shapes = ", ".join(f"{str(x.dtype).removeprefix('torch.')}[{', '.join(map(str, x.shape))}]" for x in inputs)
    lines = [f"\n## {name}\n", f"Called with {shapes}: {calls} dispatches of {len(kernels)} kernels"
             + (f", {plain} on the reference target.\n" if plain else ", all of them tile programs.\n"),
             "| calls | operators | configuration |", "|---|---|---|"]
    for kernel in kernels:
        configuration = configuration_of(kernel["kernel"], known)
        said = fields(configuration) if configuration else kernel["target"]
        lines.append(f"| {kernel['calls']} | {kernel['ops']} | {said} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--target", default="cpu:x86-64-v4")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/models.md")
    parser.add_argument("models", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    text = HEAD.format(target=options.target)
    for name in options.models:
        text += section(name, compiled(name, options.tool, options.target))
        print(name, file=sys.stderr)
    options.output.write_text(text)


if __name__ == "__main__":
    main()
