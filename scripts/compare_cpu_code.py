#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the code that two builds of the cpu target make of the same tile programs.

    scripts/compare_cpu_code.py collect BUILD CORPUS
    scripts/compare_cpu_code.py compare OLD/tilewright-opt NEW/tilewright-opt CORPUS [--cpu=NAME ...]

`collect` fills the folder CORPUS with tile programs, one a file: those of the e2e models and operators,
compiled for each CPU by BUILD/bin/tilewright, and all that the unit tests compile. `compare` lowers each
for each CPU with both builds and compares hashes of what is left in the llvm dialect when dead code,
constants and common subexpressions have been cleaned up; it ends with status 1 if any differs. A program
that both refuse with the same words is the same.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPUS = ["x86-64-v3", "x86-64-v4", "amx"]
TESTS = ["target_cpu_test", "target_templates_test", "target_random_test", "target_examples_test", "target_truth_test"]
JOBS, CHUNK = 2, 64


def keep(corpus, text):
    path = corpus / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.mlir"
    path.write_text(text)


def collect_model(tool, case, cpu, corpus):
    arguments = json.loads(case.read_text())
    with tempfile.TemporaryDirectory() as where:
        done = subprocess.run(
            [tool, "compile", case.parent / arguments["model"], "-o", f"{where}/out.so", f"--dump-to={where}/dump",
             f"--target=cpu:{cpu}", *arguments.get("compile_arguments", [])],
            capture_output=True, text=True, check=False, cwd=case.parent)
        texts = [path.read_text() for path in pathlib.Path(where).glob("dump/*-tile.mlir")]
        for text in texts:
            aliases = "".join(re.findall(r"^[#!]\w+ = .*\n", text, re.M))
            for kernel in re.findall(r"^  tile\.kernel @.*?^  \}$", text, re.M | re.S):
                keep(corpus, aliases + re.sub(r"tile\.kernel @\w+", "tile.kernel @k", kernel, count=1) + "\n")
        return None if texts else f"{case.parent.name} for {cpu}: {done.stderr.strip().splitlines()[:1]}"


def collect(options):
    options.corpus.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "KERNEL_JIT_TEXT": str(options.corpus.resolve())}
    for test in TESTS:
        subprocess.run([options.build / "bin" / test], env=environment, stdout=subprocess.DEVNULL, check=False)
    cases = [path for folder in ("models", "operators") for path in sorted((ROOT / "e2e" / folder).rglob("case.json"))]
    tool = options.build.resolve() / "bin" / "tilewright"
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for problem in pool.map(lambda job: collect_model(tool, *job, options.corpus),
                                [(case, cpu) for cpu in options.cpus for case in cases]):
            if problem:
                print(problem, flush=True)
    print(f"{len(list(options.corpus.glob('*.mlir')))} tile programs")
    return 0


def renumbered(text):
    """Constants by their value, and others in the order in which they appear: all that the order of
    constants, which are hoisted, changes."""
    constant = r"^ *(%\d+) = llvm\.mlir\.(constant.*|poison.*|zero.*|undef.*)$"
    functions = []
    for function in re.split(r"^(?=  llvm\.func)", text, flags=re.M):
        constants, names = dict(match.groups() for match in re.finditer(constant, function, re.M)), {}
        function = re.sub(constant + r"\n", "", function, flags=re.M)
        functions.append(re.sub(r"%\d+", lambda m: f"<{constants[m[0]]}>" if m[0] in constants
                                else names.setdefault(m[0], f"%{len(names)}"), function))
    return "".join(functions)


def code_of(tool, paths, cpu):
    """A hash of the code of each program; they are lowered in one process, parted by a comment."""
    passes = f"builtin.module(tw-target-cpu{{cpu={cpu}}},canonicalize,cse)"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as together:
        together.write("\n// -----\n".join(path.read_text() for path in paths))
        together.flush()
        done = subprocess.run([tool, together.name, "-split-input-file", f"-pass-pipeline={passes}"],
                              capture_output=True, text=True, check=False)
    parts = done.stdout.split("// -----\n")
    if len(parts) != len(paths):  # one is refused, or fails: each alone
        if len(paths) > 1:
            half = len(paths) // 2
            return {**code_of(tool, paths[:half], cpu), **code_of(tool, paths[half:], cpu)}
        parts = [f"status {done.returncode}: " + re.sub(r"\S*\.mlir:\S*", "", done.stderr)]
    return {path.name: hashlib.sha256(renumbered(part).encode()).hexdigest() for path, part in zip(paths, parts)}


def all_code(tool, paths, cpu, pool):
    chunks = [paths[i:i + CHUNK] for i in range(0, len(paths), CHUNK)]
    return {name: code for part in pool.map(lambda chunk: code_of(tool, chunk, cpu), chunks)
            for name, code in part.items()}


def compare(options):
    paths = sorted(options.corpus.glob("*.mlir"))[::options.every]
    total, different = 0, []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for cpu in options.cpus:
            # What the old build makes is kept beside the programs.
            key = hashlib.sha256(options.old.read_bytes()).hexdigest()[:16]
            kept = options.corpus / f"{key}-{cpu}.json"
            old = json.loads(kept.read_text()) if kept.exists() else {}
            missing = [path for path in paths if path.name not in old]
            if missing:
                old.update(all_code(options.old, missing, cpu, pool))
                kept.write_text(json.dumps(old))
            new = all_code(options.new, paths, cpu, pool)
            total += len(new)
            different += [(name, cpu) for name in new if new[name] != old[name]]
    for name, cpu in different[:options.show]:
        print(f"{name} for {cpu} differs")
    print(f"{total} pieces of code, {len(different)} different")
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    collecting, comparing = commands.add_parser("collect"), commands.add_parser("compare")
    collecting.add_argument("build", type=pathlib.Path)
    collecting.set_defaults(run=collect)
    comparing.add_argument("old", type=pathlib.Path)
    comparing.add_argument("new", type=pathlib.Path)
    comparing.add_argument("--show", type=int, default=20, help="how many of those that differ are named")
    comparing.add_argument("--every", type=int, default=1, help="look at every n-th program alone")
    comparing.set_defaults(run=compare)
    for command in (collecting, comparing):
        command.add_argument("corpus", type=pathlib.Path)
        command.add_argument("--cpu", dest="cpus", action="append")
    options = parser.parse_args()
    options.cpus = options.cpus or CPUS
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
