#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures single kernels beside PyTorch, Inductor and ONNX Runtime, and checks the bars.

    TW_TORCH_PYTHON=.venv/bin/python bench/kernels.py [--tool=build/dev/bin/tilewright] [--rounds=7] [NAME ...]

One thread each, in turns; a figure is the median over the rounds of each round's median. The ratio is
the best peer's time over ours: a bar of 1.0 says that none is faster. Of Inductor the default and the
one that freezes weights both run; a peer that is not installed is left out and named. Cases that end
in _avx2 are as on a machine that has no more: our code is for x86-64-v3, and the peers are told so.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# name: (module, inputs, least ratio to the best peer)
CASES = {
    "linear_256": ("linear(256, 256)", "256x256xf32", 1.0),
    "linear_512": ("linear(512, 512)", "512x512xf32", 1.0),
    "linear_1024": ("linear(1024, 1024)", "1024x1024xf32", 1.0),
    "linear_2048x1280x1280": ("linear(1280, 1280)", "2048x1280xf32", 1.0),
    "softmax_128": ("torch.nn.Softmax(-1)", "128x128xf32", 1.0),
    "softmax_1024": ("torch.nn.Softmax(-1)", "1024x1024xf32", 1.0),
    "layer_norm_2048x1280": ("torch.nn.LayerNorm(1280)", "2048x1280xf32", 0.95),
    "add_layer_norm_bias_gelu": ("AddNormGelu(1280)", "2048x1280xf32 2048x1280xf32", 1.5),
    "bf16_linear_1024": ("linear(1024, 1024).bfloat16()", "1024x1024xbf16", 1.0),
    "bf16_linear_1024_avx2": ("linear(1024, 1024).bfloat16()", "1024x1024xbf16", 5.0),
    "chain": ("Chain()", "4096x4096xf32 4096x4096xf32", 1.0),
    "copy": ("Copy()", "4096x4096xf32", 0.0),
}

# What holds PyTorch, oneDNN and MKL to AVX2; Inductor is told in SERVER.
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}

PEER = '''
import json, os, sys, time, statistics
import torch
torch.set_num_threads(1)
def linear(n, k):
    return torch.nn.Linear(k, n)
class AddNormGelu(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm, self.bias = torch.nn.LayerNorm(n), torch.nn.Parameter(torch.randn(n))
    def forward(self, x, y):
        return torch.nn.functional.gelu(self.norm(x + y) + self.bias)
class Chain(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x * 2 + y) - 0.5
class Copy(torch.nn.Module):
    def forward(self, x):
        return x * 1.5
def tensor(spec):
    *sizes, dtype = spec.split("x")
    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    return torch.rand(*map(int, sizes)).to(kind) - 0.5
'''

SERVER = PEER + '''
def median(call, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        call()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)
kind, source, specs, path = sys.argv[1:]
torch.manual_seed(0)
module, inputs = eval(source).eval(), [tensor(s) for s in specs.split()]
with torch.no_grad():
    if kind == "export":
        torch.export.save(torch.export.export(module, tuple(inputs)), path)
        sys.exit()
    if kind == "onnxruntime":
        import onnxruntime, numpy
        torch.onnx.export(module, tuple(inputs), path + ".onnx", dynamo=True, verbose=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(path + ".onnx", options)
        feed = {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)}
        call = lambda: session.run(None, feed)
    elif kind == "eager":
        call = lambda: module(*inputs)
    else:
        import torch._inductor.config
        torch._inductor.config.freezing = kind == "frozen"
        if os.environ.get("ATEN_CPU_CAPABILITY") == "avx2":
            torch._inductor.config.cpp.simdlen = 256
        compiled = torch.compile(module)
        call = lambda: compiled(*inputs)
    call()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(median(call, 0.3)), flush=True)
'''


class Peer:
    """A process that runs a module, for some time whenever it is asked; `problem` if it cannot."""

    def __init__(self, kind, source, specs, path, environment):
        self.process = subprocess.Popen([os.environ["TW_TORCH_PYTHON"], "-c", SERVER, kind, source, specs, path],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, **environment})
        self.problem = None
        while (line := self.process.stdout.readline()) != "ready\n":
            if not line:
                self.problem = self.process.stderr.read().strip().splitlines()[-1:] or ["it ended"]
                return

    def median(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.kill()
        self.process.wait()


def ours(tool, artifact, specs):
    """Microseconds of one call."""
    inputs = [f"--input={spec}=random:1" for spec in specs.split()]
    out = subprocess.run([tool, "bench", artifact, *inputs, "--threads=1", "--min-time=0.3", "--json"],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)["median_us"]


def measure(name, tool, rounds, folder):
    source, specs, bar = CASES[name]
    model, artifact = str(folder / f"{name}.pt2"), str(folder / f"{name}.so")
    subprocess.run([os.environ["TW_TORCH_PYTHON"], "-c", SERVER, "export", source, specs, model], check=True,
                   stderr=subprocess.DEVNULL)
    isAvx2 = name.endswith("_avx2")
    target = "--target=cpu:x86-64-v3" if isAvx2 else "--target=cpu"
    subprocess.run([tool, "compile", model, "-o", artifact, target], check=True, capture_output=True)
    peers = {kind: Peer(kind, source, specs, model, AVX2 if isAvx2 else {}) for kind in ("eager", "inductor", "frozen", "onnxruntime")}
    for kind, peer in peers.items():
        if peer.problem:
            print(f"{name}: {kind} is left out: {peer.problem[0]}", file=sys.stderr)
    running = {kind: peer for kind, peer in peers.items() if not peer.problem}
    times = {kind: [] for kind in ["ours", *running]}
    for _ in range(rounds):
        times["ours"].append(ours(tool, artifact, specs))
        for kind, peer in running.items():
            times[kind].append(peer.median())
    for peer in peers.values():
        peer.stop()
    medians = {kind: statistics.median(all_times) for kind, all_times in times.items()}
    best = min((value, kind) for kind, value in medians.items() if kind != "ours")
    return medians, best, best[0] / medians["ours"], bar


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    print("| kernel | ours, us | eager | inductor | frozen | onnxruntime | best peer / ours | bar |")
    print("|---|---|---|---|---|---|---|---|")
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or CASES:
            medians, best, ratio, bar = measure(name, options.tool, options.rounds, pathlib.Path(folder))
            cells = " | ".join(f"{medians[kind]:.1f}" if kind in medians else "-"
                               for kind in ("eager", "inductor", "frozen", "onnxruntime"))
            print(f"| {name} | {medians['ours']:.1f} | {cells} | {ratio:.2f} ({best[1]}) | {bar} |", flush=True)
            if ratio < bar:
                missed.append(name)
    if missed:
        print(f"below the bar: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
