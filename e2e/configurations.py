# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configurations and decisions drawn at random: each is refused with its reason, or computes what the default does.

    e2e/configurations.py --tool=build/dev/bin/tilewright [--seed=0] [--count=40] [MODEL ...]

Takes the report of a model, changes some numbers of some kernels or turns some decisions about its operators
round, and gives it back with --config. A candidate that compiles must give PyTorch's numbers. What `tune` calls legal
must not be refused, nor left to the reference target. Standard library only."""

import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import run as cases

MODELS = pathlib.Path(__file__).resolve().parent / "models"
# Products of all layouts, rows, convolutions, windows, scans, concatenations, long sums; dynamic sizes.
CHOSEN = ["small_mlp", "lora_mlp", "bert_core", "dlrm_dot", "llama", "lstm_state", "mlp_bf16", "gru", "alibi",
          "cnn", "resnet_basic", "unet"]
NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 32, 48, 64, 96, 128, 256, 1000, 1024, 1 << 14]
HUGE = [1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1]


def run(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


def difference(tool, model, artifact, scratch):
    """What is wrong with the results of the first stored calls."""
    case = cases.Case(MODELS / model)
    case.unpack(scratch)
    calls = case.description["cases"][0]["calls"]
    return cases.execute([tool, "run", artifact, *cases.tolerance_arguments(case, calls, scratch),
                          *cases.call_arguments(case, calls, scratch, "out")], timeout=300)


def turned_round(rng, decisions):
    """One or two decisions are others. Those that were declined are mostly impossible, and drawn rarely."""
    drawn = [decision for decision in decisions if decision["taken"] or rng.random() < 0.2]
    drawn = rng.sample(drawn, k=min(len(drawn), rng.randint(1, 2)))
    return [decision | {"want": not decision["taken"]} for decision in drawn]


def changed(rng, report):
    """Some fields of some kernels or of their variants, and now and then a cut or a decision, are others."""
    if rng.random() < 0.25:
        return {"decisions": turned_round(rng, report["decisions"])}
    drawn = json.loads(json.dumps(report["configurations"]))
    for dispatch in rng.sample(drawn, k=min(len(drawn), rng.randint(1, 2))):
        if rng.random() < 0.1:
            cuts = dispatch["cuts"]
            cuts[rng.randrange(len(cuts))] = rng.choice(["none", "transpose_rhs", "split_reductions", "align_rows"])
            del dispatch["kernels"]  # there may be others now
            continue
        kernel = rng.choice(dispatch["kernels"])
        if "variants" in kernel and rng.random() < 0.3:
            kernel = rng.choice(kernel["variants"])
        fields = kernel["target"] if "target" in kernel and rng.random() < 0.2 else kernel
        rare = ("parts", "chunk", "packed", "vectorize_reduction", "interleaved") if rng.random() < 0.8 else ()
        names = [n for n in fields if n not in ("kernel", "kind", "target", "variants", *rare)]
        for name in rng.sample(names, k=min(len(names), rng.randint(1, 2))):
            fields[name] = another(rng, fields[name])
    return {"configurations": drawn}


def legal(rng, report, spaces):
    """Every kernel has one of the configurations that the solver calls legal."""
    drawn = json.loads(json.dumps(report["configurations"]))
    kernels = {kernel["kernel"]: kernel for dispatch in drawn for kernel in dispatch["kernels"]}
    for space in spaces:
        kernel = kernels[space["kernel"]]
        kernel.pop("variants", None)  # which follow the kernel
        for name, value in (rng.choice(space["points"])["values"] if space["points"] else {}).items():
            listed, _, index = name.rpartition("_")
            if index.isdigit():
                kernel[listed][int(index)] = value
            else:
                (kernel if name in kernel else kernel["target"])[name] = value
    return {"configurations": drawn}


def another(rng, value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        kind = rng.random()
        return rng.choice(HUGE) if kind < 0.05 else 0 if kind < 0.1 else rng.choice(NUMBERS)
    value[rng.randrange(len(value))] = another(rng, 0)
    return value


def report_of(tool, model):
    with tempfile.TemporaryDirectory() as name:
        path = MODELS / model / f"{model}.pt2"
        report = run(tool, "compile", path, "-o", pathlib.Path(name) / "a.so", "--report=json")
        spaces = run(tool, "tune", path, "--space", "--json", "--count=0", "--points=40", "--samples=12")
        if report.returncode or spaces.returncode:
            raise RuntimeError(report.stderr + spaces.stderr)
        return json.loads(report.stdout), json.loads(spaces.stdout)["spaces"]


def judge(tool, model, chosen, seed):
    """(outcome, what is wrong or None)"""
    rng = random.Random(seed)
    report, spaces = chosen
    is_legal = rng.random() < 0.4
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        config = scratch / "config.json"
        config.write_text(json.dumps(legal(rng, report, spaces) if is_legal else changed(rng, report)))
        artifact = scratch / "a.so"
        done = run(tool, "compile", MODELS / model / f"{model}.pt2", "-o", artifact, "--report=json", f"--config={config}")
        if done.returncode == 1 and "TW-CONFIG-" in done.stderr and not is_legal:
            return "refused", None
        if done.returncode:
            return "wrong", f"{model}, seed {seed}: exit status {done.returncode}\n{done.stderr}"
        if is_legal and json.loads(done.stdout)["calls_on_reference"] > report["calls_on_reference"]:
            return "wrong", f"{model}, seed {seed}: what is legal is left to the reference target"
        wrong = difference(tool, model, artifact, scratch)
    return ("wrong", f"{model}, seed {seed}: {wrong}") if wrong else ("same", None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    models = options.models or CHOSEN
    work = [(models[i % len(models)], options.seed + i) for i in range(options.count)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        chosen = dict(zip(models, pool.map(lambda model: report_of(options.tool, model), models)))
        results = list(pool.map(lambda item: judge(options.tool, item[0], chosen[item[0]], item[1]), work))
    for outcome, text in results:
        if text:
            print(text)
    outcomes = [outcome for outcome, _ in results]
    print(", ".join(f"{outcomes.count(o)} {o}" for o in ("same", "refused", "wrong")))
    # One that refuses everything would show nothing.
    return 0 if outcomes.count("same") * 5 >= len(outcomes) and not any(text for _, text in results) else 1


if __name__ == "__main__":
    sys.exit(main())
