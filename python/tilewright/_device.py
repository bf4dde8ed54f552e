# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which target code for a device is compiled for."""
from __future__ import annotations

# Targets by the compute capability of a GPU, as torch.cuda.get_device_capability says it.
GPU_TARGETS = {(9, 0): "nvidia:sm_90a"}


def is_for_gpu(target: str) -> bool:
    return target.partition(":")[0] == "nvidia"
