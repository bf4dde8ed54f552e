#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small configuration spaces that are measured as a whole, for how soon a search finds the best of them.

    bench/spaces.py record TOOL FOLDER [NAME ...]     # needs torch; an hour on one core
    bench/spaces.py replay TOOL FOLDER [NAME ...]     # the table of docs/tuning.md
    bench/spaces.py text FOLDER NAME                  # for unittests/Tune/recorded
    bench/spaces.py choice TOOL FOLDER [NAME ...] [--factor=1.1] [--threads=1] [--budget=5m]

Each is a model of several kernels of one kind and different sizes, of which some knobs are searched: FOLDER/NAME.pt2,
FOLDER/NAME.sqlite. A recording that was interrupted goes on.

`choice` is about kernels as large as those of models: linears of 16 to 512 rows, in f32 and bf16, whose weights no second-level
cache holds together, attention and convolutions. It measures the configurations that cost at most FACTOR times the least by
the target's model, the cheapest first, as many as the budget of each NAME allows, and prints how fast the compiler's choice is of
the best of them; and what all of what was found takes, compiled together, of the time with the choice: the best of many short
measurements is in part what noise has favoured.
"""
import argparse
import json
import pathlib
import sqlite3
import statistics
import subprocess

LINEARS = [(16, 256, 256), (24, 192, 384), (32, 128, 512), (48, 256, 128), (64, 128, 256), (20, 320, 192)]
ATTENTIONS = [(2, 64, 64, 64), (4, 48, 48, 32), (3, 32, 64, 64), (4, 64, 40, 32)]  # heads, queries, keys, depth
CONVOLUTIONS = [(16, 32, 14, 3, 1), (32, 32, 12, 3, 1), (24, 48, 10, 3, 1), (8, 16, 20, 5, 2), (16, 48, 16, 3, 2)]
KNOBS = {"linears": "rows,columns", "attentions": "keys,queries", "convolutions": "width,height,columns"}
# As large as in models.
LARGE_LINEARS = [(rows, *shape) for rows in (16, 64, 128, 512) for shape in ((3072, 768), (768, 3072))]  # rows, columns, sum
LARGE_ATTENTIONS = [(12, 128, 128, 64), (8, 512, 512, 64)]
LARGE_CONVOLUTIONS = [(3, 64, 224, 7, 2), (64, 64, 56, 3, 1), (128, 128, 56, 3, 2), (128, 128, 28, 3, 1), (256, 256, 14, 3, 1)]
POINTWISE = [(64, 256, 56, 1, 1), (256, 1024, 14, 1, 1), (24, 144, 56, 1, 1), (384, 64, 14, 1, 1), (256, 512, 56, 1, 2)]


def apart(parts, inputs):
    """A module of modules that have nothing to do with each other, each with its own of the lists of inputs, and all of these."""
    from torch import nn

    class Apart(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList(parts)

        def forward(self, *all):
            waiting = iter(all)
            return tuple(part(*(next(waiting) for _ in own)) for part, own in zip(self.parts, inputs))

    return Apart(), [tensor for own in inputs for tensor in own]


def linears(sizes, dtype):
    import torch
    return apart([torch.nn.Linear(k, n, dtype=dtype) for m, n, k in sizes], [[torch.randn(m, k).to(dtype)] for m, n, k in sizes])


def attentions(sizes, *dtypes):
    import torch

    class Attention(torch.nn.Module):
        def forward(self, queries, keys, values):
            return torch.nn.functional.scaled_dot_product_attention(queries, keys, values)

    return apart([Attention() for _ in dtypes for _ in sizes],
                 [[torch.randn(1, h, rows, d).to(dtype) for rows in (q, k, k)] for dtype in dtypes for h, q, k, d in sizes])


def convolutions(sizes):
    import torch
    return apart([torch.nn.Conv2d(c, o, w, stride=s, padding=w // 2) for c, o, _, w, s in sizes],
                 [[torch.randn(1, c, size, size)] for c, _, size, _, _ in sizes])


def models():
    """Of each name the module and its inputs."""
    import torch
    return {"linears": linears(LINEARS, torch.float32), "attentions": attentions(ATTENTIONS, torch.float32), "convolutions": convolutions(CONVOLUTIONS)}


def large_models():
    """The same, and the knobs."""
    import torch
    return {"linears-f32": (linears(LARGE_LINEARS, torch.float32), "rows,columns"), "linears-bf16": (linears(LARGE_LINEARS, torch.bfloat16), "rows,columns"),
            "attentions": (attentions(LARGE_ATTENTIONS, torch.float32, torch.bfloat16), "keys,queries"),
            "convolutions": (convolutions(LARGE_CONVOLUTIONS), "width,height,columns"), "pointwise": (convolutions(POINTWISE), "rows,columns")}


def exported(model, module, inputs):
    """What to tune: the model's file, written if it is not there, and its inputs."""
    import torch
    if not model.exists():
        torch.export.save(torch.export.export(module.eval(), tuple(inputs)), model)
    types = {torch.float32: "f32", torch.bfloat16: "bf16"}
    return [model, *(f"--input={'x'.join(map(str, tensor.shape))}x{types[tensor.dtype]}=random:{i + 1}" for i, tensor in enumerate(inputs))]


def record(options):
    for name, (module, inputs) in models().items():
        if options.names and name not in options.names:
            continue
        subprocess.run([options.tool, "tune", *exported(options.folder / f"{name}.pt2", module, inputs), f"--knobs={KNOBS[name]}", "--exhaustive",
                        "--threads=1", f"--database={options.folder / name}.sqlite"], check=True)


def choice(options):
    """The table, a line for each kernel, and the geometric means."""
    print("| of | kernel | legal | within | measured | not tried | us | % of best |\n|---|---|---|---|---|---|---|---|")
    found, together = {}, {}
    for name, ((module, inputs), knobs) in large_models().items():
        if options.names and name not in options.names:
            continue
        path = options.folder / f"large-{name}"
        command = [options.tool, "tune", *exported(path.with_suffix(".pt2"), module, inputs), f"--knobs={knobs}", f"--exhaustive={options.factor}",
                   f"--threads={options.threads}", f"--budget={options.budget}", "--reference=cpu", f"--database={path}.sqlite", "-o", path.with_suffix(".mlir"), "--json"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        found[name] = [kernel for kernel in report["kernels"] if kernel.get("exhaustive", {}).get("legal", 1) > 1]
        together[name] = report.get("ratio_of_compilers")
        for kernel in found[name]:
            print(choice_line(name, kernel), flush=True)
    for name, kernels in {**found, "all": sum(found.values(), [])}.items():
        share = 100 * statistics.geometric_mean(kernel["exhaustive"]["share_of_best"] for kernel in kernels)
        ratio = together.get(name)
        left = f"; together {ratio['median']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f}) of the time" if ratio else ""
        print(f"{name}: {share:.1f} % of the best, {len(kernels)} kernels{left}")


def choice_line(name, kernel):
    all_points = kernel["exhaustive"]
    cells = [name, kernel["ops"], all_points["legal"], all_points["within"], kernel["measured"], all_points["untried"], f"{kernel['start_us']:.1f}",
             f"{100 * all_points['share_of_best']:.1f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def replay(options):
    for name in options.names or KNOBS:
        subprocess.run([options.tool, "tune", f"--replay={options.folder / name}.sqlite"], check=True)


def text(options):
    """Of each kernel what a search has to know, and then each point: the values of its knobs, its cost and ratio."""
    connection = sqlite3.connect(options.folder / f"{options.names[0]}.sqlite")
    for number, target, dtypes, sizes, start, cost, knobs in connection.execute(
            "SELECT id, target, dtypes, sizes, start, start_cost, knobs FROM kernels ORDER BY id"):
        lines = [line.split() for line in knobs.splitlines()]
        varied = [words[0] for words in lines if len(words) > 2]
        measured = {}
        for point, ratio, point_cost, rejection in connection.execute(
                "SELECT point, ratio, cost, rejection FROM measurements WHERE kernel = ? ORDER BY rowid", (number,)):
            before = measured.get(point, (None, None))
            measured[point] = (ratio if not rejection else 0, point_cost or before[1])
        if not measured:
            continue

        def at(point):
            values = dict(word.split("=") for word in point.split())
            return " ".join(values[knob] for knob in varied)

        print(f"kernel {target.split()[-1]} {dtypes}")
        print("sizes " + " ".join(sizes.split()))
        for words in lines:
            if words[0] in varied:
                print("knob " + " ".join(words))
        print(f"start {at(start)} {cost:.6g}")
        for point, (ratio, point_cost) in measured.items():
            print(f"{at(point)} {point_cost:.6g} {ratio:.4g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["record", "replay", "text", "choice"])
    parser.add_argument("rest", nargs="+")
    parser.add_argument("--factor", type=float, default=1.1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", default="5m")
    given = parser.parse_args()
    given.tool = None if given.mode == "text" else given.rest.pop(0)
    given.folder, given.names = pathlib.Path(given.rest[0]), given.rest[1:]
    given.folder.mkdir(parents=True, exist_ok=True)
    {"record": record, "replay": replay, "text": text, "choice": choice}[given.mode](given)


if __name__ == "__main__":
    main()
