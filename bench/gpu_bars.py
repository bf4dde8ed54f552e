#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the rows of gpu.py are to reach, as a table of Markdown with what they did.

    bench/gpu_bars.py RESULTS.json ...    # as `gpu.py run --json=RESULTS.json` writes them

`gpu.py run` prints the table of what it has measured, too. A ratio is the best peer's time over ours; of long rows it
is the bytes that they move over those of a large copy. "lasting" is the ratio after half a second without any pause. "error" is the
largest ratio of our error to PyTorch's. A bar is met only with right numbers (is_right). Why bars are missed stands in
docs/nvidia-target.md (What is missed, and why).
"""

import json
import pathlib
import statistics
import sys

LINEARS = ["f16_2048x1280x1280", "f16_2048x10240x1280", "f16_2048x1280x5120", "f16_8192x640x640", "f16_8192x5120x640",
           "f16_8192x640x2560"]
ODD_LINEARS = ["f16_2048x1280x1284", "f16_2048x1284x1280", "f16_2000x1500x1000", "f16_2047x1283x1277",
               "f16_4096x4097x4095"]
OTHER_ATTENTION = ["attention_16x2048_d256", "decode_32x4096_d128", "decode_256x4096_d128_groups4",
                   "decode_32x32768_d128_groups4", "attention_8x16_k8192_d128", "attention_40x1024_d64_dynamic",
                   "attention_64x4096_d128_causal_dynamic", "attention_20x4096_d64_bf16", "attention_64x4096_d128_bf16",
                   "attention_32x2048_d128_groups4", "attention_40x1024_d64_bshd", "attention_40x1024_d64_masked",
                   "attention_40x1024_d72", "attention_40x1024_d72_bshd", "attention_40x1024_d72_bf16",
                   "decode_32x4096_d72", "attention_16x2048_k1000_d256", "attention_16x2048_d256_dynamic",
                   "decode_32x4096_d128_dynamic", "decode_256x4096_d128_groups4_dynamic",
                   "decode_32x32768_d128_groups4_dynamic", "decode_32x4096_d72_dynamic",
                   "attention_8x16_k8192_d128_dynamic", "decode_32x1000_d128_groups4_dynamic",
                   "decode_32x64_d128_dynamic"]
LONG_ROWS = ["softmax_8192x8192", "softmax_8192x16384", "softmax_4096x32768", "softmax_8192x4096_f32",
             "layer_norm_16384x4096", "layer_norm_4096x32768", "add_norm_16384x4096", "add_norm_8192x16384",
             "rms_norm_16384x4096_bf16", "gelu_16384x5120", "gelu_gate_8192x5120_bf16",
             "add_16384x4097"]
# What is done, the rows, what each of them and the geometric mean of all are to reach, and of what.
BARS = [
    ("f16 linears, against the best of cublasLt", LINEARS, 0.99, 1.02, "ratio"),
    ("the same with bias and GELU, against its fused ones", [f"{row}_gelu" for row in LINEARS], 0.97, 1.05, "ratio"),
    ("bf16 4096^3", ["bf16_4096x4096x4096"], 1.00, None, "ratio"),
    ("bf16 8192^3", ["bf16_8192x8192x8192"], 1.02, None, "ratio"),
    ("the same, against what PyTorch takes by itself", ["bf16_8192x8192x8192"], 1.02, None, "default_ratio"),
    ("attention 40x1024, head size 64", ["attention_40x1024_d64"], 1.25, None, "ratio"),
    ("attention 20x4096, head size 64", ["attention_20x4096_d64"], 1.15, None, "ratio"),
    ("attention 40x1024 with 64 keys", ["attention_40x1024_k64_d64"], 2.00, None, "ratio"),
    ("attention 40x1024 with 77 keys", ["attention_40x1024_k77_d64"], 2.00, None, "ratio"),
    ("attention 64x4096, head size 128", ["attention_64x4096_d128"], 1.03, None, "ratio"),
    ("the same, causal", ["attention_64x4096_d128_causal"], 1.10, None, "ratio"),
    ("f16 linears of odd sizes (a goal)", ODD_LINEARS, 1.00, None, "ratio"),
    ("other attention (a goal)", OTHER_ATTENTION, 1.00, None, "ratio"),
    ("long rows, of a copy's bandwidth", LONG_ROWS, 0.90, None, "of_copy"),
]


def is_right(one: dict) -> bool:
    """Whether our result is about as near to the true one as PyTorch's, which adds up in another order.

    Errors are norms of differences over the true result's, so most of each is the rounding of results, which both have
    (2e-4 of f16, 2e-3 of bf16). An error no larger than the peer's would be decided by chance between two right
    orders of adding; 1.5 is for what each rounds on its way. 1e-4, half of f16's rounding, is for f32, where PyTorch's error
    is some 1e-7 and a multiple of it is right, too.
    """
    return one["error"] <= 1.5 * one["torch_error"] + 1e-4


def error_ratio(one: dict) -> float:
    """Our error over PyTorch's: 1 where both are none."""
    return 1.0 if one["error"] == one["torch_error"] else one["error"] / max(one["torch_error"], 1e-30)


def line(what: str, rows: list[str], least: float, mean: float | None, field: str, results: dict) -> str | None:
    measured = [results[row] for row in rows if row in results]
    if not measured:
        return None
    reached = [one[field] for one in measured]
    geomean = statistics.geometric_mean(reached)
    missed = [row for row in rows if row not in results]
    missed += [one["row"] for one in measured if one[field] < least or not is_right(one)]
    is_met = not missed and (mean is None or geomean >= mean)
    bar = f"{least:.2f}" if mean is None else f"each {least:.2f}, mean {mean:.2f}"
    values = ", ".join(f"{value:.2f}" for value in reached) + (f"; mean {geomean:.3f}" if mean else "")
    lasting = ", ".join(f"{one['sustained']:.2f}" for one in measured if "sustained" in one)
    error = max(error_ratio(one) for one in measured)
    return f"| {what} | {bar} | {values} | {lasting} | {error:.3g} | {'yes' if is_met else 'no: ' + ', '.join(missed or ['the mean'])} |"


def table(results: list[dict]) -> str:
    """Of whatever rows there are; nothing where no bar is among them."""
    by_name = {one["row"]: one for one in results}
    lines = [text for bar in BARS if (text := line(*bar, by_name))]
    return "\n".join(["| work | bar | reached | lasting | error | met |", "|---|---|---|---|---|---|", *lines]) if lines else ""


if __name__ == "__main__":
    print(table([one for path in sys.argv[1:] for one in json.loads(pathlib.Path(path).read_text())]))
