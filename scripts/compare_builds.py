#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what two builds of the compiler make of the e2e models.

    scripts/compare_builds.py OLD/bin/tilewright NEW/bin/tilewright [--target=NAME] [--precision=NAME]
        [--time=ROUNDS] [NAME ...]

For each model: whether the tile programs are the same text (but for the numbers of values), whether the
kernels that are configured have the same configurations (whether a field is the target's own does not
count), how many dispatches are tile programs and how many are left to the reference target, and with
--time the time of a call, in turns, as the ratio of old to new (over 1: the new build is faster; medians
of rounds, each the fastest of a bench run). Ends with the totals, and with status 1 if a model got slower
by more than a tenth or lost a tile program.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLOWER = 0.9


def renumbered(text):
    """Values by order of appearance, constants by their value, without locations and configurations."""
    configuration = r'<"\w+" \{[^}]*\}( on <"\w+" \{[^}]*\}>)?( variants ?\[[^\]]*\])?>'
    text = re.sub(rf",? ?tile\.configuration = #tile\.config{configuration}", "", text)
    text = re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", text)
    constants = dict(re.findall(r"^ *(%[\w-]+) = arith\.constant (.*)$", text, re.M))
    text = re.sub(r"^ *%[\w-]+ = arith\.constant .*\n", "", text, flags=re.M)
    text = re.sub(r"%[\w-]+", lambda m: f"<{constants[m[0]]}>" if m[0] in constants else m[0], text)
    names = {}
    return re.sub(r"%[\w#-]+", lambda m: names.setdefault(m[0], f"%{len(names)}"), text)


def kernels(dump):
    """The text of each kernel by name, and the names of functions left to the reference target."""
    text = next(dump.glob("*-tile.mlir")).read_text()
    found = {}
    for match in re.finditer(r"^  tile\.kernel @(\w+)\(.*?^  \}$", text, re.M | re.S):
        found[match[1]] = renumbered(match[0])
    return found, re.findall(r"^  func\.func private @(\w+)\(.*tw\.kernel", text, re.M)


def flat(configuration):
    """All fields beside each other, the target's own among them."""
    fields = {**configuration, **configuration.get("target", {}), "kind": configuration["kind"]}
    fields.pop("target", None)
    fields["variants"] = [flat(variant) for variant in configuration.get("variants", [])]
    return fields


def configurations(report):
    """The configuration of each kernel by name."""
    return {kernel["kernel"]: flat(kernel) for dispatch in json.loads(report)["configurations"]
            for kernel in dispatch["kernels"]}


def call(tool, *arguments):
    done = subprocess.run([str(tool), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[0])
    return done.stdout


def inputs(folder, case, scratch):
    if (folder / "data.npz").exists():
        zipfile.ZipFile(folder / "data.npz").extractall(scratch)
    specs = []
    for spec in case["cases"][0]["calls"][0]["inputs"]:
        name = spec[1:]
        path = folder / name if (folder / name).exists() else scratch / name
        specs.append(f"--input=@{path}" if spec.startswith("@") else f"--input={spec}")
    return specs


def fastest(tool, artifact, specs):
    return json.loads(call(tool, "bench", artifact, "--json", "--threads=1", *specs))["min_us"]


def compare(folder, options):
    case = json.loads((folder / "case.json").read_text())
    row = {"model": folder.name}
    with tempfile.TemporaryDirectory() as where:
        scratch = pathlib.Path(where)
        sides = []
        for number, tool in enumerate([options.old, options.new]):
            artifact, dump = scratch / f"{number}.so", scratch / f"dump{number}"
            report = call(tool, "compile", folder / case["model"], "-o", artifact, f"--dump-to={dump}", "--report=json",
                          f"--target={options.target}", f"--precision={options.precision}",
                          *case.get("compile_arguments", []))
            sides.append((tool, artifact, configurations(report), *kernels(dump)))
        (_, _, old_choices, old, old_rest), (_, _, choices, new, new_rest) = sides
        row.update(old=len(old), new=len(new), old_reference=len(old_rest), new_reference=len(new_rest),
                   same=sum(old.get(name) == text for name, text in new.items()), configured=len(choices),
                   same_choices=sum(old_choices.get(name) == made for name, made in choices.items()))
        if options.show:
            for name in sorted(set(old) | set(new)):
                if old.get(name) != new.get(name):
                    print(f"--- {folder.name} {name}\n{old.get(name)}\n+++\n{new.get(name)}\n")
        if options.time:
            specs = inputs(folder, case, scratch)
            times = [[], []]
            for _ in range(options.time):
                for number, (tool, artifact, *_) in enumerate(sides):
                    times[number].append(fastest(tool, artifact, specs))
            row["ratio"] = statistics.median(times[0]) / statistics.median(times[1])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--time", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print the kernels that differ")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folders = sorted(path.parent for path in (ROOT / "e2e" / "models").glob("*/case.json"))
    rows, bad = [], 0
    for folder in folders:
        if options.names and folder.name not in options.names:
            continue
        try:
            row = compare(folder, options)
        except (RuntimeError, KeyError) as problem:
            print(f"{folder.name}: {problem}")
            continue
        rows.append(row)
        worse = row.get("ratio", 1) < SLOWER or row["new_reference"] > row["old_reference"]
        bad += worse
        ratio = f", old/new {row['ratio']:.2f}" if "ratio" in row else ""
        print(f"{row['model']}: {row['same']} of {row['new']} kernels the same ({row['old']} before), "
              f"{row['same_choices']} of {row['configured']} configurations, reference "
              f"{row['old_reference']} -> {row['new_reference']}{ratio}{'  WORSE' if worse else ''}", flush=True)
    total = lambda key: sum(row[key] for row in rows)
    print(f"{len(rows)} models: {total('same')} of {total('new')} kernels the same ({total('old')} before), "
          f"{total('same_choices')} of {total('configured')} configurations, "
          f"reference {total('old_reference')} -> {total('new_reference')}")
    if options.time and rows:
        print(f"geometric mean of old/new: {statistics.geometric_mean(row['ratio'] for row in rows):.3f}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
