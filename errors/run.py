#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the cases of this folder: every refusal of the tool, with its exact text.

A case is a file FOLDER/NAME.txt:

    # what it is about (optional)
    $ tilewright run fake/counter.so --input=4xf32=1,2
    exit 1
    error[TW-IO-0008]: ...the whole of stderr...

The command runs in bash, in BUILD/errors/work*, where make_inputs.py has put the bad files, `models`
is e2e/models, `programs` is e2e/programs, `fake` has the hand-made artifacts of unittests/Runtime
and `driver` its driver of GPUs; `calls` is errors/calls, programs that call the C API as the tool does not. It must end by itself with that status and text within 2 s of CPU
time and 1 GB of memory; a status that stands for an internal error is never right.

    errors/run.py BUILD [--update] [--sanitized] [--compiler=CXX] [FOLDER/NAME ...]

--update rewrites what is expected (review the difference!); --sanitized lifts the memory limit,
which sanitizers cannot live with, and allows ten times the CPU time. --compiler runs the cases that
compile kernels with another C++ compiler, whose words may differ: code, line and advice may not.
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = "CXX=clang++-22 "
INTERNAL = 4
MEMORY = 1 << 30
SECONDS = 2
COMPILER_SECONDS = 4  # beside them: what a C++ compiler takes to read a kernel's headers, 1.5 s at 2.6 GHz


class Case:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(HERE).with_suffix(""))
        lines = path.read_text().split("\n")
        self.comments = [line for line in lines if line.startswith("#")]
        rest = lines[len(self.comments):]
        assert rest[0].startswith("$ "), f"{path}: no command"
        self.command = rest[0][2:]
        self.status = int(rest[1].removeprefix("exit ")) if len(rest) > 1 and rest[1] else None
        self.text = "\n".join(rest[2:])

    def write(self, status, text):
        head = "".join(line + "\n" for line in self.comments)
        self.path.write_text(f"{head}$ {self.command}\nexit {status}\n{text}")


def prepare(build, name):
    """The folder in which the cases run."""
    work = build / "errors" / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    links = {"models": HERE.parent / "e2e" / "models", "programs": HERE.parent / "e2e" / "programs",
             "calls": HERE / "calls", "fake": build / "unittests" / "Runtime" / "fake",
             "driver": build / "unittests" / "Runtime" / "driver"}
    for name, target in links.items():
        (work / name).symlink_to(target)
    subprocess.run([sys.executable, HERE / "make_inputs.py", work, build / "bin" / "seal"], check=True)
    return work


def execute(case, build, work, sanitized):
    """Returns (status, stderr, complaints)."""
    seconds = SECONDS * 10 if sanitized else SECONDS
    if "CXX=" in case.command or ".cpp" in case.command:
        seconds += COMPILER_SECONDS

    def limit():
        if not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds + 1, seconds + 1))

    environment = os.environ | {"PATH": f"{build / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(["bash", "-c", case.command], cwd=work, env=environment, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=limit,
                              stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return None, "", ["does not end within a minute"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    complaints = []
    if status >= 128:
        complaints.append(f"dies by {signal.Signals(status - 128).name}")
    if status == INTERNAL:
        complaints.append("ends as an internal error")
    if used > seconds:
        complaints.append(f"takes {used:.1f} s of CPU time, {seconds} are allowed")
    text = done.stderr.decode("utf-8", "replace").replace(str(build), "BUILD")
    complaints += [f"says nothing of what to do about {code}" for code in without_help(text)]
    text = re.sub(r"\b[0-9a-f]{16}\b", "HASH", text)  # of what a compiler makes
    if sanitized:  # the sanitizer remarks on every size that cannot be had
        text = re.sub(r"==\d+==WARNING: AddressSanitizer failed to allocate .*\n", "", text)
    return status, text, complaints


def without_help(text):
    """The codes of errors none of which is followed by what to do, as at least one of a code is."""
    helped, seen = set(), []
    for line in text.split("\n"):
        if found := re.match(r"error\[(TW-\w+-\d+)\]", line):
            seen.append(found.group(1))
        elif line.startswith("  help: ") and seen:
            helped.add(seen[-1])
    return [code for code in dict.fromkeys(seen) if code not in helped]


def judge(case, status, text, complaints):
    if case.status is None:
        complaints.append("expects nothing yet: run with --update")
    elif status != case.status:
        complaints.append(f"ends with {status}, expected {case.status}")
    if text != case.text:
        complaints.append(f"says\n{text}expected\n{case.text}")
    return complaints


def essence(text):
    """What is the same whichever C++ compiler refuses a kernel: the code, the line, the advice."""
    parts = re.findall(r"^error\[TW-\w+-\d+\]|^  --> .*?:\d+|^  help: .*$", text, re.MULTILINE)
    return [part for part in parts if "the compiler was" not in part]


def with_compiler(cases, compiler):
    """The cases that compile kernels, for another C++ compiler."""
    cases = [case for case in cases if COMPILER in case.command]
    for case in cases:
        case.command = case.command.replace(COMPILER, f"CXX={compiler} ")
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("names", nargs="*")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--compiler")
    arguments = parser.parse_intermixed_args()
    work = prepare(arguments.build, "work-" + arguments.compiler if arguments.compiler else "work")
    cases = [Case(path) for path in sorted(HERE.glob("*/*.txt"))]
    if arguments.names:
        cases = [case for case in cases if any(case.name.startswith(name) for name in arguments.names)]
    if arguments.compiler:
        cases = with_compiler(cases, arguments.compiler)
    failed = 0
    for case in cases:
        status, text, complaints = execute(case, arguments.build, work, arguments.sanitized)
        if arguments.compiler and essence(text) == essence(case.text):
            text = case.text
        if arguments.update and not complaints:
            case.write(status, text)
            continue
        for complaint in judge(case, status, text, complaints):
            print(f"FAIL {case.name}: {complaint}")
        failed += bool(complaints)
    print(f"{len(cases) - failed} of {len(cases)} cases are as expected")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
