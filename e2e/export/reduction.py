# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The longest sum of products in a program: what tolerances grow with."""

import math

import torch


def shape(value) -> list[int]:
    meta = value.meta.get("val") if isinstance(value, torch.fx.Node) else None
    if not isinstance(meta, torch.Tensor):
        return []
    return [hint(size) for size in meta.shape]


def hint(size) -> int:
    if isinstance(size, int):
        return size
    found = size.node.hint
    return found if found is not None else 1


CONTRACTIONS = {"mm": 0, "addmm": 1, "matmul": 0, "bmm": 0, "baddbmm": 1, "linear": 0, "mv": 0, "dot": 0,
                "addmv": 1, "addbmm": 1}


def node_reduction(node: torch.fx.Node) -> int:
    if node.op != "call_function" or not hasattr(node.target, "_schema"):
        return 1
    name = node.target._schema.name.split("::")[1]
    if name in CONTRACTIONS:
        return (shape(node.args[CONTRACTIONS[name]]) or [1])[-1]
    if "conv" in name and len(node.args) > 1:
        return math.prod(shape(node.args[1])[1:])
    if "attention" in name:
        return max(shape(node.args[0])[-1], shape(node.args[1])[-2])
    if name in ("sum", "mean", "var", "std", "var_mean", "norm", "cumsum", "layer_norm", "batch_norm", "logsumexp"):
        output = node.meta.get("val")
        size = math.prod(shape(node)) if isinstance(output, torch.Tensor) else 1
        return max(1, math.prod(shape(node.args[0])) // max(1, size))
    return 1


def longest_reduction(program: torch.export.ExportedProgram) -> int:
    return max(node_reduction(node) for graph in program.graph_module.modules()
               for node in graph.graph.nodes)
