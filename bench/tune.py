#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tilewright tune` finds in whole models of full size, from the configurations of another kind of machine.

    bench/tune.py search FOLDER [--rows=BERT-base,...] [--threads=2] [--budget=30m] [--at-once=N] [--json=FILE]
    bench/tune.py start FOLDER FILE       # what searches begin with: bench/avx2.mlir is of cpu:x86-64-v3

Models are those of bench/cpu.py, which need torch; FOLDER keeps them, what was found and the reports. A row has what a
call of the start took in milliseconds, what is left of it, and what that is of the compiler's own choice: medians of
calls in turns, with their intervals, as the search has measured them at its end. --at-once searches several models, each
on cores of its own; cores that are left compile for all of them.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

from tune_start import spec_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["BERT-base", "GPT-2", "ResNet-50", "MobileNetV2", "SDXL block", "DLRM b128"]


class Model:
    """A model in a folder of its own, with what it is called with."""

    def __init__(self, name, options, cores):
        self.name, self.options, self.cores = name, options, cores
        self.folder = options.folder / re.sub(r"\W+", "_", name)
        self.path = self.folder / "model.pt2"

    def export(self):
        if (self.folder / "inputs").exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        code = "import sys, tune; tune.export(sys.argv[1], sys.argv[2])"
        subprocess.run([sys.executable, "-c", code, self.name, str(self.folder)], check=True, cwd=ROOT / "bench",
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def inputs(self):
        return [f"--input=@{self.folder / name}" for name in (self.folder / "inputs").read_text().split()]

    def call(self, cores, *arguments):
        done = subprocess.run([str(each) for each in (self.options.tool, *arguments)], capture_output=True, text=True,
                              check=False, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        if done.returncode:
            raise RuntimeError(f"{self.name}: tilewright {arguments[0]} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def search(self):
        begin = time.monotonic()
        text = self.call(self.cores.all, "tune", self.path, *self.inputs(), f"--budget={self.options.budget}",
                         f"--threads={self.options.threads}", f"--tuning-spec={self.options.start}",
                         f"--reference={self.options.reference}", f"--database={self.folder}/measured.sqlite",
                         f"--html={self.folder}/report.html", "-o", self.folder / "found.mlir", "--json")
        (self.folder / "report.json").write_text(text)
        return row_of(self.name, json.loads(text), time.monotonic() - begin)


def row_of(name, report, seconds):
    """Ratios of kernels are in terms of what they were with the decisions that were kept before."""
    unchanged = {"median": 1.0, "low": 1.0, "high": 1.0}
    before = math.prod(each["ratio"]["median"] for each in report["decisions"]["kept"])
    own = report.get("ratio_of_compilers", unchanged)
    # What is no faster is not written.
    left = report["ratio"]["median"] / max(1.0, own["median"]) * before
    return {"model": name, "start_ms": report["start_us"] / before / 1000, "left": left, "of_compilers": own,
            "trials": report["trials"], "decisions": report["decisions"]["tried"], "seconds": seconds,
            "notes": report["notes"]}


def export(name, folder):
    """The model and the inputs of a row of bench/cpu.py."""
    import cpu_workloads
    import numpy
    import torch
    folder = pathlib.Path(folder)
    _, module, given = cpu_workloads.made(name)
    torch.export.save(torch.export.export(module, tuple(given)), folder / "model.pt2")
    names = [f"in{i}.npy" for i in range(len(given))]
    for file, tensor in zip(names, given):
        numpy.save(folder / file, tensor.numpy())
    (folder / "inputs").write_text(" ".join(names))


class Cores:
    """Of one of several searches: its own, on which calls run, and those that compile for all."""

    def __init__(self, number, options):
        usable, threads = sorted(os.sched_getaffinity(0)), options.threads
        if len(usable) < options.at_once * threads:
            raise SystemExit(f"--at-once={options.at_once} with {threads} threads each needs {options.at_once * threads} "
                             f"cores, but there are {len(usable)}")
        self.own = usable[number * threads:(number + 1) * threads]
        self.all = self.own + usable[options.at_once * threads:]


def search(options):
    models = [Model(name, options, Cores(i % options.at_once, options)) for i, name in enumerate(options.rows)]
    rows = []
    for first in range(0, len(models), options.at_once):
        batch = models[first:first + options.at_once]
        with concurrent.futures.ThreadPoolExecutor(len(batch)) as pool:
            list(pool.map(Model.export, batch))
            for row in pool.map(Model.search, batch):
                rows.append(row)
                if options.json:
                    options.json.write_text(json.dumps(rows, indent=1))
    print_table(rows)


def print_table(rows):
    print("| model | start ms | left | of the compiler's own | (95 %) | trials | decisions | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    shares = []
    for row in rows:
        own = row["of_compilers"]
        shares.append(min(1.0, own["median"]))
        print(f"| {row['model']} | {row['start_ms']:.2f} | {row['left']:.3f} | {own['median']:.3f} | {own['low']:.3f} to "
              f"{own['high']:.3f} | {row['trials']} | {row['decisions']} | {row['seconds']:.0f} |")
    print(f"the compiler's own choice has {100 * math.exp(sum(map(math.log, shares)) / len(shares)):.1f} % of the speed of what "
          "was found (geometric mean)")


def start(options):
    """One spec for all models."""
    specs = []
    for name in options.rows:
        model = Model(name, options, Cores(0, options))
        model.export()
        spaces = json.loads(model.call(model.cores.all, "tune", model.path, "--space", "--json", "--count=0",
                                       f"--target={options.target}"))["spaces"]
        specs.append(model.folder / "start.mlir")
        specs[-1].write_text(spec_of(spaces))
    subprocess.run([options.tool, "link-specs", *specs, "-o", options.file], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["search", "start"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build/dev/bin/tilewright")
    parser.add_argument("--rows", type=lambda text: text.split(","), default=MODELS)
    parser.add_argument("--target", default="cpu:x86-64-v3", help="of `start`")
    parser.add_argument("--start", type=pathlib.Path, default=ROOT / "bench/avx2.mlir")
    parser.add_argument("--reference", default="cpu:x86-64-v3", help="whose results are right")
    parser.add_argument("--budget", default="30m")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.folder, options.tool = options.folder.resolve(), options.tool.resolve()
    if (options.mode == "start") != (options.file is not None):
        parser.error("start takes a FOLDER and a FILE, search a FOLDER")
    (search if options.mode == "search" else start)(options)


if __name__ == "__main__":
    main()
