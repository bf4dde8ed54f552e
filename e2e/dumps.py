#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds every dump of every model to tilewright-opt: dumps.py BUILD [MODEL ...]

What is read back must verify and print as the same text: but for the names of attributes, which the
first printing adds, nothing may change from one round to the next."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def plain(text):
    """The text with the attributes that have names written out, and no empty lines."""
    names = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    body = re.sub(r"^#\w+ = .*\n", "", text, flags=re.M)
    for _ in range(3):  # they may be nested
        body = re.sub(r"#\w+\b", lambda m: names.get(m.group(0), m.group(0)), body)
    return "\n".join(line for line in body.splitlines() if line.strip())


def check(build, folder):
    case = json.loads((folder / "case.json").read_text())
    kernels = [f"--kernels={HERE.parent / name}" for name in case.get("kernels", [])]
    model = folder / f"{folder.name}.pt2"
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        made = subprocess.run([build / "bin/tilewright", "compile", model, "-o", f"{scratch}/m.so",
                               f"--dump-to={scratch}/dumps", *kernels], capture_output=True, text=True,
                              check=False)
        if made.returncode:
            return [f"{folder.name}: {made.stderr}"]
        dumps = sorted(pathlib.Path(scratch, "dumps").glob("*.mlir"))
        if len(dumps) < 4:
            problems.append(f"{folder.name}: only {len(dumps)} dumps")
        for dump in dumps:
            read = subprocess.run([build / "bin/tilewright-opt", dump], capture_output=True, text=True,
                                  check=False)
            if read.returncode:
                problems.append(f"{folder.name}, {dump.name}: {read.stderr[:400]}")
                continue
            before = dump.read_text()
            if dump.name.endswith("-llvm.mlir"):  # distinct attributes get new numbers: one round later
                before = read.stdout
                read = subprocess.run([build / "bin/tilewright-opt", "-"], input=before,
                                      capture_output=True, text=True, check=False)
            if plain(read.stdout) != plain(before):
                problems.append(f"{folder.name}, {dump.name}: reads back as something else")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    folders = [path.parent for path in sorted((HERE / "models").glob("*/case.json"))
               if not arguments.models or path.parent.name in arguments.models]
    folders = [folder for folder in folders if (folder / f"{folder.name}.pt2").exists()]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(lambda folder: check(arguments.build, folder), folders))
    problems = [problem for result in results for problem in result]
    print("\n".join(problems + [f"{len(folders)} models, {len(problems)} problems"]))
    return 1 if problems or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
