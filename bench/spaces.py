#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small configuration spaces that are measured as a whole, for how soon a search finds the best of them.

    bench/spaces.py record TOOL FOLDER [NAME ...]     # needs torch; an hour on one core
    bench/spaces.py replay TOOL FOLDER [NAME ...]     # the table of docs/tuning.md
    bench/spaces.py text FOLDER NAME                  # for unittests/Tune/recorded

Each is a model of several kernels of one kind and different sizes, of which some knobs are searched: FOLDER/NAME.pt2,
FOLDER/NAME.sqlite. A recording that was interrupted goes on.
"""
import argparse
import pathlib
import sqlite3
import subprocess

LINEARS = [(16, 256, 256), (24, 192, 384), (32, 128, 512), (48, 256, 128), (64, 128, 256), (20, 320, 192)]
ATTENTIONS = [(2, 64, 64, 64), (4, 48, 48, 32), (3, 32, 64, 64), (4, 64, 40, 32)]  # heads, queries, keys, depth
CONVOLUTIONS = [(16, 32, 14, 3, 1), (32, 32, 12, 3, 1), (24, 48, 10, 3, 1), (8, 16, 20, 5, 2), (16, 48, 16, 3, 2)]
KNOBS = {"linears": "rows,columns", "attentions": "keys,queries", "convolutions": "width,height,columns"}


def models():
    """Of each name the module and its inputs."""
    import torch
    from torch import nn

    class Apart(nn.Module):
        """Modules that have nothing to do with each other, each with as many of the inputs."""

        def __init__(self, parts, inputs):
            super().__init__()
            self.parts, self.inputs = nn.ModuleList(parts), inputs

        def forward(self, *inputs):
            return tuple(part(*inputs[i * self.inputs:(i + 1) * self.inputs]) for i, part in enumerate(self.parts))

    class Attention(nn.Module):
        def forward(self, queries, keys, values):
            return nn.functional.scaled_dot_product_attention(queries, keys, values)

    return {
        "linears": (Apart([nn.Linear(k, n) for m, n, k in LINEARS], 1), [torch.randn(m, k) for m, n, k in LINEARS]),
        "attentions": (Apart([Attention() for _ in ATTENTIONS], 3),
                       [torch.randn(1, h, rows, d) for h, q, k, d in ATTENTIONS for rows in (q, k, k)]),
        "convolutions": (Apart([nn.Conv2d(c, o, w, stride=s, padding=w // 2) for c, o, _, w, s in CONVOLUTIONS], 1),
                         [torch.randn(1, c, size, size) for c, _, size, _, _ in CONVOLUTIONS]),
    }


def record(options):
    import torch
    for name, (module, inputs) in models().items():
        if options.names and name not in options.names:
            continue
        model = options.folder / f"{name}.pt2"
        if not model.exists():
            torch.export.save(torch.export.export(module.eval(), tuple(inputs)), model)
        given = [f"--input={'x'.join(map(str, tensor.shape))}xf32=random:{i + 1}" for i, tensor in enumerate(inputs)]
        subprocess.run([options.tool, "tune", model, *given, f"--knobs={KNOBS[name]}", "--exhaustive", "--threads=1",
                        f"--database={options.folder / name}.sqlite"], check=True)


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
    parser.add_argument("mode", choices=["record", "replay", "text"])
    parser.add_argument("rest", nargs="+")
    given = parser.parse_args()
    given.tool = None if given.mode == "text" else given.rest.pop(0)
    given.folder, given.names = pathlib.Path(given.rest[0]), given.rest[1:]
    given.folder.mkdir(parents=True, exist_ok=True)
    {"record": record, "replay": replay, "text": text}[given.mode](given)


if __name__ == "__main__":
    main()
