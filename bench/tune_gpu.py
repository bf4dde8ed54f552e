#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tilewright tune` finds for the rows of bench/gpu.py on a GPU, beside what the compiler chooses.

    bench/tune_gpu.py prepare FOLDER [--rows=NAME,...] [--programs=20] [--start=SPEC] [--tool=...]   # needs torch and a compiler
    bench/tune_gpu.py measure FOLDER [--rows=NAME,...] [--tool=...]                                  # needs a GPU
    bench/tune_gpu.py finish  FOLDER [--rows=NAME,...] [--start=SPEC] [--tool=...]                   # needs a compiler
    bench/tune_gpu.py search  FOLDER [--rows=NAME,...] [--budget=20s] [--start=SPEC] [--exhaustive=1.3] [--tool=...]
                                                                       # needs torch, a compiler and a GPU

Each row is a bundle FOLDER/NAME (docs/tuning.md, "Another machine"); `prepare` after `measure` makes another round.
`finish` prints a table, and links the specs of all rows into FOLDER/tuned.mlir. Ratios are the candidate's time over
that of the compiler's choice, of calls in turns: below 1 is faster. With --start searches begin with what a tuning spec
gives, as bench/hopper.mlir: blocks of kernels written by hand. "found" is in terms of that then, and so is "model", the compiler's choice.
With --exhaustive=FACTOR all legal configurations are measured that cost at most FACTOR times the least by the target's model,
as far as the budget goes, and a column says how fast the compiler's choice is in terms of the best of them.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

import gpu
import gpu_attention
import gpu_plain
import gpu_rows

ROOT = pathlib.Path(__file__).resolve().parent.parent


def input_sizes(row: dict) -> list[tuple]:
    for field, part in (("operation", gpu_rows), ("plain", gpu_plain), ("heads", gpu_attention)):
        if field in row:
            return list(part.shapes(row).values())
    weight = (row["n"], row["k"]) if row["layout"] == "nk" else (row["k"], row["n"])
    return [(row["m"], row["k"]), weight, (row["n"],)]


def model_options(options, name: str) -> list:
    """The model of a row, exported once, and what it is compiled with."""
    model = options.folder / f"{name}.pt2"
    if not model.exists():
        gpu.export(options.table[name], model)
    return [model, "--target=nvidia:sm_90a", *([f"--tuning-spec={options.start}"] if options.start else [])]


def inputs_of(row: dict) -> list[str]:
    return [f"--input={'x'.join(map(str, sizes))}x{row['dtype']}=random:{seed + 1}"
            for seed, sizes in enumerate(input_sizes(row))]


def prepare(options, name: str) -> None:
    subprocess.run([options.tool, "tune", *model_options(options, name), *inputs_of(options.table[name]), "--reference=cpu:x86-64-v3",
                    f"--prepare={options.folder / name}", f"--programs={options.programs}"], check=True)


def measure(options, name: str) -> None:
    done = subprocess.run([options.tool, "tune", f"--measure={options.folder / name}"], check=False,
                          capture_output=True, text=True)
    print(f"{name}: {(done.stdout + done.stderr).strip()}", flush=True)


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def finish(options, names: list[str]) -> None:
    specs, ratios = [], []
    for name in names:
        spec = options.folder / f"{name}.mlir"
        done = subprocess.run([options.tool, "tune", *model_options(options, name), f"--finish={options.folder / name}",
                               "-o", spec], check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines()[1:-1]:
            us, ratio, tried, *kernel = line.split()
            ratios.append(1.0 if ratio == "-" else float(ratio))
            print(f"{name:36} {us:>10} us  {ratio:>6}  {tried:>4} tried  {' '.join(kernel)}")
        specs.append(spec)
    print(f"geometric mean {mean(ratios):.3f} of {len(ratios)} kernels")
    subprocess.run([options.tool, "link-specs", *specs, "-o", options.folder / "tuned.mlir"], check=True)


def search(options, names: list[str]) -> int:
    """What is left of the time of the model's choice, kernel by kernel. The exit status: 1 where a row could not be searched."""
    specs, left, all_found, of_best = [], [], [], []
    print(f"{'row':32} {'us':>9} {'found':>6} {'model':>6} {'found / model':>13} {'tried':>6}"
          + ("  of the best, points, of all legal, not tried" if options.exhaustive else ""))
    for name in names:
        spec = options.folder / f"{name}.mlir"
        done = subprocess.run([options.tool, "tune", *model_options(options, name), *inputs_of(options.table[name]),
                               "--reference=cpu:x86-64-v3", f"--budget={options.budget}", "-o", spec, "--json",
                               *([f"--exhaustive={options.exhaustive}"] if options.exhaustive else [])],
                              check=False, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stderr.strip()}", flush=True)
            continue
        (options.folder / f"{name}.json").write_text(done.stdout)
        specs.append(spec)
        for kernel in json.loads(done.stdout)["kernels"]:
            found = kernel["ratio"]["median"] if "ratio" in kernel else 1.0
            # It is tried first, unless the search has begun with it.
            model = kernel.get("ratio_of_chosen", 1.0)
            left.append(found / model)
            all_found.append(found)
            whole = ""
            if all_points := kernel.get("exhaustive"):
                of_best.append(all_points["share_of_best"])
                whole = f"  {of_best[-1]:.3f}  {all_points['within']}  {all_points['legal']}  {all_points['untried']}"
            print(f"{name:32} {kernel['start_us']:9.1f} {found:6.3f} {model:6.3f} {left[-1]:13.3f} {kernel['measured']:6}{whole}", flush=True)
    if not specs:
        return 1
    print(f"geometric means of {len(left)} kernels: found {mean(all_found):.3f}, found / model {mean(left):.3f}"
          + (f", of the best {mean(of_best):.3f}" if of_best else ""))
    subprocess.run([options.tool, "link-specs", *specs, "-o", options.folder / "tuned.mlir"], check=True)
    return 0 if len(specs) == len(names) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=["prepare", "measure", "finish", "search"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", default="")
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--start", type=pathlib.Path)
    parser.add_argument("--exhaustive", type=float)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build/dev/bin/tilewright")
    options = parser.parse_args()
    # Of a dynamic size there is nothing to measure but its values, and precision is the model's.
    options.table = {name: row for name, row in gpu.table().items() if not row.get("dynamic") and not row.get("compile") and "layers" not in row}
    names = options.rows.split(",") if options.rows else list(options.table)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.mode == "finish":
        finish(options, names)
        return 0
    if options.mode == "search":
        return search(options, names)
    for name in names:
        (prepare if options.mode == "prepare" else measure)(options, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
