# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs the models that make.py wrote, and compares their results. Standard library only.

    e2e/random/judge.py --tool=build/dev/bin/tilewright [-j N] ARCHIVE|FOLDER ...

An archive (.tar.xz) or a folder holds a folder for each seed. Each model is compiled for this machine,
every eighth one for x86-64-v3 too, and run with one thread and with two, which must agree bit by bit."""

import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent))

import compare
import npy

HOST, OLDER = "cpu", "cpu:x86-64-v3"
REFUSED = 3  # the exit status of a model with an unsupported operator


class Failed(Exception):
    """A command did not do what it should; `kind` is for the summary."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


def execute(command: list[str], doing: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        raise Failed("slow", f"{doing}: no end after 300 s") from None
    if done.returncode:
        said = "\n        ".join(done.stderr.strip().splitlines()[:6])
        kind = "refused" if done.returncode == REFUSED else "crashed" if done.returncode < 0 else f"status {done.returncode}"
        raise Failed(kind, f"{doing}: exit status {done.returncode}: {said}")


def difference(output: dict, folder: pathlib.Path, result: pathlib.Path) -> str | None:
    """What is wrong with one written result."""
    shape, code, got = npy.parse(result.read_bytes())
    if list(shape) != output["shape"]:
        return f"shape {list(shape)}, PyTorch's is {output['shape']}"
    if "expected" not in output:
        return None
    want = npy.parse((folder / output["expected"]).read_bytes())[2]
    if output["dtype"] == "bf16" and code == "u2":
        got = npy.widen_bf16(got)
    skipped, relative, absolute = set(output.get("skipped", ())), output.get("rtol", 0), output.get("atol", 0)
    wrong = [i for i, (a, b) in enumerate(zip(got, want))
             if i not in skipped and not compare.equal(a, b, relative, absolute)]
    if not wrong:
        return None
    worst = max(wrong, key=lambda i: abs(got[i] - want[i]) if math.isfinite(got[i] - want[i]) else math.inf)
    return (f"{len(wrong)} of {len(want)} values differ, most at #{worst}: got {got[worst]:.9g}, "
            f"PyTorch {want[worst]:.9g}, allowed {absolute + relative * abs(want[worst]):.3g}")


def results(tool: str, artifact: pathlib.Path, folder: pathlib.Path, call: dict, threads: int) -> list[pathlib.Path]:
    files = [artifact.parent / f"{artifact.stem}_{threads}_{i}.npy" for i in range(len(call["outputs"]))]
    inputs = [f"--input=@{folder / name}" for name in call["inputs"]]
    execute([tool, "run", str(artifact), f"--threads={threads}", *inputs, *(f"--output=@{file}" for file in files)],
            f"run with {threads} threads")
    return files


def judge(tool: str, folder: pathlib.Path, target: str, scratch: pathlib.Path) -> int:
    """Raises Failed for the first thing that is wrong; gives the number of outputs compared."""
    description, count = json.loads((folder / "case.json").read_text()), 0
    artifact = scratch / "model.so"
    execute([tool, "compile", str(folder / "model.pt2"), "-o", str(artifact), f"--target={target}"], "compile")
    for number, call in enumerate(description["calls"]):
        one, two = (results(tool, artifact, folder, call, threads) for threads in (1, 2))
        for i, (output, first, second) in enumerate(zip(call["outputs"], one, two)):
            where = f"output {i} of call {number}"
            if first.read_bytes() != second.read_bytes():
                raise Failed("threads differ", f"{where}: one thread and two give different results")
            if wrong := difference(output, folder, first):
                raise Failed("wrong", f"{where}: {wrong}")
            count += "expected" in output
    return count


def targets(seed: int, chosen: str | None) -> list[str]:
    return [chosen] if chosen else [HOST, OLDER] if seed % 8 == 0 else [HOST]


def judge_all(tool: str, folder: pathlib.Path, chosen: str | None) -> list:
    """Of one seed: [(kind, text)], with kind "outputs" and their number for what is right."""
    found = []
    for target in targets(int(folder.name), chosen):
        with tempfile.TemporaryDirectory(prefix="random-models-") as scratch:
            try:
                found.append(("outputs", judge(tool, folder, target, pathlib.Path(scratch))))
            except Failed as problem:
                found.append((problem.kind, f"seed {int(folder.name)}, {target}: {problem}"))
    return found


def folders(path: pathlib.Path, scratch: str) -> list[pathlib.Path]:
    if path.is_dir():
        return sorted(file.parent for file in path.glob("**/case.json"))
    into = pathlib.Path(scratch) / path.name
    with tarfile.open(path) as archive:
        archive.extractall(into, filter="data")
    return folders(into, scratch)


def judge_many(tool: str, seeds: list[pathlib.Path], jobs: int, target: str | None = None) -> collections.Counter:
    """Prints what is wrong; counts kinds, and the outputs compared as "outputs"."""
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lambda folder: judge_all(tool, folder, target), seeds):
            for kind, text in found:
                counts[kind] += text if kind == "outputs" else 1
                if kind != "outputs":
                    print(f"{kind}: {text}", flush=True)
    return counts


def summary(seeds: int, counts: collections.Counter, since: float) -> str:
    problems = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()) if kind != "outputs")
    return f"{seeds} models, {counts['outputs']} outputs compared in {time.time() - since:.0f} s: {problems or 'all right'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/dev/bin/tilewright", help="the program to test")
    parser.add_argument("--target", help="the only target instead of those above")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="models at the same time")
    parser.add_argument("places", nargs="+", type=pathlib.Path, help="archives or folders")
    options, since = parser.parse_args(), time.time()
    with tempfile.TemporaryDirectory(prefix="random-models-") as scratch:
        seeds = [folder for place in options.places for folder in folders(place, scratch)]
        counts = judge_many(options.tool, seeds, options.jobs, options.target)
    print(summary(len(seeds), counts, since))
    return 1 if len(counts) > 1 or not seeds else 0


if __name__ == "__main__":
    sys.exit(main())
