#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures exported models and prints the table of docs/performance.md.

    bench/models.py [--tool=build/dev/bin/tilewright] [--threads=1] [--rounds=5] [FOLDER ...]

FOLDER is a case of e2e (default: the full-size ones that `make models` puts into e2e/extra). Where
$TW_TORCH_PYTHON names a Python with torch, eager PyTorch runs the same program in the same rounds,
turn about, and the ratio of the medians is printed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FULL = ["bert_base", "gpt2_small", "resnet50", "mobilenet_v2"]
EAGER = """
import json, sys, time, numpy, torch
try:
    import transformers  # registers the output types of its models
    import transformers.models.bert.modeling_bert
    import transformers.models.gpt2.modeling_gpt2
except ImportError:
    pass
torch.set_num_threads(int(sys.argv[2]))
program = torch.export.load(sys.argv[1])
module = program.module()
arrays = [torch.from_numpy(numpy.load(path)) for path in sys.argv[3:]]
args, kwargs = torch.utils._pytree.tree_unflatten(arrays, program.call_spec.in_spec)
with torch.no_grad():
    module(*args, **kwargs)
    print("ready", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            module(*args, **kwargs)
            times.append(1e6 * (time.perf_counter() - start))
        print(json.dumps(sorted(times)[1]), flush=True)
"""


class Eager:
    """A process that runs the model in PyTorch, a few calls whenever it is asked."""

    def __init__(self, model, threads, inputs):
        self.process = subprocess.Popen(
            [os.environ["TW_TORCH_PYTHON"], "-c", EAGER, str(model), str(threads), *map(str, inputs)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout.readline() == "ready\n", f"PyTorch cannot run {model}"

    def median(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def tool(options, *arguments):
    done = subprocess.run([options.tool, *arguments, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def measure(folder, options, scratch):
    case = json.loads((folder / "case.json").read_text())
    model, artifact = folder / case["model"], scratch / f"{folder.name}.so"
    compiled = tool(options, "compile", str(model), "-o", str(artifact), "--time-report")
    specs = case["cases"][0]["calls"][0]["inputs"]
    paths = [folder / spec[1:] for spec in specs]
    eager = Eager(model, options.threads, paths) if "TW_TORCH_PYTHON" in os.environ else None
    ours, theirs, last = [], [], None
    for _ in range(options.rounds):
        last = tool(options, "bench", str(artifact), f"--threads={options.threads}", "--repeat=3",
                    *[f"--input=@{path}" for path in paths])
        ours.append(last["median_us"])
        if eager:
            theirs.append(eager.median())
    if eager:
        eager.stop()
    return compiled, last, statistics.median(ours), statistics.median(theirs) if theirs else None


def row(name, compiled, bench, ours, theirs):
    stages = {stage["name"]: stage["ms"] for stage in compiled["time"]["stages"]}
    ratio = f"{theirs / 1000:.1f} | {ours / theirs:.2f}" if theirs else "- | -"
    front = sum(stages.get(stage, 0) for stage in ("import", "lower", "graph", "kernels", "host"))
    return (f"| {name} | {compiled['seconds']:.2f} | {front / 1000:.2f} / {stages['llvm'] / 1000:.2f} / "
            f"{stages['weights'] / 1000:.2f} | {ours / 1000:.1f} | {ratio} | "
            f"{bench['planned_peak_bytes'] / 1e6:.2f} / {bench['planned_bound_bytes'] / 1e6:.2f} | "
            f"{bench['weight_bytes'] / 1e6:.0f} | {bench['resident_peak_bytes'] / 1e6:.0f} | {bench['dispatches']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("folders", nargs="*", type=pathlib.Path,
                        default=[ROOT / "e2e/extra" / name for name in FULL])
    options = parser.parse_args()
    print("| model | compile, s | front / LLVM / weights, s | run, ms | eager, ms | ratio "
          "| temporaries / bound, MB | weights, MB | resident, MB | dispatches |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for folder in options.folders:
            print(row(folder.name, *measure(folder.resolve(), options, pathlib.Path(scratch))), flush=True)


if __name__ == "__main__":
    main()
