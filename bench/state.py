#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what state costs: a step of decoding over a static cache beside reading what attention must read, and
a step of AdamW beside PyTorch's.

    PYTHONPATH=build/dev/python bench/state.py [--threads=1] [--seconds=3]

Every figure is the fastest tenth of its samples, those of one table taken in turns."""
import argparse
import os
import time

# PyTorch's workers would spin between their loops, on the cores of what is measured in turns with them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
from torch import nn

import tilewright

HEADS, LENGTH, WIDTH = 16, 4096, 128
PARAMETERS = 4_000_000


def measure(functions, seconds):
    """Seconds of each: the fastest tenth of its samples, in turns."""
    samples = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[next(iter(samples))]) < 10:
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            samples[name].append(time.perf_counter() - start)
    return {name: sorted(each)[len(each) // 10] for name, each in samples.items()}


class DecodingStep(nn.Module):
    """Writes a row of two caches, and attends over all of them."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, HEADS, LENGTH, WIDTH))
        self.register_buffer("values", torch.zeros(1, HEADS, LENGTH, WIDTH))

    def forward(self, query, key, value, position):
        self.keys.index_copy_(2, position, key)
        self.values.index_copy_(2, position, value)
        return nn.functional.scaled_dot_product_attention(query, self.keys, self.values)


class AdamWStep(nn.Module):
    """Loshchilov and Hutter 2019, on a parameter that the caller holds."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(PARAMETERS))
        self.register_buffer("square", torch.zeros(PARAMETERS))
        self.register_buffer("step", torch.zeros(()))

    def forward(self, parameter, gradient):
        self.step.add_(1)
        self.mean.mul_(0.9).add_(gradient, alpha=0.1)
        self.square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        root = (self.square / (1 - 0.999**self.step)).sqrt() + 1e-8
        parameter.mul_(1 - 1e-3 * 0.01).addcdiv_(self.mean / (1 - 0.9**self.step), root, value=-1e-3)
        return self.step.clone()


def compiled(module, inputs, threads):
    exported = torch.export.export(module, inputs)
    return tilewright.compile(exported, threads=threads)


def decoding(threads, seconds):
    row = torch.randn(1, HEADS, 1, WIDTH)
    inputs = (row, row.clone(), row.clone(), torch.tensor([7]))
    program = compiled(DecodingStep(), inputs, threads)
    memory = torch.zeros(2 * HEADS * LENGTH * WIDTH)
    found = measure({"step": lambda: program(*inputs), "sum": memory.sum, "max": memory.max}, seconds)
    read = min(found["sum"], found["max"])
    print(f"| decoding step, 2 x [1, {HEADS}, {LENGTH}, {WIDTH}] f32 | {1e3 * found['step']:.2f} ms "
          f"| reading it {1e3 * read:.2f} ms ({memory.nbytes / read / 1e9:.0f} GB/s) | {found['step'] / read:.2f} |")


def optimiser(threads, seconds):
    value, gradient = torch.randn(PARAMETERS), torch.randn(PARAMETERS)
    program = compiled(AdamWStep(), (value.clone(), gradient), threads)
    functions, ours = {}, value.clone()
    functions["ours"] = lambda: program(ours, gradient)
    for kind in ("fused", "foreach"):
        parameter = nn.Parameter(value.clone())
        parameter.grad = gradient
        functions[kind] = torch.optim.AdamW([parameter], **{kind: True}).step
    found = measure(functions, seconds)
    print(f"| AdamW step, {PARAMETERS} parameters f32 | {1e3 * found['ours']:.2f} ms "
          f"| torch fused {1e3 * found['fused']:.2f} ms, foreach {1e3 * found['foreach']:.2f} ms "
          f"| {found['ours'] / found['fused']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("| work | time | beside | ratio |\n|---|---|---|---|")
    decoding(options.threads, options.seconds)
    optimiser(options.threads, options.seconds)


if __name__ == "__main__":
    main()
