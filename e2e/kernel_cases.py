# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written by hand as end-to-end cases: each compiled by itself, with what the interpreter gives as the results.

The examples, those on which the nvidia target's code is tested (products and attention on tensor cores, rows, and the
plain lowering), and kernels of one operation each, whose numbers unit tests compare with PyTorch's. Inputs are drawn by the tool itself, so a case has the expected results alone. A kernel that writes
to its inputs is no case: `run` does not give what becomes of them.
"""

import dataclasses
import json
import pathlib
import re
from collections.abc import Callable

import npy

ROOT = pathlib.Path(__file__).resolve().parent.parent
DTYPES = {"f2": "f16", "f4": "f32", "f8": "f64", "u2": "bf16", "b1": "i1", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64"}


@dataclasses.dataclass
class Kernel:
    """`sizes`: for each call, those of all inputs ("5x9", "5x9xf32" of another dtype, or "f64=0.5" for a scalar); `reduction`: the longest sum."""

    name: str
    file: str
    sizes: list[str]
    reduction: int
    dtype: str = "f32"

    def inputs(self, call: str) -> list[str]:
        return [text if "=" in text else f"{self.typed(text)}=random:{seed}" for seed, text in enumerate(call.split(), 1)]

    def typed(self, sizes: str) -> str:
        return sizes if sizes[-3:] in DTYPES.values() else f"{sizes}x{self.dtype}"

    def chosen(self) -> list[str]:
        """The arguments that name it."""
        return [str(ROOT / self.file), f"--kernel={self.name}"]


def truths(folder: pathlib.Path) -> dict[str, Kernel]:
    """What write_truth_kernels has written: kernels of one operation each."""
    sizes = folder / "sizes.json"
    found = json.loads(sizes.read_text()) if sizes.exists() else {}

    def kernel(name: str, has: dict) -> Kernel | None:
        file = folder.resolve() / f"{name}.mlir"
        text = file.read_text()
        if not re.search(r"[ (]out %", text):
            return None
        symbol = re.search(r"tile\.kernel @(\w+)", text).group(1)
        return Kernel(symbol, str(file), has["sizes"], 256, has["dtype"])

    return {name: made for name, has in sorted(found.items()) if (made := kernel(name, has))}


def example(name: str, sizes: list[str], reduction: int, file: str = "") -> Kernel:
    return Kernel(name, f"examples/kernels/{file or name}.cpp", sizes, reduction)


def text(file: str, name: str, sizes: list[str], reduction: int, dtype: str = "f32") -> Kernel:
    return Kernel(name, f"test/Target/NVIDIA/{file}.mlir", sizes, reduction, dtype)


# By the name of the case. Sizes lie around those of the kernels' blocks.
KERNELS = {
    "softmax": example("softmax", ["5x1000", "1x1", "33x129"], 1000),
    "gemm": example("gemm", ["70x130 65x130", "1x1 1x1", "64x64 128x64"], 130),
    "flash_attention": example("flash_attention", ["2x40x64 2x150x64 2x150x64 f64=0.125", "1x1x16 1x3x16 1x3x16 f64=1"], 150),
    "causal_flash_attention": example("causal_flash_attention", ["2x70x16 2x70x16 2x70x16 f64=0.25"], 70, "flash_attention"),
    "decode_attention": example("decode_attention", ["8x64 8x3000x64 8x3000x64 f64=0.125", "8x64 8x5x64 8x5x64 f64=1"], 3000),
    "layer_norm": example("layer_norm", ["3x129 129 129 f64=1e-5", "65x4096 4096 4096 f64=1e-5"], 4096),
    "dlrm_interaction": example("dlrm_interaction", ["3x9x16", "1x1x1"], 16),
    "lora": example("lora", ["33x70 65x70 65 8x70 65x8 f64=0.5"], 70),
    "mlp": example("mlp", ["33x70 70x65 65 65x10 10"], 70),
    "product_f16": text("product", "product", ["1x200 200x192", "150x200 200x192", "1025x200 200x192"], 200, "f16"),
    "product_of_any_size_f16": text("unknown-sizes", "product", ["64x64 64x64", "130x72 65x72", "33x35 47x35"], 72, "f16"),
    "computed_left_f16": text("computed-left", "scaled_product", ["1x200xf32 1xf32 200x192", "150x200xf32 150xf32 200x192"],
                              200, "f16"),
    "triangular_f16": text("triangular", "lower", ["1280x1280 1280x512"], 1280, "f16"),
    "attention_f16": text("attention", "attention", ["256x64 256x64 256x128"], 256, "f16"),
    "attention_of_heads_of_72_f16": text("attention-odd-heads", "attention", ["200x3x72 256x3x72 256x3x72"], 256, "f16"),
    "attention_in_one_loop_bf16": text("attention-odd-heads", "hidden", ["100x256 200x256 200x256"], 200, "bf16"),
    "rows_f16": text("rows", "softmax", ["1x4096", "300x4096"], 4096, "f16"),
    "rows_in_shared_memory_f16": text("rows-in-shared-memory", "softmax", ["1x32768", "140x32768"], 32768, "f16"),
    # Row 134 comes to nearly 0, by which it is divided.
    "rows_side_by_side": text("side-by-side", "share", ["1x200", "133x200"], 200),
    "row_shares": text("reduce", "share", ["100x200"], 200),
    "product_in_blocks": text("dot", "product", ["33x70 70x160", "1x1 1x160"], 70),
    "product_of_terms": text("dot-terms", "product", ["4x8x64 64x32"], 64),
    "exponentials": text("elementwise", "expOf", ["403"], 1),
    "scaled_rows": text("one-element", "scaled", ["100x256"], 256),
}


def compile_command(kernel: Kernel, tool: str, target: str, artifact: pathlib.Path) -> list[str]:
    return [tool, "kernel", "compile", *kernel.chosen(), f"--target={target}", "-o", str(artifact)]


def interpret(kernel: Kernel, tool: str, call: str, result: pathlib.Path, output_as: str, execute: Callable) -> str | None:
    """Writes what the interpreter gives; returns what was said if that failed. `output_as`: "own", or "f32", to which
    bf16 are widened."""
    return execute([tool, "kernel", "run", *kernel.chosen(), *[f"--input={spec}" for spec in kernel.inputs(call)],
                    f"--output=@{result}", f"--output-as={output_as}"])


def write(kernel: Kernel, tool: str, folder: pathlib.Path, execute: Callable) -> str | None:
    """Makes the folder of a case; returns what was said if that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = []
    for index, call in enumerate(kernel.sizes):
        result = folder / f"{index}.npy"
        failed = interpret(kernel, tool, call, result, "own", execute)
        if failed:
            return failed
        dtype = DTYPES[npy.parse(result.read_bytes())[1]]
        if dtype == "bf16":
            interpret(kernel, tool, call, result, "f32", execute)
        output = {"dtype": dtype, "expected": result.name}
        cases.append({"name": call, "calls": [{"inputs": kernel.inputs(call), "outputs": [output]}]})
    description = {"model": kernel.file, "reduction": kernel.reduction, "cases": cases}
    (folder / "case.json").write_text(json.dumps(description, indent=1) + "\n")
    return None
