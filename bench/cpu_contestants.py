# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/cpu.py lets run in turns: our artifact of a workload, and its peers. Each is a process of its own, so that
none computes, or spins, while another one is measured."""
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

import cpu_numbers

HERE = pathlib.Path(__file__).resolve().parent
# What holds PyTorch, oneDNN and MKL to AVX2; Inductor is told by the worker.
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
ONE_COMPILER = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}  # a pool of processes takes longer to start than these kernels to compile
REST_SECONDS = 0.02  # after a turn: its threads may spin for a while


class Unusable(Exception):
    """Cannot run, or has wrong numbers."""


def last_line(text, otherwise):
    return (text.strip().splitlines() or [otherwise])[-1]


class Worker:
    """A process of cpu_worker.py."""

    def __init__(self, kind, name, folder, threads, environment):
        self.errors = tempfile.TemporaryFile("w+")
        self.begin = time.monotonic()
        arguments = [sys.executable, str(HERE / "cpu_worker.py"), kind, name, str(folder), json.dumps(threads)]
        self.process = subprocess.Popen(arguments, env={**os.environ, **ONE_COMPILER, **environment}, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)

    def reason(self):
        self.errors.seek(0)
        return last_line(self.errors.read(), "it ended")

    def answer(self, timeout=None):
        """The next line that is JSON; compilers print other ones, too."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            if end and not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                raise Unusable(f"it was not ready within {timeout} s")
            line = self.process.stdout.readline()
            if not line:
                raise Unusable(self.reason())
            if line[0] in "[{":
                return json.loads(line)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Peer(Worker):
    """Runs a workload for some time whenever it is asked."""

    def wait_until_ready(self, facts, timeout):
        error = self.answer(max(1, timeout - (time.monotonic() - self.begin)))["error"]
        if error > cpu_numbers.largest(facts, cpu_numbers.PEERS):
            raise Unusable(f"its numbers are wrong: {error:.2g} from the exact ones, PyTorch's {facts['error']:.2g}")
        self.ready_seconds = time.monotonic() - self.begin

    def time(self, threads, seconds):
        try:
            self.process.stdin.write(json.dumps([threads, seconds]) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Unusable(self.reason()) from None
        return self.answer()


def export(name, workload, folder):
    """Leaves the program, its inputs and exact results in `folder`; what is known of them."""
    worker = Worker("export", name, folder, [], AVX2 if workload.is_avx2 else {})
    worker.process.wait()
    if not (folder / "facts.json").exists():
        raise Unusable(f"PyTorch cannot export it: {worker.reason()}")
    return json.loads((folder / "facts.json").read_text())


class Ours:
    """An artifact, of which the numbers have been checked."""

    def __init__(self, tool, workload, folder, facts):
        self.tool, self.artifact, self.bench = tool, str(folder / "model.so"), {}
        self.inputs = [f"--input=@{folder}/in{i}.npy" for i in range(len(list(folder.glob("in*.npy"))))]
        target = "--target=cpu:x86-64-v3" if workload.is_avx2 else "--target=cpu"
        compiled = self.call("compile", str(folder / "model.pt2"), "-o", self.artifact, target, *workload.options, "--json")
        self.compile_seconds = json.loads(compiled)["seconds"]
        self.error = self.distance(folder)
        if self.error > cpu_numbers.largest(facts, cpu_numbers.OURS) and not workload.options:
            raise Unusable(f"our numbers are wrong: {self.error:.2g} from the exact ones, PyTorch's {facts['error']:.2g}")

    def call(self, *arguments):
        done = subprocess.run([self.tool, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unusable(last_line(done.stderr, "it failed"))
        return done.stdout

    def distance(self, folder):
        expected = cpu_numbers.exact(folder)
        paths = [folder / f"out{i}.npy" for i in range(len(expected))]
        self.call("run", self.artifact, *self.inputs, *(f"--output=@{path}" for path in paths), "--output-as=f32")
        return cpu_numbers.error(cpu_numbers.loaded(paths), expected)

    def time(self, threads, seconds):
        self.bench = json.loads(self.call("bench", self.artifact, *self.inputs, f"--threads={threads}",
                                          f"--min-time={seconds}", "--json"))
        return self.bench["p10_us"], self.bench["median_us"]
