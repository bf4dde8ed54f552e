# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a graph's tensors are, and what a program for them is compiled for and loaded on."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule

from .._device import GPU_TARGETS, is_for_gpu


class Place(NamedTuple):
    tensors: torch.device  # where all of them are
    target: str
    device: str | None  # that the program is loaded on; None: the target's


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from tensors_in(element)


def of_graph(module: GraphModule, wanted: str | None) -> Place | str:
    """Where the program of a graph is, for the target that is `wanted`: with the first tensor that is on a GPU, else in
    main memory. Or why there is no such program."""
    gpus = (tensor.device for node in module.graph.nodes for tensor in tensors_in(node.meta.get("val"))
            if tensor.device.type == "cuda")
    device = next(gpus, None)
    if device is None:
        return Place(torch.device("cpu"), wanted or "cpu", None)
    if wanted is not None and not is_for_gpu(wanted):
        return f"a tensor is on the device {device}, which programs for {wanted} do not read"
    capability = torch.cuda.get_device_capability(device)
    if target := wanted or GPU_TARGETS.get(capability):
        return Place(device, target, str(device))
    return f"a tensor is on the device {device} of compute capability {'.'.join(map(str, capability))}, which no target is for"
