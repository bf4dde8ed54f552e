# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with the code that ptxas made of a model's kernels."""

import os
import re
import shutil

# Of a kernel without tensor cores, in bytes: ptxas takes fewer registers than there are where more threads then fit on a
# multiprocessor, and keeps a few values in memory for that. 32 are the most that a model here has.
MOST_SPILLED = 64
# Cases whose plain kernels may spill more, and why.
SPILLING = {"operators/fractional_pools": "one thread's share of a pool needs more than the 255 registers that there are"}
# The remark on products that ptxas does not overlap (its notes C7508 to C7519).
SERIALIZED = "cannot overlap products"


def has_ptxas() -> bool:
    """As the compiler looks for it (docs/nvidia-target.md)."""
    return bool(os.environ["TILEWRIGHT_PTXAS"] if "TILEWRIGHT_PTXAS" in os.environ else shutil.which("ptxas"))


def serialized(report: dict) -> list[str]:
    """What `compile --report=json` says of products that wait for each other."""
    return [f"{remark['place']}: {remark['text']}" for remark in report["remarks"] if SERIALIZED in remark["text"]]


def spilled(described: dict) -> dict[str, int]:
    """The bytes that kernels spill, by what `inspect --json` says of an artifact."""
    kernels = (described.get("device") or {}).get("kernels", [])
    return {kernel["name"]: kernel["spill_bytes"] for kernel in kernels if kernel["spill_bytes"]}


def on_tensor_cores(ptx: str) -> set[str]:
    """The kernels of some PTX that multiply on tensor cores."""
    parts = re.split(r"\.entry (\w+)\(", ptx)
    return {name for name, body in zip(parts[1::2], parts[2::2]) if "wgmma.mma_async" in body}


def excessive(case: str, spills: dict[str, int], fast: set[str]) -> list[str]:
    """Spills that must not be: all of kernels on tensor cores, and many of others."""
    return [f"kernel {name} spills {size} bytes" + (" beside products on tensor cores" if name in fast else "")
            for name, size in spills.items() if name in fast or (size > MOST_SPILLED and case not in SPILLING)]
