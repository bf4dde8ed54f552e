#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what it costs that a model does not know its number of rows: chains of linear layers, with weights beyond
the caches, compiled once for any number of rows and once for each.

    PYTHONPATH=build/dev/python bench/rows.py [--threads=1] [--seconds=2.5]

Every figure is the fastest tenth of its samples, those of one row of the table taken in turns."""
import argparse

from state import measure  # before torch: it sets how PyTorch's workers wait

import torch
from torch import nn
from torch.export import Dim, export

import tilewright

LAYERS = [(768, 3072, 12, torch.float32), (4096, 4096, 4, torch.float32), (2048, 2048, 8, torch.bfloat16)]
ROWS = (1, 2, 4, 6, 8, 16, 32, 64, 128, 200)


class Chain(nn.Module):
    """`count` layers, from `inner` columns to `outer` ones and back, with GELU behind each."""

    def __init__(self, inner, outer, count, dtype):
        super().__init__()
        sizes = [(inner, outer), (outer, inner)]
        self.layers = nn.ModuleList(nn.Linear(*sizes[i % 2], dtype=dtype) for i in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.gelu(layer(x))
        return x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("| layers | rows | static | dynamic / static | PyTorch / static |\n|---|---|---|---|---|")
    for inner, outer, count, dtype in LAYERS:
        model = Chain(inner, outer, count, dtype).eval()
        for_any = export(model, (torch.randn(3, inner, dtype=dtype),), dynamic_shapes=({0: Dim("rows", min=1, max=4096)},))
        dynamic = tilewright.compile(for_any, threads=options.threads)
        for rows in ROWS:
            x = torch.randn(rows, inner, dtype=dtype)
            static = tilewright.compile(export(model, (x,)), threads=options.threads)
            with torch.no_grad():
                found = measure({"static": lambda: static(x), "dynamic": lambda: dynamic(x), "torch": lambda: model(x)},
                                options.seconds)
            print(f"| {count} of {inner} x {outer} {str(dtype).removeprefix('torch.')} | {rows} | {1e3 * found['static']:.2f} ms "
                  f"| {found['dynamic'] / found['static']:.2f} | {found['torch'] / found['static']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
