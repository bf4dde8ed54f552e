#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the cases for the targets beside this machine's own: each kind of CPU that it can run, and reference.

    e2e/targets.py --tool=build/dev/bin/tilewright [-j N] [--every=N] [--threads=1,3]

--every=N takes one case of N, different ones for each kind of CPU, and all for reference. Standard library only."""

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = "reference"
# What /proc/cpuinfo must list for a target's code to run.
NEEDS = {
    "cpu:x86-64-v3": {"avx2", "fma", "f16c", "bmi2"},
    "cpu:x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "cpu:amx": {"amx_tile", "amx_bf16", "avx512_bf16"},
    REFERENCE: set(),
}


def flags() -> set[str]:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return set()


def cases(tool: str) -> list[str]:
    listed = subprocess.run([sys.executable, HERE / "run.py", f"--tool={tool}", "--list"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(HERE.parent / "build/dev/bin/tilewright"), help="the program to test")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="cases at the same time")
    parser.add_argument("--every", type=int, default=1, help="a case of so many, but for reference")
    parser.add_argument("--threads", default="1,3", help="passed to run, one after the other")
    options = parser.parse_args()
    has, names, failed = flags(), cases(options.tool), False
    for index, (target, needs) in enumerate(NEEDS.items()):
        if not needs <= has:
            print(f"{target}: this machine lacks {', '.join(sorted(needs - has))}", flush=True)
            continue
        chosen = names if target == REFERENCE else names[index % options.every::options.every]
        print(f"{target}, {options.threads} threads, {len(chosen)} cases:", end=" ", flush=True)
        command = [sys.executable, HERE / "run.py", f"--tool={options.tool}", f"--target={target}", "--quiet",
                   f"--threads={options.threads}", f"--jobs={options.jobs}", *chosen]
        failed |= subprocess.run(command, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
