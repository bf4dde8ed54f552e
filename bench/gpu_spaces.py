#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far the compiler's choice is from the fastest configuration of products and attention on a GPU, by measuring all.

    bench/gpu_spaces.py pack FOLDER [--rows=NAME,...] [--factor=2] [--tool=build/dev/bin/tilewright]   # needs torch and a compiler
    bench/gpu_spaces.py run  FOLDER [--rows=NAME,...] [--json=FILE]                                    # needs torch and a GPU

Rows are those of bench/gpu.py. `pack` compiles each with all legal blocks, numbers and kinds of warp groups that cost at
most FACTOR times the least by the target's model: products with as many stages as fit in all of BANDS and with one stage fewer
in the first, attention with all numbers of stages. `run` measures all of a row in turns,
and those that are the fastest then again with the compiler's choice: the best of few measurements of many would be what
noise has favoured. A program whose result differs from the choice's is named, and does not count.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import gpu

# Knobs whose legal values are taken together, and beside these others, by the kind of the kernel.
BLOCKS = {"contraction": ("rows", "columns", "ping_pong", "warp_groups"), "attention": ("queries", "keys", "split_keys", "warp_groups", "stages")}
MOST_STAGES = (8, 7, 6, 5, 4, 3, 2)  # the first that fits, and the next
BANDS = (8, 16)  # programs along the rows that follow each other
FINALISTS = 10
REFUSED = (1, 3)  # what `tilewright compile` ends with
FIRST_ROUNDS, LAST_ROUNDS = 3, 15
DEFAULT_ROWS = ("f16_2048x1280x1280,f16_2048x10240x1280,f16_2048x1280x5120,f16_8192x640x640,f16_8192x5120x640,f16_8192x640x2560,"
                "bf16_4096x4096x4096,attention_40x1024_d64,attention_20x4096_d64,attention_64x4096_d128")


def ask(tool: str, *arguments) -> dict:
    done = subprocess.run([tool, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def blocks(options, model: pathlib.Path) -> list[dict]:
    """Fields of the legal blocks of the model's first kernel, the cheapest first by the target's model."""
    kind = "attention" if "attention" in model.name else "contraction"
    spaces = ask(options.tool, "tune", model, "--target=nvidia:sm_90a", "--space", "--json", f"--knobs={','.join(BLOCKS[kind])}",
                 "--points=5000", f"--exhaustive={options.factor}")["spaces"]
    space = next(space for space in spaces if space["kind"] == kind)
    start = {knob["name"]: knob["value"] for knob in space["knobs"] if knob["name"] in BLOCKS[kind]}
    return [start | point["values"] for point in space["points"]]


def compile_with(options, model: pathlib.Path, configurations: list, path: pathlib.Path) -> bool:
    """False where the target refuses the configuration."""
    config = path.with_suffix(".json")
    config.write_text(json.dumps({"configurations": configurations}))
    done = subprocess.run([options.tool, "compile", model, "--target=nvidia:sm_90a", f"--config={config}", "-o", path], check=False,
                          capture_output=True, text=True)
    if done.returncode not in (0, *REFUSED):
        raise RuntimeError(f"{config}: the compiler ends with {done.returncode}: {done.stderr.strip()}")
    if done.returncode:
        config.unlink()
    return not done.returncode


def pack_point(options, model: pathlib.Path, chosen: list, fields: dict, path: pathlib.Path) -> int:
    """Compiles a block with as many stages as fit in all bands, and with one fewer in the first. Gives the number of programs."""
    if "stages" in fields:
        return int(compile_with(options, model, gpu.with_fields(chosen, fields), path.with_suffix(".so")))
    count, fitting = 0, []
    for stages in MOST_STAGES:
        made = [compile_with(options, model, gpu.with_fields(chosen, fields | {"stages": stages, "row_programs": band}),
                             path.with_name(f"{path.name}_{stages}_{band}.so")) for band in (BANDS if not fitting else BANDS[:1])]
        count += sum(made)
        fitting += [stages] if any(made) else []
        if len(fitting) == 2:
            break
    return count


def pack(options, names: list[str]) -> int:
    gpu.pack(argparse.Namespace(folder=options.folder, rows=",".join(names), tool=options.tool, compile=[], set=None))
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in names:
            model, folder = pathlib.Path(temporary) / f"{name}.pt2", options.folder / name
            folder.mkdir(exist_ok=True)
            gpu.export(gpu.table()[name], model)
            chosen = ask(options.tool, "compile", model, "--target=nvidia:sm_90a", "-o", model.with_suffix(".so"),
                         "--report=json")["configurations"]
            points = blocks(options, model)
            counts = pool.map(lambda item, of=(model, chosen, folder): pack_point(options, of[0], of[1], item[1], of[2] / str(item[0])),
                              enumerate(points))
            print(f"{name}: {len(points)} blocks, {sum(counts)} programs", flush=True)
    return 0


def measure(options, name: str) -> dict:
    import torch

    row, folder = gpu.table()[name], options.folder / name
    make = gpu.SETS[gpu.kind(row)]
    first, functions, work = make(row)
    shape = next(iter(functions.values()))().shape
    size = gpu.first_element_bytes(first) * (sum(value.numel() for value in first.values()) + shape.numel())
    copies = max(2, min(24, -(-gpu.CACHE_BYTES // size)))
    sets = [(make(row)[0], torch.empty(shape, device="cuda", dtype=gpu.torch_dtype(row))) for _ in range(copies)]
    candidates, wrong, want = {}, [], None
    for path in [options.folder / f"{name}.so", *sorted(folder.glob("*.so"))]:
        compiled = gpu.Compiled(options.folder, str(path.relative_to(options.folder))[:-3])
        calls = [compiled.call(row, given, result) for given, result in sets]
        sets[0][1].fill_(float("nan"))
        calls[0]()
        compiled.check(compiled.library.tw_instance_wait(compiled.instance))
        want = sets[0][1].clone().float() if want is None else want
        if not torch.isfinite(sets[0][1]).all() or gpu.error_of(sets[0][1], want) > 4e-3:
            wrong.append(path.stem)
        else:
            candidates[path.stem] = (calls, 1)
    if name not in candidates:
        raise RuntimeError(f"{name}: the result of the compiler's choice is not finite")
    count = max(copies, min(40, int(1000 / (work / 600e6 + 3))))
    count = -(-count // copies) * copies
    times = gpu.median_times(candidates, count, FIRST_ROUNDS)
    last = sorted(times, key=times.get)[:FINALISTS] + [name]
    times = gpu.median_times({key: candidates[key] for key in dict.fromkeys(last)}, count, LAST_ROUNDS)
    best = min(times, key=times.get)
    config = {} if best == name else json.loads((folder / f"{best}.json").read_text())
    return {"row": name, "programs": len(candidates), "us": times[name], "best_us": times[best], "share": times[best] / times[name],
            "best": config, "wrong": wrong}


def fields_of(found: dict) -> str:
    kernels = [kernel for dispatch in found["best"].get("configurations", []) for kernel in dispatch["kernels"] if kernel.get("target")]
    if not kernels:
        return "the compiler's choice"
    wanted = {name for names in BLOCKS.values() for name in names} | {"stages", "row_programs"}
    return " ".join(f"{name}={int(value)}" for name, value in (kernels[0] | kernels[0]["target"]).items() if name in wanted)


def run(options, names: list[str]) -> int:
    results = []
    print(f"{'row':28} {'programs':>8} {'us':>9} {'best us':>9} {'share':>6}  the best")
    for name in names:
        results.append(measure(options, name))
        one = results[-1]
        print(f"{name:28} {one['programs']:8} {one['us']:9.2f} {one['best_us']:9.2f} {one['share']:6.3f}  {fields_of(one)}"
              + (f"; wrong: {', '.join(one['wrong'])}" if one["wrong"] else ""), flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))
    print(f"geometric mean of the speed of the choice in terms of the best: {statistics.geometric_mean(one['share'] for one in results):.3f}")
    return 1 if any(one["wrong"] for one in results) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["pack", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", default=DEFAULT_ROWS, help="names, with commas between them")
    parser.add_argument("--factor", type=float, default=2, help="cost at most so many times the least, by the target's model")
    parser.add_argument("--tool", default=str(gpu.ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the results")
    options = parser.parse_args()
    return (pack if options.action == "pack" else run)(options, options.rows.split(","))


if __name__ == "__main__":
    sys.exit(main())
