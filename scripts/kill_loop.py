#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills the tool at random moments and looks at what stays: kill_loop.py BUILD [--count=200] [--seed=1]

Each round starts a command (compile with weights embedded or in a file of their own, run, check, kernel
print of a source that is not in the cache) and sends TERM, INT, HUP or KILL to the tool, to one of
its children, or to its process group. Then no process of it may live, every artifact that exists must
verify, and no error may ask for a report, not even one of the C++ compiler. At the end, after one more
run of each command, no other file may be there."""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "e2e/models/mlp_classifier/mlp_classifier.pt2"
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]
KERNEL = """#include <tilewright/Kernel.h>
using namespace tw::kernel;
// {number}
TILEWRIGHT_KERNEL(twice, "y = 2 x") {{
  Symbol N("N");
  Buffer x = input("x", f32, {{N}});
  Buffer y = output("y", f32, {{N}});
  auto [i] = grid(N);
  store(y, {{i}}, load(x, {{i}}, {{1}}) * 2);
}}
"""


class Loop:
    def __init__(self, build, folder):
        self.tool = build / "bin" / "tilewright"
        self.folder, self.out, self.errors = folder, folder / "out", folder / "errors.txt"
        for name in ("out", "tmp", "cache"):
            (folder / name).mkdir()
        self.token = f"tilewright-kill-loop-{os.getpid()}"
        self.environment = os.environ | {"TMPDIR": str(folder / "tmp"), "KILL_LOOP": self.token,
                                         "XDG_CACHE_HOME": str(folder / "cache")}

    def command(self, kind, number):
        if kind == "kernel":
            source = self.folder / "kernel.cpp"
            source.write_text(KERNEL.format(number=number))
            return ["kernel", "print", source]
        if kind == "check":
            return ["check", MODEL, "--input=1x28x28xf32=0", "--dispatches"]
        if kind == "run":
            return ["run", MODEL, "--input=1x28x28xf32=0", f"--output=@{self.out / 'y.npy'}"]
        return ["compile", MODEL, "-o", self.out / f"{kind}.so", f"--weights={kind}"]

    def start(self, kind, number):
        return subprocess.Popen([self.tool, *self.command(kind, number)], env=self.environment,
                                start_new_session=True, stdout=subprocess.DEVNULL,
                                stderr=self.errors.open("w"))

    def processes(self):
        """Those that carry our mark, by what they were started as."""
        found = {}
        for place in pathlib.Path("/proc").iterdir():
            try:
                if place.name.isdigit() and self.token.encode() in (place / "environ").read_bytes():
                    found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                pass  # it has ended
        found.pop(os.getpid(), None)
        return found

    def kill(self, process, number, target):
        children = [p for p in self.processes() if p != process.pid]
        try:
            if target == "group":
                os.killpg(process.pid, number)
            else:
                os.kill(random.choice(children) if target == "child" and children else process.pid, number)
        except ProcessLookupError:
            pass

    def complaints(self):
        found = []
        for _ in range(200):
            living = self.processes()
            if not living:
                break
            time.sleep(0.01)
        found += [f"process {p} lives: {words!r}" for p, words in living.items()]
        for p in living:
            os.kill(p, signal.SIGKILL)
        if "report" in (said := self.errors.read_text(errors="replace")):
            found.append(f"it says {said!r}")
        for artifact in self.out.glob("*.so"):
            if subprocess.run([self.tool, "inspect", "--verify", artifact], env=self.environment,
                              capture_output=True, check=False).returncode:
                found.append(f"{artifact.name} does not load")
        return found

    def round(self, number, kinds):
        kind, signal_number = random.choice(kinds), random.choice(SIGNALS)
        target = random.choice(["parent", "child", "group"])
        process = self.start(kind, number)
        # As often at the end of a command, where files are written, as anywhere.
        time.sleep(random.uniform(0, self.seconds[kind] * 1.1))
        self.kill(process, signal_number, target)
        process.wait(60)
        return [f"round {number}, {kind}, {signal_number.name} to the {target}: {what}"
                for what in self.complaints()]

    def measure(self, kinds):
        self.seconds = {}
        for kind in kinds:
            begin = time.monotonic()
            status = self.start(kind, "first").wait(120)
            assert status == 0, f"{kind} ends with {status}"
            self.seconds[kind] = time.monotonic() - begin

    def litter(self):
        allowed = {"embedded.so", "external.so", "external.so.weights", "y.npy"}
        found = [str(p) for p in self.out.iterdir() if p.name not in allowed]
        found += [str(p) for p in (self.folder / "tmp").iterdir()]
        found += [str(p) for p in (self.folder / "cache").rglob("*") if p.is_file() and p.suffix not in (".so", ".json")]
        return [f"left: {path}" for path in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    kinds = ["embedded", "external", "run", "check", "kernel"]
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(arguments.build, pathlib.Path(folder))
        loop.measure(kinds)
        problems = []
        for number in range(arguments.count):
            problems += loop.round(number, kinds)
        loop.measure(kinds)
        problems += loop.litter()
    for problem in problems:
        print(problem)
    print(f"{arguments.count} kills, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
