#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures products of matrices beside eager PyTorch (oneDNN, MKL), and how near they are to what the machine does.

    PYTHONPATH=build/dev/python bench/products.py [--threads=1,all] [--only=GROUP,...] [--seconds=2] [--json=FILE]

Groups: linears with weights in cache (warm); with weights beyond all caches, as in every model (cold), also of few
rows, compiled for their number and for any (few, any); products of two inputs, where nothing is constant and nothing
can be packed beforehand (inputs: torch.compile, training); bf16. Numbers are checked first. A figure is the fastest
tenth of its samples, those of one row in turns; with others on the machine, a median says more about them. The limit
of a row is the time that its multiply-adds take at the sustained peak, or that reading its weights takes where they are
beyond the caches, whichever is longer.
"""
import argparse
import dataclasses
import json
import math
import os
import statistics
import time

# PyTorch's workers would spin between their loops, on the cores of what is measured in turns with them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
from limits import Limits
from torch import nn
from torch.export import Dim, export

import tilewright

COLD_BYTES = 160 << 20  # of weights: several times a third-level cache


class Chain(nn.Module):
    """`count` layers, from `inner` columns to `outer` ones and back. Values keep their size."""

    def __init__(self, inner, outer, count, dtype=torch.float32):
        super().__init__()
        sizes = [(inner, outer), (outer, inner)]
        self.layers = nn.ModuleList(nn.Linear(*sizes[i % 2], dtype=dtype) for i in range(count))
        for layer in self.layers:
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class ChainOfInputs(nn.Module):
    """The same without biases, of weights that are inputs."""

    def forward(self, x, *weights):
        for weight in weights:
            x = nn.functional.linear(x, weight)
        return x


class Product(nn.Module):
    """Of two inputs, of which some are transposed."""

    def __init__(self, transposes_a=False, transposes_b=False):
        super().__init__()
        self.transposes = transposes_a, transposes_b

    def forward(self, *operands):
        a, b = (x.transpose(-1, -2) if it else x for x, it in zip(operands, self.transposes))
        return a @ b


@dataclasses.dataclass
class Case:
    group: str
    name: str
    module: nn.Module
    inputs: tuple
    flops: float
    bytes: float = 0  # of weights that come from memory
    dynamic: bool = False  # the number of rows is known at the call only


def linears(group, rows, inner, outer, dtype=torch.float32, dynamic=False):
    one = inner * outer * torch.finfo(dtype).bits // 8
    count = 2 * math.ceil(COLD_BYTES / one / 2) if group != "warm" else 1 + (inner != outer)
    cold = count * one if count * one >= COLD_BYTES else 0
    name = f"{rows} x {inner} x {outer}" + (" bf16" if dtype == torch.bfloat16 else "") + (f", {count} layers" if cold else "")
    return Case(group, name, Chain(inner, outer, count, dtype).eval(), (torch.randn(rows, inner, dtype=dtype),),
                2.0 * rows * inner * outer * count, cold, dynamic)


def products(m, k, n, batch=()):
    """A layer's forward product and the two of its gradients: x W^T, dY W, dY^T X."""
    x, w, dy = (torch.randn(*batch, *size) for size in ((m, k), (n, k), (m, n)))
    flops = 2.0 * m * k * n * math.prod(batch)
    size = " x ".join(map(str, (*batch, m, k, n)))
    for name, module, inputs in ((f"x W^T {size}", Product(False, True), (x, w)), (f"dY W {size}", Product(), (dy, w)),
                                 (f"dY^T x {size}", Product(True), (dy, x))):
        yield Case("inputs", name, module, inputs, flops)


def layers_of_inputs(rows, inner, outer):
    chain = linears("cold", rows, inner, outer)
    weights = tuple(layer.weight.detach() for layer in chain.module.layers)
    return dataclasses.replace(chain, group="inputs", name="x W^T " + chain.name, module=ChainOfInputs(),
                               inputs=(*chain.inputs, *weights))


def cases(groups):
    if "warm" in groups:
        for rows, inner, outer in ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 1280, 1280), (8192, 640, 640)):
            yield linears("warm", rows, inner, outer)
    if "cold" in groups:
        for inner, outer in ((768, 768), (768, 3072), (4096, 4096)):
            for rows in (16, 64, 128, 512):
                yield linears("cold", rows, inner, outer)
    for group in ("few", "any"):
        if group in groups:
            for inner, outer, dtype in ((768, 3072, torch.float32), (4096, 4096, torch.float32), (2048, 2048, torch.bfloat16)):
                for rows in (1, 2, 4, 6, 8, 16):
                    yield linears(group, rows, inner, outer, dtype, group == "any")
    if "inputs" in groups:
        for size in ((128, 2048, 2048), (512, 768, 3072), (128, 768, 768), (1024, 1024, 1024), (32, 512, 256)):
            yield from products(*size)
        yield from products(128, 64, 128, batch=(12,))
        yield from products(256, 256, 256, batch=(8,))
        yield layers_of_inputs(128, 768, 768)
        yield layers_of_inputs(128, 768, 3072)
    if "bf16" in groups:
        for rows, inner, outer in ((512, 512, 512), (1024, 1024, 1024), (2048, 1280, 1280)):
            case = linears("warm", rows, inner, outer, torch.bfloat16)
            yield dataclasses.replace(case, group="bf16")
        yield linears("bf16", 128, 768, 3072, torch.bfloat16)


def compiled(case, threads):
    """By rows that are exported as any number, where the case wants that."""
    x = case.inputs
    if not case.dynamic:
        return tilewright.compile(export(case.module, x), threads=threads)
    example = (torch.randn(3, x[0].shape[1], dtype=x[0].dtype),)
    return tilewright.compile(export(case.module, example, dynamic_shapes=({0: Dim("rows", min=1, max=4096)},)), threads=threads)


def check(case, ours):
    """Not further from f64 than twice as far as PyTorch is."""
    exact = case.module.double()(*(x.double() for x in case.inputs))
    case.module.to(case.inputs[0].dtype)
    theirs = case.module(*case.inputs)
    scale = exact.abs().max()
    error, bound = ((y.double() - exact).abs().max() / scale for y in (ours(*case.inputs), theirs))
    if error > 2 * bound + 4 * torch.finfo(theirs.dtype).eps:
        raise SystemExit(f"{case.name}: the error is {error:.2g}, PyTorch's {bound:.2g}")


def measure(case, threads, limits, seconds):
    ours = compiled(case, threads)
    check(case, ours)
    functions = {"ours": lambda: ours(*case.inputs), "eager": lambda: case.module(*case.inputs)}
    samples = {name: [] for name in functions}
    for function in functions.values():
        function()
    limits.sample()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples["ours"]) < 10:
        for name, function in functions.items():
            function()  # its own data are in the caches, as far as they fit
            start = time.perf_counter()
            function()
            samples[name].append(time.perf_counter() - start)
    limits.sample()
    fastest = {name: sorted(each)[len(each) // 10] for name, each in samples.items()}
    medians = {name: statistics.median(each) for name, each in samples.items()}
    return {"group": case.group, "case": case.name, "threads": threads, "ours_ms": 1e3 * fastest["ours"],
            "eager_ms": 1e3 * fastest["eager"], "ratio": fastest["eager"] / fastest["ours"],
            "ratio_of_medians": medians["eager"] / medians["ours"], "flops": case.flops, "bytes": case.bytes,
            "bits": torch.finfo(case.inputs[0].dtype).bits}


def finish(row, limits):
    """With the limits of the whole run."""
    compute, memory = row["flops"] / limits.flops[row["bits"]], row["bytes"] / limits.read
    row |= {"of_limit": 1e3 * max(compute, memory) / row["ours_ms"], "limit": "peak" if compute > memory else "memory"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,all")
    parser.add_argument("--only", default="warm,cold,few,any,inputs,bf16")
    parser.add_argument("--case", default="", help="only cases whose names contain it")
    parser.add_argument("--seconds", type=float, default=2, help="for each row")
    parser.add_argument("--json", metavar="FILE", help="also writes the figures there")
    options = parser.parse_args()
    every = []
    for threads in dict.fromkeys(os.cpu_count() if each == "all" else int(each) for each in options.threads.split(",")):
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        limits, rows = Limits(threads), []
        with torch.no_grad():
            for case in cases(options.only.split(",")):
                if options.case in case.name:
                    rows.append(measure(case, threads, limits, options.seconds))
                    row = rows[-1]
                    print(f"{row['group']} {row['case']}: {row['ours_ms']:.3f} ms, eager / ours {row['ratio']:.2f}", flush=True)
        print(f"\n{threads} thread{'s' * (threads > 1)}: {1e-9 * limits.flops[32]:.0f} GFLOP/s, of bf16 {1e-9 * limits.flops[16]:.0f}, reads of {1e-9 * limits.read:.1f} GB/s\n\n"
              "| group | product | ours, ms | eager, ms | eager / ours | of medians | of the limit |\n|---|---|---|---|---|---|---|")
        for row in rows:
            finish(row, limits)
            print(f"| {row['group']} | {row['case']} | {row['ours_ms']:.3f} | {row['eager_ms']:.3f} | {row['ratio']:.2f} | "
                  f"{row['ratio_of_medians']:.2f} | {100 * row['of_limit']:.0f} % {row['limit']} |")
        if rows:
            print(f"\ngeometric mean of eager / ours: {statistics.geometric_mean(row['ratio'] for row in rows):.2f}\n", flush=True)
        every.append({"threads": threads, "flops": limits.flops, "read": limits.read, "rows": rows})
    if options.json:
        with open(options.json, "w") as out:
            json.dump(every, out, indent=1)


if __name__ == "__main__":
    main()
