#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs the end-to-end cases and compares their results with PyTorch's.

    e2e/run.py --tool=build/dev/bin/tilewright [-j N] [--keep=DIR] [FOLDER|NAME ...]

A case is a folder with a case.json (see export/writer.py). Cases that are listed in
expected_failures.txt must fail. Needs only Python's standard library.
"""

import argparse
import concurrent.futures
import fnmatch
import itertools
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import zipfile
import zlib

import bitwise
import compare
import dumps
import imports
import npy

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("models", "operators", "programs")


class Case:
    """One folder: a program with the calls made on it."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.name = f"{folder.parent.name}/{folder.name}"
        self.description = json.loads((folder / "case.json").read_text())
        self.archive = {}

    def unpack(self, scratch: pathlib.Path) -> None:
        """Unpacks the arrays that are kept in data.npz, and reads those of f64.npz."""
        if (self.folder / "data.npz").exists():
            zipfile.ZipFile(self.folder / "data.npz").extractall(scratch / "data")
        if (self.folder / "f64.npz").exists():
            with zipfile.ZipFile(self.folder / "f64.npz") as archive:
                self.archive = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}

    def path(self, name: str, scratch: pathlib.Path) -> pathlib.Path:
        here = self.folder / name
        return here if here.exists() else scratch / "data" / name

    def spec(self, text: str, scratch: pathlib.Path) -> str:
        return f"@{self.path(text[1:], scratch)}" if text.startswith("@") else text


def expected_spec(case: Case, output: dict, scratch: pathlib.Path) -> str:
    if "value" in output:
        return f"{output['dtype']}={output['value']}"
    if "expected_spec" in output:
        return output["expected_spec"]
    return f"@{case.path(output['expected'], scratch)}"


def call_arguments(case: Case, calls: list, scratch: pathlib.Path, prefix: str) -> list[str]:
    """The arguments of consecutive calls: inputs, where to write the results, what to expect."""
    arguments = []
    for step, call in enumerate(calls):
        arguments += ["--next"] if step else []
        arguments += [f"--input={case.spec(text, scratch)}" for text in call["inputs"]]
        for index, output in enumerate(call["outputs"]):
            arguments.append(f"--output=@{scratch / f'{prefix}_{step}_{index}.npy'}")
            if not case.description.get("compare_here"):
                arguments.append(f"--expected-output={expected_spec(case, output, scratch)}")
    return arguments


def tolerance_arguments(case: Case, calls: list, scratch: pathlib.Path) -> list[str]:
    """The loosest tolerance of all outputs: the command takes only one."""
    bounds = []
    for output in (output for call in calls for output in call["outputs"]):
        scale = 1.0
        if "expected" in output:
            scale = compare.largest(npy.parse(case.path(output["expected"], scratch).read_bytes())[2])
        bounds.append(compare.tolerance(output["dtype"], case.description["reduction"], scale))
    return [f"--rtol={max(bound[0] for bound in bounds)}", f"--atol={max(bound[1] for bound in bounds)}"]


def check_output(case: Case, output: dict, result: pathlib.Path, scratch: pathlib.Path) -> list[str]:
    """What is wrong with one written result."""
    if "expected" not in output:
        return []
    shape, code, got = npy.parse(result.read_bytes())
    want_shape, _, want = npy.parse(case.path(output["expected"], scratch).read_bytes())
    if output["dtype"] == "bf16" and code == "u2":
        got = npy.widen_bf16(got)
    if shape != want_shape:
        return [f"shape {list(shape)}, PyTorch's is {list(want_shape)}"]
    exact = npy.parse(case.archive[output["f64"]])[2] if "f64" in output else None
    if exact is not None and compare.is_noise(want, exact):
        noisy = compare.noise(got, want, exact)
        return [noisy] if noisy else []
    wrong = compare.difference(got, want, output["dtype"], case.description["reduction"])
    if wrong:
        return [wrong]
    if exact is not None:
        inaccurate = compare.inaccuracy(got, want, exact, output["dtype"], output.get("distance", 0.0),
                                        case.description["reduction"])
        return [inaccurate] if inaccurate else []
    return []


def label_of(calls: list, step: int, index: int) -> str:
    label = calls[step]["outputs"][index].get("name") or f"output {index}"
    return label + (f" of call {step}" if len(calls) > 1 else "")


def check_calls(case: Case, calls: list, scratch: pathlib.Path, prefix: str) -> list[str]:
    wrong = []
    for step, call in enumerate(calls):
        for index, output in enumerate(call["outputs"]):
            result = scratch / f"{prefix}_{step}_{index}.npy"
            label = label_of(calls, step, index)
            if not result.exists():
                wrong.append(f"{label}: not written")
                continue
            wrong += [f"{label}: {text}" for text in check_output(case, output, result, scratch)]
    return wrong


def execute(command: list[str], timeout: float, output: pathlib.Path | None = None,
            environment: dict[str, str] | None = None) -> str | None:
    """Runs a command; returns what it said if it failed. A file for its output and more environment can be given."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, errors="replace", check=False,
                              env=os.environ | (environment or {}))
    except subprocess.TimeoutExpired:
        return f"no end after {timeout:.0f} s"
    if output:
        output.write_text(done.stdout)
    if done.returncode == 0:
        return None
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return "\n".join([f"exit status {done.returncode}"] + said[:40])


def checks_dumps(case: Case, options) -> bool:
    """Writing all of them, assembly as well, takes as long as the rest of a compilation."""
    return bool(options.check_dumps) and zlib.crc32(case.name.encode()) % options.every_dumps == 0


def compile_command(case: Case, options, artifact: pathlib.Path) -> list[str]:
    command = [options.tool, "compile", str(case.folder / case.description["model"]), "-o", str(artifact)]
    command += [f"--kernels={HERE.parent / kernels}" for kernels in case.description.get("kernels", [])]
    command += [f"--dump-to={dumps_of(artifact)}"] if checks_dumps(case, options) else []
    return command + ([f"--target={options.target}"] if options.target else [])


def compile_case(case: Case, options, artifact: pathlib.Path) -> str | None:
    """Compiles the model; returns what was said if that failed."""
    return execute(compile_command(case, options, artifact), options.timeout)


def dumps_of(artifact: pathlib.Path) -> pathlib.Path:
    return artifact.with_suffix(".dumps")


def runner_of(options) -> list[str]:
    """The program that runs artifacts, with what stands before its own arguments."""
    return shlex.split(options.runner) if options.runner else [options.tool]


def described(options, artifact: pathlib.Path) -> dict:
    """What `inspect` says of an artifact."""
    said = subprocess.run([*runner_of(options), "inspect", "--json", artifact], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def plan_problems(facts: dict) -> list[str]:
    """What is wrong with how an artifact, as `inspect` describes it, places its temporaries: at most 2 % more than the bound
    of any plan. Of dynamic sizes both are known at the call only, and 0 here."""
    peak, bound = facts["planned_peak_bytes"], facts["planned_bound_bytes"]
    return [f"temporaries take {peak} bytes, more than 1.02 times the {bound} that live together"] if peak > 1.02 * bound else []


def repeats(options, artifact: pathlib.Path) -> list[str]:
    """How often the calls are run, one after the other: once where a call changes what the next one finds."""
    wanted = options.repeat.split(",")
    if wanted == ["1"]:
        return wanted
    facts = described(options, artifact)
    return ["1"] if facts["state"] or facts["mutated_inputs"] else wanted


def run_command(options, artifact: pathlib.Path, threads: str) -> list[str]:
    device = [f"--device={options.device}"] if options.device else []
    return [*runner_of(options), "run", str(artifact), f"--threads={threads}", *device]


def run_part(case: Case, part: dict, options, artifact: pathlib.Path, scratch: pathlib.Path, prefix: str,
             threads: str, repeat: str) -> list[str]:
    """Everything that is wrong with the results of one part's calls."""
    failed = execute([*run_command(options, artifact, threads), f"--repeat={repeat}",
                      *tolerance_arguments(case, part["calls"], scratch),
                      *call_arguments(case, part["calls"], scratch, prefix)], options.timeout)
    wrong = [f"run: {failed}"] if failed else []
    return wrong + [text for text in check_calls(case, part["calls"], scratch, prefix)
                    if not failed or "not written" not in text]


def title_of(part: dict, threads: str) -> str:
    return (f"[{part['name']}] " if part["name"] else "") + (f"{threads} threads: " if threads != "1" else "")


def run_bitwise(case: Case, options, artifact: pathlib.Path, scratch: pathlib.Path) -> list[str]:
    """What is not the same bytes in each of `options.bitwise` runs of a case, with any number of threads."""
    wrong = []
    for part in case.description["cases"]:
        calls, first = part["calls"], {}
        inputs = [[case.spec(text, scratch) for text in call["inputs"]] for call in calls]
        labels = [[label_of(calls, step, index) for index in range(len(call["outputs"]))] for step, call in enumerate(calls)]
        for threads in options.threads.split(","):
            command = run_command(options, artifact, threads)
            wrong += [title_of(part, threads) + text for text in bitwise.problems(
                inputs, labels, options.bitwise, lambda arguments: execute(command + arguments, options.timeout), first)]
    return wrong


def run_case(case: Case, options, scratch: pathlib.Path) -> list[str]:
    """Everything that is wrong with a case; nothing if it passes."""
    case.unpack(scratch)
    wrong = []
    if options.artifacts:
        artifact = pathlib.Path(options.artifacts) / f"{case.name}.so"
    else:
        artifact = scratch / f"{case.folder.name}.so"
        failed = compile_case(case, options, artifact)
        if failed:
            return [f"compile: {failed}"]
        wrong = [f"artifact: {text}" for text in imports.unexpected(artifact) + plan_problems(described(options, artifact))]
        wrong += dumps.problems(options.check_dumps, dumps_of(artifact)) if checks_dumps(case, options) else []
    for threads, repeat in itertools.product(options.threads.split(","), repeats(options, artifact)):
        for index, part in enumerate(case.description["cases"]):
            title = title_of(part, threads) + (f"{repeat} times: " if repeat != "1" else "")
            wrong += [title + text for text in run_part(case, part, options, artifact, scratch,
                                                        f"out{threads}_{repeat}_{index}", threads, repeat)]
    return wrong + (run_bitwise(case, options, artifact, scratch) if options.bitwise > 1 else [])


def in_scratch(case: Case, options) -> list[str]:
    if options.keep:
        scratch = pathlib.Path(options.keep) / case.name
        scratch.mkdir(parents=True, exist_ok=True)
        return run_case(case, options, scratch)
    with tempfile.TemporaryDirectory(prefix="tilewright-e2e-") as scratch:
        return run_case(case, options, pathlib.Path(scratch))


def find_cases(wanted: list[str]) -> list[Case]:
    """All checked-in cases whose name matches one of the patterns, and those in the folders named."""
    cases = []
    known = [file.parent for part in PARTS for file in sorted((HERE / part).glob("*/case.json"))]
    for text in wanted or ["*"]:
        folder = pathlib.Path(text)
        if (folder / "case.json").exists():
            cases.append(folder.resolve())
        elif "/" in text and folder.is_dir():
            cases += [file.parent.resolve() for file in sorted(folder.glob("*/case.json"))]
        else:
            found = [path for path in known if fnmatch.fnmatch(path.name, text)
                     or fnmatch.fnmatch(f"{path.parent.name}/{path.name}", text)]
            if not found:
                sys.exit(f"run.py: no case is named {text}")
            cases += found
    return [Case(folder) for folder in dict.fromkeys(cases)]


def read_expected_failures(path: pathlib.Path) -> dict[str, str]:
    """Lines `part/name: reason`."""
    failures = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(":")
            if not reason.strip():
                sys.exit(f"run.py: {path.name}: {name.strip()} has no reason")
            failures[name.strip()] = reason.strip()
    return failures


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(HERE.parent / "build/dev/bin/tilewright"), help="the program to test")
    parser.add_argument("--target", help="passed to compile")
    parser.add_argument("--check-dumps", metavar="OPT", help="feed what compile dumps to this tilewright-opt")
    parser.add_argument("--every-dumps", type=int, default=1, metavar="N", help="of one case of so many, by its name")
    parser.add_argument("--device", help="passed to run")
    parser.add_argument("--runner", help="command that runs artifacts instead of the program to test: a tilewright for "
                        "another machine, say, and its emulator before it")
    parser.add_argument("--artifacts", help="folder with artifacts, PART/NAME.so, to run instead of compiling")
    parser.add_argument("--repeat", default="1", help="run calls of cases without state so many times, one after the "
                        "other: 1,3; from the third time on a GPU launches them as CUDA graphs")
    parser.add_argument("--bitwise", type=int, default=1, metavar="N", help="beside comparing with PyTorch, run all calls "
                        "N times with each of --threads: each result must be the same bytes every time")
    parser.add_argument("--threads", default="1", help="passed to run, one after the other: 1,3")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="cases at the same time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each command")
    parser.add_argument("--keep", help="folder in which artifacts and results are left")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only failures and the summary")
    parser.add_argument("cases", nargs="*", help="names with wildcards, or folders")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    cases = find_cases(options.cases)
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    expected = read_expected_failures(HERE / "expected_failures.txt")
    unknown = [name for name in expected if not (HERE / name / "case.json").exists()]
    counts = {"passed": 0, "failed": len(unknown), "expected failures": 0}
    for name in unknown:
        print(f"FAIL  {name}: expected_failures.txt names a case that does not exist")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, wrong in zip(cases, pool.map(lambda case: in_scratch(case, options), cases)):
            if case.name in expected:
                kind, mark = ("expected failures", "xfail") if wrong else ("failed", "FAIL ")
                text = expected[case.name] if wrong else "passes, but is listed in expected_failures.txt"
            else:
                kind, mark = ("failed", "FAIL ") if wrong else ("passed", "ok   ")
                text = "\n        ".join("\n".join(wrong).splitlines())
            counts[kind] += 1
            if not options.quiet or kind == "failed":
                print(f"{mark} {case.name}" + (f": {text}" if text else ""), flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['expected failures']} failed as expected")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
