# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/cpu.py lets run in turns: our artifact of a workload, and its peers. Each is a process of its own, so that
none computes, or spins, while another one is measured."""
import json
import multiprocessing
import os
import subprocess
import time

import cpu_costs
import cpu_numbers

# What holds PyTorch, oneDNN and MKL to AVX2; Inductor is told by the worker.
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
# Of all: a pool of compilers takes longer to start than these kernels to compile, and a GPU, which is not measured here,
# cannot be used by a process that is forked.
ENVIRONMENT = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
# What workers find imported; those that are not installed are left out.
MODULES = ["torch._inductor.compile_fx", "torch.export", "torch.onnx", "onnxscript", "onnxruntime", "transformers"]
OTHER = "other row"  # the kind of contestant that is our artifact of the row that a goal is of
OWN = ("ours", OTHER)
SECONDS_TO_END = 5
REST_SECONDS = 0.02  # after a turn: its threads may spin for a while


class Unusable(Exception):
    """Cannot run, or has wrong numbers."""


def last_line(text, otherwise):
    return (text.strip().splitlines() or [otherwise])[-1]


def work(kind, name, folder, threads, environment, pipe, log):
    """What the process of a worker does; what libraries print goes to `log`."""
    os.environ.update(environment)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    import cpu_worker
    cpu_worker.main(kind, name, folder, threads, pipe)


class Worker:
    """A process of cpu_worker.py. It is forked from one that has the modules already, which take longer to import than most
    workloads take to compile; with an environment of its own it imports them itself."""

    def __init__(self, kind, name, folder, threads, environment):
        os.environ.update(ENVIRONMENT)
        context = multiprocessing.get_context("spawn" if environment else "forkserver")
        context.set_forkserver_preload(MODULES)
        self.begin, self.log = time.monotonic(), folder / f"{kind}.log"
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(kind, name, folder, threads, environment, other, self.log), daemon=True)
        self.process.start()
        other.close()

    def reason(self):
        self.process.join()
        return last_line(self.log.read_text() if self.log.exists() else "", f"it ended with status {self.process.exitcode}")

    def answer(self, timeout=None):
        if timeout is not None and not self.pipe.poll(timeout):
            raise Unusable(f"it was not ready within {timeout:.0f} s")
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            raise Unusable(self.reason()) from None

    def stop(self):
        """One that waits for a question ends by itself, one that is still compiling is killed."""
        self.pipe.close()
        self.process.join(SECONDS_TO_END)
        self.process.kill()
        self.process.join()


class Peer(Worker):
    """Runs a workload for some time whenever it is asked."""

    def wait_until_ready(self, facts, timeout):
        error = self.answer(max(1, timeout - (time.monotonic() - self.begin)))
        if error > cpu_numbers.largest(facts, cpu_numbers.PEERS):
            raise Unusable(f"its numbers are wrong: {error:.2g} from the exact ones, PyTorch's {facts['error']:.2g}")
        self.ready_seconds = time.monotonic() - self.begin

    def time(self, threads, seconds):
        try:
            self.pipe.send((threads, seconds))
        except ConnectionError:
            raise Unusable(self.reason()) from None
        return self.answer()


def export(name, workload, folder, threads):
    """Leaves the program, its inputs and exact results in `folder`, by so many threads; what is known of them."""
    worker = Worker("export", name, folder, [threads], AVX2 if workload.is_avx2 else {})
    worker.process.join()
    if not (folder / "facts.json").exists():
        raise Unusable(f"PyTorch cannot export it: {worker.reason()}")
    return json.loads((folder / "facts.json").read_text())


class Ours:
    """An artifact, of which the numbers have been checked."""

    def __init__(self, tool, workload, folder, facts):
        self.tool, self.artifact, self.bench = tool, str(folder / "model.so"), {}
        self.inputs = [f"--input=@{folder}/in{i}.npy" for i in range(len(list(folder.glob("in*.npy"))))]
        target = "--target=cpu:x86-64-v3" if workload.is_avx2 else "--target=cpu"
        command = [tool, "compile", str(folder / "model.pt2"), "-o", self.artifact, target, *workload.options]
        try:
            self.compiled = cpu_costs.compile_all(command, folder, any(workload.compile))
        except cpu_costs.Failed as reason:
            raise Unusable(str(reason)) from None
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
        """Not more calls than peers make where these take longer."""
        is_long = self.bench.get("median_us", 0) * cpu_numbers.FEWEST_CALLS > 1e6 * seconds
        duration = f"--repeat={cpu_numbers.FEWEST_CALLS}" if is_long else f"--min-time={seconds}"
        self.bench = json.loads(self.call("bench", self.artifact, *self.inputs, f"--threads={threads}", duration, "--json"))
        return self.bench["p10_us"], self.bench["median_us"]
