#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, attention and rows on a GPU against PyTorch's cuBLAS, cuDNN, flash attention and Inductor, in one run.

    bench/gpu.py pack FOLDER [--tool=build/dev/bin/tilewright] [--rows=NAME,...] [--set=FIELD=NUMBER,...]
                                                                   # needs torch and a compiler
    bench/gpu.py run FOLDER [--rows=NAME,...] [--against=FOLDER] [--eager]   # needs torch and a GPU

`pack` exports f16 and bf16 linears whose weights are inputs, f32 ones for --precision=tf32, attention, softmax, norms
and elementwise chains (gpu_rows.py), and what has the plain lowering beside these (gpu_plain.py), compiles each for nvidia:sm_90a into FOLDER, and puts the runtime library beside them. `run` checks each against f32 and times both: random data, buffers
rotated beyond the second-level cache, many calls behind a kernel that keeps the GPU busy until all are
enqueued, in random order, each after a pause; "lasting" is the ratio after half a second without any. A ratio is PyTorch's time over ours: above 1 we are faster. Of
products the peer is the best of cublasLt's candidates (gpu_cublaslt.py), what PyTorch takes, and Inductor's templates
for Triton, tuned. Of attention PyTorch's backends are each forced, and the fastest one counts; of rows the faster of eager and Inductor.
With --against the artifacts of another folder, which another compiler packed, are measured in the same turns: "other" is
their time over ours. Of rows the share of the bandwidth that a large copy has in the same run is given in the place of TFLOP/s. What a call
of many small kernels costs the host, as a CUDA graph and without, has a table of its own (gpu_host.py). At the end stands
what of the bars (gpu_bars.py) is met.
"""

import argparse
import ctypes
import itertools
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import gpu_attention
import gpu_bars
import gpu_cublaslt
import gpu_host
import gpu_plain
import gpu_rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = [(2048, 1280, 1280), (2048, 10240, 1280), (2048, 1280, 5120), (8192, 640, 640), (8192, 5120, 640),
          (8192, 640, 2560)]
SQUARES = [(4096, 4096, 4096), (8192, 8192, 8192)]
LONG_SUMS = [(64, 1280, 10240), (128, 640, 16384), (16, 4096, 11008), (16, 4096, 4096), (1, 4096, 4096)]  # of few rows
ODD = [(2048, 1280, 1284), (2048, 1284, 1280), (2000, 1500, 1000), (2047, 1283, 1277), (4096, 4097, 4095)]
FEW_ROWS = [(16, 1280, 1280), (16, 4096, 4096), (128, 4096, 4096), (256, 4096, 4096)]  # their number is known at the call
CACHE_BYTES, ROUNDS, SUSTAINED_SECONDS = 220_000_000, 15, 0.5
SUSTAINED_FROM_US = 30  # a shorter call takes longer to enqueue
DTYPES = {"f16": 0, "bf16": 1, "f32": 2}  # as tw_dtype has them


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
    for m, n, k in (*SHAPES[:2], SQUARES[0]):
        rows[f"tf32_{m}x{n}x{k}"] = {"m": m, "n": n, "k": k, "dtype": "f32", "epilogue": "", "layout": "nk",
                                     "compile": ["--precision=tf32"]}
    for m, n, k in LONG_SUMS + ODD:
        rows[f"f16_{m}x{n}x{k}"] = {"m": m, "n": n, "k": k, "dtype": "f16", "epilogue": "", "layout": "nk"}
    for m, n, k in SHAPES[:2] + FEW_ROWS:
        rows[f"f16_{m}x{n}x{k}_dynamic"] = {"m": m, "n": n, "k": k, "dtype": "f16", "epilogue": "", "layout": "nk",
                                            "dynamic": True}
    rows |= gpu_attention.table()
    for name, (operation, count, columns, dtype) in gpu_rows.ROWS.items():
        rows[name] = {"operation": operation, "rows": count, "columns": columns, "dtype": dtype}
    rows |= gpu_plain.table()
    for name, (layers, count, columns) in gpu_host.CHAINS.items():
        rows[name] = {"layers": layers, "rows": count, "columns": columns, "dtype": "f16"}
    return rows


def torch_dtype(row: dict):
    import torch

    return {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[row["dtype"]]


def reference(row: dict, x, w, bias):
    """What PyTorch computes, on any device."""
    import torch

    if not row["epilogue"]:
        return x @ (w.t() if row["layout"] == "nk" else w)
    return torch._addmm_activation(bias, x, w.t(), use_gelu=True)  # cublasLt's fused epilogue


def export(row: dict, path: pathlib.Path) -> None:
    import torch

    for field, part in (("operation", gpu_rows), ("layers", gpu_host), ("plain", gpu_plain), ("heads", gpu_attention)):
        if field in row:
            given = tuple(torch.empty(*shape, dtype=torch_dtype(row)) for shape in part.shapes(row).values())
            dynamic = part.dynamic_shapes(row) if part in (gpu_plain, gpu_attention) else None
            if dynamic and part is gpu_plain:
                given = (given[0].expand(max(2, given[0].shape[0]), -1).contiguous(),)
            torch.export.save(torch.export.export(part.module(row), given, dynamic_shapes=dynamic), path)
            return

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
    shapes = ({0: torch.export.Dim("rows", min=2, max=65536)}, None, None) if row.get("dynamic") else None
    torch.export.save(torch.export.export(Linear(), given, dynamic_shapes=shapes), path)


def with_fields(configurations: list, fields: dict) -> list:
    """The same with these fields in the kernel that has all of them."""
    changed = json.loads(json.dumps(configurations))
    for kernel in (one for dispatch in changed for one in dispatch["kernels"]):
        places = [kernel, kernel.get("target", {})]
        if all(any(name in place for place in places) for name in fields):
            for place, name in itertools.product(places, fields):
                if name in place:
                    place[name] = bool(fields[name]) if isinstance(place[name], bool) else fields[name]
    return changed


def configured(options, model: pathlib.Path) -> list[str]:
    """Arguments that compile a model with fields of its kernels' configurations as --set says: by --config, from
    what the compiler chooses."""
    if not options.set:
        return []
    command = [options.tool, "compile", model, "--target=nvidia:sm_90a", "-o", model.with_suffix(".so"),
               "--report=json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    fields = {name: int(number) for name, _, number in (field.partition("=") for field in options.set.split(","))}
    path = model.with_suffix(".json")
    path.write_text(json.dumps({"configurations": with_fields(report["configurations"], fields)}))
    return [f"--config={path}"]


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
            subprocess.run([*command, *options.compile, *row.get("compile", []), *configured(options, model)],
                           check=True, capture_output=True)
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

    def __init__(self, folder: pathlib.Path, name: str, graphs: int = 0):
        for library in folder.glob("libfmt*"):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(folder / "libtilewright.so"))
        self.library.tw_status_text.restype = ctypes.c_char_p
        for function in (self.library.tw_program_load, self.library.tw_instance_create,
                         self.library.tw_instance_enqueue, self.library.tw_instance_wait):
            function.restype = ctypes.c_void_p
        self.library.tw_program_input.restype = ctypes.c_void_p
        self.library.tw_program_dispatch.restype = ctypes.c_void_p
        program, instance = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.tw_program_load(str(folder / f"{name}.so").encode(), None, ctypes.byref(program)))
        options = gpu_host.Options(ctypes.sizeof(gpu_host.Options), 0, 0, graphs)
        self.check(self.library.tw_instance_create(program, ctypes.byref(options), ctypes.byref(instance)))
        self.dispatches = 0
        while self.library.tw_program_dispatch(program, self.dispatches):
            self.dispatches += 1
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

        given = given if set(self.names) <= set(given) else dict(zip(self.names, given.values()))  # or in order
        inputs = (Tensor * len(self.names))(*(self.describe(given[name], row["dtype"]) for name in self.names))
        outputs = (Tensor * 1)(self.describe(result, row["dtype"]))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

        def enqueue():
            self.check(self.library.tw_instance_enqueue(self.instance, stream, inputs, len(self.names), outputs, 1))

        return enqueue


def error_of(have, want) -> float:
    return ((have.to(want.dtype) - want).norm() / want.norm()).item()


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


def sustained(calls: list, each: int, us: float) -> float:
    """Microseconds of one call after SUSTAINED_SECONDS of nothing else, when the GPU is warm and its power limited."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    count, stop = max(1, int(2e4 / (us * each))), time.monotonic() + SUSTAINED_SECONDS
    while time.monotonic() < stop:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for i in range(count):
            calls[i % len(calls)]()
        end.record()
        end.synchronize()
    return begin.elapsed_time(end) * 1e3 / count / each


def linear_sets(row: dict) -> tuple[dict, dict, float]:
    """What measures a product: inputs, functions of PyTorch by name, operations."""
    import torch

    m, n, k, dtype = row["m"], row["n"], row["k"], torch_dtype(row)
    shape = (n, k) if row["layout"] == "nk" else (k, n)
    given = {"x": torch.rand(m, k, device="cuda"), "w": torch.rand(*shape, device="cuda"),
             "bias": torch.rand(n, device="cuda") * 4}
    given = {key: (value * 2 - 1).to(dtype) for key, value in given.items()}
    peer = torch.empty((m, n), device="cuda", dtype=dtype)
    functions = gpu_cublaslt.functions(row, given, peer)
    if row["epilogue"]:
        functions["cublas"] = lambda: reference(row, given["x"], given["w"], given["bias"])
    else:
        w = given["w"].t() if row["layout"] == "nk" else given["w"]
        functions["cublas"] = lambda: torch.mm(given["x"], w, out=peer)
    functions["inductor"] = lambda: autotuned(row)(given["x"], given["w"], given["bias"])
    return given, functions, 2 * m * n * k


_autotuned: dict = {}


def autotuned(row: dict):
    """The product as Inductor's templates for Triton compute it, tuned for its sizes."""
    import torch

    key = tuple(sorted((name, str(value)) for name, value in row.items()))
    if key not in _autotuned:
        torch._dynamo.reset()
        options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON", "triton.cudagraphs": False}

        def linear(x, w, bias):
            product = x @ (w.t() if row["layout"] == "nk" else w)
            return torch.nn.functional.gelu(product + bias, approximate="tanh") if row["epilogue"] else product

        _autotuned[key] = torch.compile(linear, dynamic=False, options=options)
    return _autotuned[key]


def attention_sets(row: dict) -> tuple[dict, dict, float]:
    """The same of attention, by each backend that takes it."""
    return gpu_attention.sets(row, torch_dtype(row))


def row_sets(row: dict) -> tuple[dict, dict, float]:
    """The same of rows; bytes in the place of operations."""
    given, functions = gpu_rows.sets(row, torch_dtype(row))
    moved = sum(value.numel() for value in given.values()) + row["rows"] * row["columns"]
    return given, functions, moved * first_element_bytes(given)


def plain_sets(row: dict) -> tuple[dict, dict, float]:
    """The same of what else has the plain lowering."""
    given, functions = gpu_plain.sets(row, torch_dtype(row))
    moved = sum(value.numel() for value in given.values()) + functions["eager"]().numel()
    return given, functions, moved * first_element_bytes(given)


def wanted(row: dict, given: dict):
    """In f32; of f32 in f64."""
    import torch

    wide = {key: value.float() for key, value in given.items()}
    if "plain" in row:
        return gpu_plain.evaluate(row, {key: value.double() for key, value in given.items()})
    if "operation" in row:
        wide = {key: value.double() for key, value in given.items()} if row["dtype"] == "f32" else wide
        return gpu_rows.evaluate(row, wide)
    if "heads" in row:
        return gpu_attention.evaluate(row, wide)
    want = wide["x"] @ (wide["w"].t() if row["layout"] == "nk" else wide["w"])
    if row["epilogue"]:
        want = torch.nn.functional.gelu(want + wide["bias"], approximate="tanh")
    return want


def captured(calls: list):
    """The same calls as one graph, which takes PyTorch's host time away. All results are kept until all are made: else
    each would be written where the one before was, which does not leave the second-level cache then."""
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [call() for call in calls]
    del kept
    return graph


def first_element_bytes(given: dict) -> int:
    return next(iter(given.values())).element_size()


def kind(row: dict) -> str:
    return ("attention" if "heads" in row else "rows" if "operation" in row else "plain" if "plain" in row
            else "product")


SETS = {"attention": attention_sets, "rows": row_sets, "plain": plain_sets, "product": linear_sets}


def median_times(candidates: dict, count: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Microseconds of a call of each candidate: a list of functions and how many calls each of these makes."""
    times = {which: [] for which in candidates}
    for _ in range(rounds):
        for which in random.sample(list(candidates), len(candidates)):
            calls, each = candidates[which]
            microseconds(calls, 3)
            time.sleep(0.02)
            times[which].append(microseconds(calls, count // each) / each)
    return {which: statistics.median(some) for which, some in times.items()}


def judge(result, row: dict, given: dict, peer) -> dict:
    """How far our result and the peer's are from the true one."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    want = wanted(row, given)
    torch.backends.cuda.matmul.allow_tf32 = row["dtype"] == "f32" and kind(row) == "product"
    return {"error": error_of(result, want), "torch_error": error_of(peer(), want)}


def measure(options, name: str, row: dict, bandwidth: float) -> dict:
    import torch

    folder, against = pathlib.Path(options.folder), options.against
    is_product, make = kind(row) == "product", SETS[kind(row)]
    # The peer does what we do.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = is_product and row["dtype"] == "f32"
    first, functions, work = make(row)
    functions = {key: function for key, function in functions.items() if not (options.eager and key == "inductor")}
    shape = next(iter(functions.values()))().shape
    size = first_element_bytes(first) * (sum(value.numel() for value in first.values()) + shape.numel())
    copies = max(2, min(24, -(-CACHE_BYTES // size)))
    compiled, ours, sets = Compiled(folder, name), [], []
    other, others, others_results = None, [], []
    if against and (against / f"{name}.so").exists():
        other = Compiled(against, name)
    for _ in range(copies):
        given, peers, _ = make(row)
        result = torch.full(shape, float("nan"), device="cuda", dtype=torch_dtype(row))
        sets.append((given, result, peers))
        ours.append(compiled.call(row, given, result))
        if other:
            others_results.append(torch.empty_like(result))
            others.append(other.call(row, given, others_results[-1]))
    given, result, peers = sets[0]
    ours[0]()
    compiled.check(compiled.library.tw_instance_wait(compiled.instance))
    errors = judge(result, row, given, next(iter(peers.values())))
    candidates = {"ours": (ours, 1)} | ({"other": (others, 1)} if other else {})
    for key in functions:
        calls = [peers[key] for _, _, peers in sets]
        # But for cuBLAS PyTorch's host time is longer than the GPU's: all copies are one graph.
        is_cublas = is_product and key != "inductor"
        candidates[key] = (calls, 1) if is_cublas else ([captured(calls).replay], copies)
    count = max(copies, min(60, int(2000 / (work / (4e6 if kind(row) in ("rows", "plain") else 600e6) + 3))))
    times = median_times(candidates, -(-count // copies) * copies)
    us, before = times.pop("ours"), times.pop("other", None)
    best = min(times, key=times.get)
    found = {"row": name, "us": round(us, 2), "torch_us": round(times[best], 2), "peer": best,
             "ratio": round(times[best] / us, 3), **errors}
    if before:
        found["other"] = round(before / us, 3)
    if is_product:
        found["default_ratio"] = round(times["cublas"] / us, 3)  # what PyTorch takes by itself
    if kind(row) in ("rows", "plain"):
        return {**found, "of_copy": round(work / us / bandwidth, 3)}
    if min(us, times[best]) > SUSTAINED_FROM_US:
        lasting, peers_lasting = (sustained(*candidates[which], us) for which in ("ours", best))
        found["sustained"] = round(peers_lasting / lasting, 3)
    return {**found, "tflops": round(1e-6 * work / us)}


def run(options) -> int:
    import torch

    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.manual_seed(1)
    folder, results, chains = pathlib.Path(options.folder), [], []
    bandwidth = gpu_rows.copy_bandwidth()
    print(f"{torch.cuda.get_device_name()}; a large copy moves {bandwidth * 1e-6:.2f} TB/s")
    print(f"{'row':30} {'us':>9} {'torch us':>9} {'peer':>8} {'ratio':>6} {'other':>6} {'lasting':>7} {'TFLOP/s':>8} {'error':>8} {'torch':>8}")
    for name, row in table().items():
        if not (folder / f"{name}.so").exists() or (options.rows and name not in options.rows.split(",")):
            continue
        if "layers" in row:
            chains.append(name)
            continue
        one = measure(options, name, row, bandwidth)
        results.append(one)
        speed = f"{one['of_copy']:.0%}" if "of_copy" in one else one["tflops"]
        print(f"{name:30} {one['us']:9.2f} {one['torch_us']:9.2f} {one['peer']:>8} {one['ratio']:6.3f} {one.get('other', ''):>6} {one.get('sustained', ''):>7} "
              f"{speed:>8} "
              f"{one['error']:8.1e} {one['torch_error']:8.1e}", flush=True)
        torch.cuda.empty_cache()
    if results:
        print(f"geomean of ratios {statistics.geometric_mean(one['ratio'] for one in results):.3f}")
        print(gpu_bars.table(results))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    wrong = [one["row"] for one in results if not gpu_bars.is_right(one)]
    for name in chains:
        def open_artifact(graphs, name=name):
            compiled = Compiled(folder, name, graphs)
            return compiled, compiled.dispatches

        if not gpu_host.measure(name, table()[name], open_artifact):
            wrong.append(name)
    if wrong:
        print(f"wrong: {', '.join(wrong)}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    parser.add_argument("--rows", help="names, with commas between them")
    parser.add_argument("--set", help="fields of kernels' configurations, such as ping_pong=1,columns=160")
    parser.add_argument("--against", type=pathlib.Path, help="what another compiler packed, to be measured beside it")
    parser.add_argument("--eager", action="store_true", help="leave Inductor out, which takes seconds for each row, and a minute for a product")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--compile", action="append", default=[], help="an option for `tilewright compile`")
    options = parser.parse_args()
    return pack(options) if options.action == "pack" else run(options)


if __name__ == "__main__":
    sys.exit(main())
