#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which share of the dispatches of models are tile programs, and why the others are not.

    scripts/tile_share.py [--tool=build/dev/bin/tilewright] [--least=97] [--measure] [--full] [FOLDER|MODEL ...]

Compiles every program of the folders (by default the models and the operator tables of e2e) with
--report, counts calls of dispatches, and lists those left to the reference target by reason, and kernels
with a loop that takes one element at a time, which count as no tile programs. Ends with status 1 if less
than `--least` percent of the calls of a folder's programs are tile programs. With --measure models that have
inputs (case.json) are run, too, on one thread, and the tile programs' shares of floating-point operations and
of the time in dispatches are shown, over all and of each model where one is below 99 %; over all it must be
99 % of both. With --full models of full size with random weights (bench/full_models.py) are exported and measured
first, and each of them must reach both figures.
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


def case_of(program):
    """What e2e says of a model."""
    case = program.parent / "case.json"
    return json.loads(case.read_text()) if case.exists() else {}


def kernels_of(program):
    """The kernels that a model of e2e is compiled with."""
    return [f"--kernels={ROOT / name}" for name in case_of(program).get("kernels", [])]


def takes_one_element(loop):
    """Whether all tiles in the text of a loop have one element."""
    tiles = re.findall(r"tensor<((?:[\d?]+x)*)", loop)
    extents = [[int(extent) if extent.isdigit() else math.inf for extent in tile.split("x")[:-1]] for tile in tiles]
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


def profile(tool, program):
    """The dispatches of the first call that e2e makes, measured; none if it has none."""
    cases = case_of(program).get("cases")
    if not cases:
        return []
    inputs = [f"--input={spec}" for spec in cases[0]["calls"][0]["inputs"]]
    done = subprocess.run([str(tool), "profile", program.name, "--json", "--threads=1", "--repeat=20",
                           *kernels_of(program), *inputs], capture_output=True, text=True, check=False, cwd=program.parent)
    if done.returncode:
        raise SystemExit(f"{program}: profile failed: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)["dispatches"]


def add_work(tool, program, found):
    """FLOPs and microseconds of all dispatches and of those that are tile programs."""
    plain = {each["kernel"] for each in found["dispatches"] if each["target"] == "reference"}
    plain |= {name.lstrip("@") for name in found["slow"]}
    work = {"flops": [0, 0], "total_us": [0, 0]}
    for dispatch in profile(tool, program):
        for key, (all_of_it, tile_programs) in work.items():
            amount = max(dispatch[key] or 0, 0)
            work[key] = [all_of_it + amount, tile_programs + amount * (dispatch["kernel"] not in plain)]
    found["work"] = work


def export_full(folder):
    """Models of full size, each in a folder of its own with what e2e says of its models."""
    sys.path.insert(0, str(ROOT / "bench"))
    import numpy
    import torch
    from full_models import MODELS, model
    for name in MODELS:
        module, inputs = model(name)
        into = folder / name
        into.mkdir(parents=True)
        with torch.no_grad():
            torch.export.save(torch.export.export(module, inputs), into / f"{name}.pt2")
        for number, tensor in enumerate(inputs):
            numpy.save(into / f"in{number}.npy", tensor.numpy())
        names = [f"@in{number}.npy" for number in range(len(inputs))]
        (into / "case.json").write_text(json.dumps({"cases": [{"calls": [{"inputs": names}]}]}))


def report(tool, program, measure):
    tool = tool.resolve()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(tool), "compile", str(program), "-o", f"{folder}/a.so", "--report=json",
                               f"--dump-to={folder}/dumps", *kernels_of(program)],
                              capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
        if found:
            found["slow"] = slow_calls(next(pathlib.Path(folder, "dumps").glob("*-tile.mlir")).read_text())
            if measure:
                add_work(tool, program, found)
    return (program, found, done.stderr)


def programs(path):
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.suffix == ".pt2")


def percent(pair):
    return 100 * pair[1] / pair[0] if pair[0] else 100.0


def show_work(reports):
    """Prints the shares of work; gives the lesser one over all in percent."""
    sums = {}
    for key, what in (("flops", "floating-point operations"), ("total_us", "the time in dispatches")):
        pairs = {program.stem: found["work"][key] for program, found, _ in reports if found}
        sums[key] = percent([sum(pair[i] for pair in pairs.values()) for i in (0, 1)])
        below = [f"{name} {percent(pair):.1f} %" for name, pair in pairs.items() if percent(pair) < 99]
        print(f"  {sums[key]:.2f} % of {what}" + (f"; below 99 %: {', '.join(below)}" if below else ""))
    return min(sums.values())


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


def least_shares(paths, options):
    """The least share of dispatches of a path, and of work."""
    shares, work = [100.0], [100.0]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path in paths:
            reports = list(pool.map(lambda p: report(options.tool, p, options.measure), programs(path)))
            shares.append(show(path.name, reports))
            if options.measure:
                work.append(show_work(reports))
    return min(shares), min(work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build/dev/bin/tilewright")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[ROOT / "e2e/models", ROOT / "e2e/operators"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        full = pathlib.Path(folder)
        if options.full:
            export_full(full)
        share, work = least_shares([*sorted(full.iterdir()), *options.paths], options)
    return share < options.least or work < 99


if __name__ == "__main__":
    sys.exit(main())
