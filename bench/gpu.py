#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products on a GPU against PyTorch's cuBLAS, in one run.

    bench/gpu.py pack FOLDER [--tool=build/dev/bin/tilewright]     # needs torch and a compiler
    bench/gpu.py run FOLDER [--rows=NAME,...]                      # needs torch and a GPU

`pack` exports f16 and bf16 linears whose weights are inputs, compiles each for nvidia:sm_90a into FOLDER, and
puts the runtime library beside them. `run` checks each against f32 and times both: random data, buffers
rotated beyond the second-level cache, many calls behind a kernel that keeps the GPU busy until all are
enqueued, in random order, each after a pause. A ratio is PyTorch's time over ours: above 1 we are faster.
"""

import argparse
import ctypes
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = [(2048, 1280, 1280), (2048, 10240, 1280), (2048, 1280, 5120), (8192, 640, 640), (8192, 5120, 640),
          (8192, 640, 2560)]
SQUARES = [(4096, 4096, 4096), (8192, 8192, 8192)]
CACHE_BYTES, ROUNDS = 220_000_000, 15
DTYPES = {"f16": 0, "bf16": 1}  # as tw_dtype has them


def table() -> dict[str, dict]:
    """Every row by its name."""
    rows = {}
    for m, n, k in SHAPES:
        for epilogue in ("", "gelu"):
            name = f"f16_{m}x{n}x{k}" + (f"_{epilogue}" if epilogue else "")
            rows[name] = {"m": m, "n": n, "k": k, "dtype": "f16", "epilogue": epilogue, "layout": "nk"}
    for m, n, k in SHAPES[:2]:
        rows[f"f16_{m}x{n}x{k}_kn"] = {"m": m, "n": n, "k": k, "dtype": "f16", "epilogue": "", "layout": "kn"}
    for m, n, k in SQUARES:
        rows[f"bf16_{m}x{n}x{k}"] = {"m": m, "n": n, "k": k, "dtype": "bf16", "epilogue": "", "layout": "nk"}
    return rows


def torch_dtype(row: dict):
    import torch

    return {"f16": torch.float16, "bf16": torch.bfloat16}[row["dtype"]]


def reference(row: dict, x, w, bias):
    """What PyTorch computes, on any device."""
    import torch

    if not row["epilogue"]:
        return x @ (w.t() if row["layout"] == "nk" else w)
    return torch._addmm_activation(bias, x, w.t(), use_gelu=True)  # cublasLt's fused epilogue


def export(row: dict, path: pathlib.Path) -> None:
    import torch

    class Linear(torch.nn.Module):
        def forward(self, x, w, bias):
            if row["layout"] == "kn":
                return x @ w
            if not row["epilogue"]:
                return torch.nn.functional.linear(x, w)
            return torch.nn.functional.gelu(torch.nn.functional.linear(x, w, bias), approximate="tanh")

    m, n, k, dtype = row["m"], row["n"], row["k"], torch_dtype(row)
    shape = (n, k) if row["layout"] == "nk" else (k, n)
    given = (torch.empty(m, k, dtype=dtype), torch.empty(*shape, dtype=dtype), torch.empty(n, dtype=dtype))
    torch.export.save(torch.export.export(Linear(), given), path)


def pack(options) -> int:
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for name, row in table().items():
            if options.rows and name not in options.rows.split(","):
                continue
            model = pathlib.Path(temporary) / f"{name}.pt2"
            export(row, model)
            begin = time.monotonic()
            command = [options.tool, "compile", model, "--target=nvidia:sm_90a", "-o", folder / f"{name}.so"]
            subprocess.run([*command, *options.compile], check=True, capture_output=True)
            print(f"{name}: {time.monotonic() - begin:.2f} s", flush=True)
    library = pathlib.Path(options.tool).resolve().parent.parent / "lib" / "libtilewright.so"
    subprocess.run(["strip", "-o", folder / "libtilewright.so", library], check=True)
    listed = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        name, _, rest = line.strip().partition(" => ")
        if rest.startswith("/") and "fmt" in name:
            shutil.copy(rest.split()[0], folder / name)
    return 0


class Tensor(ctypes.Structure):
    """tw_tensor."""

    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("sizes", ctypes.POINTER(ctypes.c_int64))]


class Compiled:
    """An artifact on the GPU."""

    def __init__(self, folder: pathlib.Path, name: str):
        for library in folder.glob("libfmt*"):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(folder / "libtilewright.so"))
        self.library.tw_status_text.restype = ctypes.c_char_p
        for function in (self.library.tw_program_load, self.library.tw_instance_create,
                         self.library.tw_instance_enqueue, self.library.tw_instance_wait):
            function.restype = ctypes.c_void_p
        self.library.tw_program_input.restype = ctypes.c_void_p
        program, instance = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.tw_program_load(str(folder / f"{name}.so").encode(), None, ctypes.byref(program)))
        self.check(self.library.tw_instance_create(program, None, ctypes.byref(instance)))
        self.instance = instance
        self.names = [self.input_name(program, i) for i in range(8)]
        self.names = [name for name in self.names if name]

    def input_name(self, program, index: int) -> str | None:
        info = self.library.tw_program_input(program, index)
        return ctypes.cast(info, ctypes.POINTER(ctypes.c_char_p))[0].decode() if info else None

    def check(self, status) -> None:
        if status:
            raise RuntimeError(self.library.tw_status_text(ctypes.c_void_p(status)).decode())

    @staticmethod
    def describe(tensor, dtype: str) -> Tensor:
        sizes = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
        return Tensor(tensor.data_ptr(), tensor.numel() * tensor.element_size(), DTYPES[dtype], tensor.dim(),
                      sizes)

    def call(self, row: dict, given: dict, result):
        """A function that enqueues one call on the current stream."""
        import torch

        inputs = (Tensor * len(self.names))(*(self.describe(given[name], row["dtype"]) for name in self.names))
        outputs = (Tensor * 1)(self.describe(result, row["dtype"]))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

        def enqueue():
            self.check(self.library.tw_instance_enqueue(self.instance, stream, inputs, len(self.names), outputs, 1))

        return enqueue


def error_of(have, want) -> float:
    return ((have.float() - want).norm() / want.norm()).item()


def microseconds(calls: list, count: int) -> float:
    """Of one call; `count` are enqueued while the GPU is kept busy."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(int(2e6 + count * 30_000))
    begin.record()
    for i in range(count):
        calls[i % len(calls)]()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / count


def measure(folder: pathlib.Path, name: str, row: dict) -> dict:
    import torch

    m, n, k, dtype = row["m"], row["n"], row["k"], torch_dtype(row)
    copies = max(2, min(24, -(-CACHE_BYTES // (2 * (m * k + n * k + m * n)))))
    compiled, ours, theirs, sets = Compiled(folder, name), [], [], []
    for _ in range(copies):
        shape = (n, k) if row["layout"] == "nk" else (k, n)
        given = {"x": torch.rand(m, k, device="cuda"), "w": torch.rand(*shape, device="cuda"),
                 "bias": torch.rand(n, device="cuda") * 4}
        given = {key: (value * 2 - 1).to(dtype) for key, value in given.items()}
        result, peer = (torch.full((m, n), float("nan"), device="cuda", dtype=dtype) for _ in range(2))
        sets.append((given, result, peer))
        ours.append(compiled.call(row, given, result))
        if row["epilogue"]:
            theirs.append(lambda given=given: reference(row, given["x"], given["w"], given["bias"]))
        else:
            w = given["w"].t() if row["layout"] == "nk" else given["w"]
            theirs.append(lambda x=given["x"], w=w, peer=peer: torch.mm(x, w, out=peer))
    given, result, _ = sets[0]
    ours[0]()
    compiled.check(compiled.library.tw_instance_wait(compiled.instance))
    wide = {key: value.float() for key, value in given.items()}
    want = wide["x"] @ (wide["w"].t() if row["layout"] == "nk" else wide["w"])
    if row["epilogue"]:
        want = torch.nn.functional.gelu(want + wide["bias"], approximate="tanh")
    error, own = error_of(result, want), error_of(reference(row, given["x"], given["w"], given["bias"]), want)
    count = max(copies, min(60, int(2000 / (2 * m * n * k / 600e6 + 3))))
    times = {"ours": [], "torch": []}
    candidates = [("ours", ours), ("torch", theirs)]
    for _ in range(ROUNDS):
        random.shuffle(candidates)
        for which, calls in candidates:
            microseconds(calls, 3)
            time.sleep(0.02)
            times[which].append(microseconds(calls, count))
    us, peer = (statistics.median(times[which]) for which in ("ours", "torch"))
    return {"row": name, "us": round(us, 2), "torch_us": round(peer, 2), "ratio": round(peer / us, 3),
            "tflops": round(2e-6 * m * n * k / us), "error": error, "torch_error": own}


def run(options) -> int:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.manual_seed(1)
    folder, results = pathlib.Path(options.folder), []
    print(f"{'row':28} {'us':>9} {'torch us':>9} {'ratio':>6} {'TFLOP/s':>8} {'error':>8} {'torch':>8}")
    for name, row in table().items():
        if not (folder / f"{name}.so").exists() or (options.rows and name not in options.rows.split(",")):
            continue
        one = measure(folder, name, row)
        results.append(one)
        print(f"{name:28} {one['us']:9.2f} {one['torch_us']:9.2f} {one['ratio']:6.3f} {one['tflops']:8} "
              f"{one['error']:8.1e} {one['torch_error']:8.1e}", flush=True)
        torch.cuda.empty_cache()
    print(f"geomean of ratios {statistics.geometric_mean(one['ratio'] for one in results):.3f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    wrong = [one["row"] for one in results if not one["error"] <= 1.5 * one["torch_error"] + 1e-4]
    if wrong:
        print(f"wrong: {', '.join(wrong)}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--rows", help="names, with commas between them")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--compile", action="append", default=[], help="an option for `tilewright compile`")
    options = parser.parse_args()
    return pack(options) if options.action == "pack" else run(options)


if __name__ == "__main__":
    sys.exit(main())
