# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes and judges any number of models, chunk by chunk; what fails stays in the folder.

    python e2e/random/explore.py --seed=1000 --count=1000 [-j N] [--keep=FOLDER]      # needs torch 2.13

make random SEED=1000 N=1000 does the same."""

import argparse
import collections
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import time

import judge

HERE = pathlib.Path(__file__).resolve().parent
CHUNK = 25  # models made by one process: a crash of PyTorch costs the rest of them


def explore(options, first: int, count: int) -> collections.Counter:
    folder = options.keep / f"{first:06}"
    made = subprocess.run([sys.executable, HERE / "make.py", folder, str(first), str(count)], capture_output=True,
                          text=True, check=False)
    if made.returncode:
        print(f"seeds {first} to {first + count - 1}: PyTorch ended with status {made.returncode}", flush=True)
    counts = collections.Counter(models=0)
    for seed in judge.folders(folder, ""):
        found = judge.judge_many(options.tool, [seed], 1, options.target)
        counts += found + collections.Counter(models=1)
        if set(found) == {"outputs"} or not found:
            shutil.rmtree(seed)
    if not any(folder.iterdir()):
        folder.rmdir()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/dev/bin/tilewright", help="the program to test")
    parser.add_argument("--target", help="the only target instead of the usual ones")
    parser.add_argument("--seed", type=int, default=1000, help="the first one")
    parser.add_argument("--count", type=int, default=100, help="how many")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes at the same time")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/random"), help="where failures stay")
    options, since = parser.parse_args(), time.time()
    options.keep.mkdir(parents=True, exist_ok=True)
    end = options.seed + options.count
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda first: explore(options, first, min(CHUNK, end - first)),
                              range(options.seed, end, CHUNK)):
            counts += found
    models = counts.pop("models", 0)
    print(judge.summary(models, counts, since))
    return 1 if len(counts) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
