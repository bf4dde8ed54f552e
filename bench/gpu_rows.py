# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/gpu.py measures of rows: softmax, norms and chains of elementwise operations, which take as long as
memory does. PyTorch's are eager ones and Inductor's."""

# Operation, rows, columns, dtype.
ROWS = {
    "softmax_4096x1024": ("softmax", 4096, 1024, "f16"),
    "softmax_8192x8192": ("softmax", 8192, 8192, "f16"),
    "softmax_8192x16384": ("softmax", 8192, 16384, "f16"),
    "softmax_4096x32768": ("softmax", 4096, 32768, "f16"),
    "softmax_8192x4096_f32": ("softmax", 8192, 4096, "f32"),
    "layer_norm_16384x4096": ("layer_norm", 16384, 4096, "f16"),
    "add_norm_4096x768": ("add_norm", 4096, 768, "f16"),
    "add_norm_16384x4096": ("add_norm", 16384, 4096, "f16"),
    "add_norm_8192x16384": ("add_norm", 8192, 16384, "f16"),
    "layer_norm_4096x32768": ("layer_norm", 4096, 32768, "f16"),
    "layer_norm_4096x24576": ("layer_norm", 4096, 24576, "f16"),
    "layer_norm_8192x16384": ("layer_norm", 8192, 16384, "f16"),
    "rms_norm_4096x32768": ("rms_norm", 4096, 32768, "f16"),
    "rms_norm_16384x4096_bf16": ("rms_norm", 16384, 4096, "bf16"),
    "gelu_16384x5120": ("gelu", 16384, 5120, "f16"),
    "gelu_gate_8192x5120_bf16": ("gelu_gate", 8192, 5120, "bf16"),
    "add_16384x4097": ("add", 16384, 4097, "f16"),
}


def compute(operation: str, x, y, w, b):
    from torch.nn import functional

    columns = x.shape[-1:]
    return {
        "softmax": lambda: functional.softmax(x, -1),
        "layer_norm": lambda: functional.layer_norm(x, columns, w, b),
        "add_norm": lambda: functional.layer_norm(x + y, columns, w, b),
        "rms_norm": lambda: functional.rms_norm(x, columns, w),
        "gelu": lambda: functional.gelu(x + b, approximate="tanh"),
        "gelu_gate": lambda: functional.gelu(x, approximate="tanh") * y + b,
        "add": lambda: x + y,
    }[operation]()


# Which inputs an operation has.
READ = {"softmax": "x", "layer_norm": "xwb", "add_norm": "xywb", "rms_norm": "xw", "gelu": "xb", "gelu_gate": "xyb",
        "add": "xy"}


def shapes(row: dict) -> dict[str, tuple]:
    whole = {"x": (row["rows"], row["columns"]), "y": (row["rows"], row["columns"]), "w": (row["columns"],),
             "b": (row["columns"],)}
    return {name: whole[name] for name in READ[row["operation"]]}


def evaluate(row: dict, given: dict):
    return compute(row["operation"], *(given.get(name) for name in "xywb"))


def module(row: dict):
    """What is exported, with inputs in the order of `shapes`."""
    import torch

    names = READ[row["operation"]]

    class Rows(torch.nn.Module):
        def forward(self, *given):
            return evaluate(row, dict(zip(names, given)))

    return Rows()


def sets(row: dict, dtype) -> tuple[dict, dict]:
    """Inputs, and functions of PyTorch by name."""
    import torch

    given = {name: torch.randn(*shape, device="cuda").to(dtype) for name, shape in shapes(row).items()}
    compiled = _compiled(row)
    return given, {"eager": lambda: evaluate(row, given), "inductor": lambda: compiled(given)}


_functions = {}


def _compiled(row: dict):
    import torch

    key = (row["operation"], row["rows"], row["columns"], row["dtype"])
    if key not in _functions:
        torch._dynamo.reset()  # or it gives up: all are one function to it
        _functions[key] = torch.compile(lambda given: evaluate(row, given), dynamic=False)
    return _functions[key]


def copy_bandwidth() -> float:
    """Bytes read and written in a microsecond by PyTorch's copy of a large tensor."""
    import torch

    source = torch.randint(0, 255, (1 << 30,), dtype=torch.uint8, device="cuda")
    to = torch.empty_like(source)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(10):
        begin.record()
        to.copy_(source)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return 2 * source.numel() / sorted(times)[len(times) // 2]
