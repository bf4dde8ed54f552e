#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which share of the dispatches of models are tile programs, and why the others are not.

    scripts/tile_share.py [--tool=build/dev/bin/tilewright] [--least=97] [FOLDER|MODEL ...]

Compiles every program of the folders (by default the models and the operator tables of e2e) with
--report, counts calls of dispatches, and lists those left to the reference target by reason, and kernels
with a loop that takes one element at a time, which count as no tile programs. Ends with status 1 if less
than `--least` percent of the calls of a folder's programs are tile programs.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "runs on the reference target: "


def kernels_of(program):
    """The kernels that a model of e2e is compiled with."""
    case = program.parent / "case.json"
    names = json.loads(case.read_text()).get("kernels", []) if case.exists() else []
    return [f"--kernels={ROOT / name}" for name in names]


def takes_one_element(loop):
    """Whether all tiles in the text of a loop have one element."""
    tiles = re.findall(r"tensor<([\d?x]*?)x?[a-z]\w*>", loop)
    extents = [[int(extent) if extent.isdigit() else math.inf for extent in tile.split("x") if extent] for tile in tiles]
    return "tile.load" in loop and all(math.prod(each) == 1 for each in extents)


def slow_calls(text):
    """Of the dispatches of a module of tile programs, those whose kernel loops over single elements."""
    calls = []
    for kernel in re.findall(r"^  tile\.kernel @.*?^  \}$", text, re.M | re.S):
        loops = re.findall(r"^( +)[^\n]*tile\.for [^\n]*\n(.*?)^\1\}", kernel, re.M | re.S)
        if any(takes_one_element(body) for _, body in loops):
            name = re.match(r"  tile\.kernel @(\w+)", kernel)[1]
            calls += re.findall(rf"tw\.dispatch (@{name})\b", text)
    return calls


def report(tool, program):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(tool), "compile", str(program), "-o", f"{folder}/a.so", "--report=json",
                               f"--dump-to={folder}/dumps", *kernels_of(program)],
                              capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
        if found:
            found["slow"] = slow_calls(next(pathlib.Path(folder, "dumps").glob("*-tile.mlir")).read_text())
    return (program, found, done.stderr)


def programs(path):
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.suffix == ".pt2")


def show(name, reports):
    """Prints one folder's counts and reasons; gives the share in percent."""
    calls = sum(r["calls"] for _, r, _ in reports if r)
    plain = sum(r["calls_on_reference"] + len(r["slow"]) for _, r, _ in reports if r)
    share = 100 * (1 - plain / calls) if calls else 100
    print(f"{name}: {calls - plain} of {calls} dispatches are tile programs, {share:.1f} %")
    reasons = collections.defaultdict(list)
    for program, found, errors in reports:
        if found is None:
            print(f"  not compiled: {program.stem}: {errors.splitlines()[0] if errors else ''}")
            continue
        for kernel in found["slow"]:
            reasons["takes one element at a time"].append(f"{program.stem} ({kernel})")
        for remark in found["remarks"]:
            if remark["text"].startswith(MARK):
                reasons[remark["text"][len(MARK):]].append(f"{program.stem} ({remark['place'].split(':')[-1].split(',')[0].strip()})")
    for reason, places in sorted(reasons.items(), key=lambda r: -len(r[1])):
        print(f"  {len(places):3} {reason}\n      {', '.join(places)}")
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build/dev/bin/tilewright")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[ROOT / "e2e/models", ROOT / "e2e/operators"])
    options = parser.parse_args()
    worst = 100.0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path in options.paths:
            reports = list(pool.map(lambda p: report(options.tool, p), programs(path)))
            worst = min(worst, show(path, reports))
    return worst < options.least


if __name__ == "__main__":
    sys.exit(main())
