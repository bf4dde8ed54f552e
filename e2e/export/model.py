# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tables say about one model, and how its inputs are made from that.

An input is a string `dtype[sizes]` followed by an optional range: `<N` for values in [0, N), `>0`
for positive floats, `~S` for a normal distribution of deviation S (1 by default). A size is a
number or a name; a name is a dynamic dimension if `dims` gives its range, and `sizes` gives its
values, one dictionary per case. `int=N` is a Python integer. A callable gets (generator, sizes,
step); its attribute `axes` names the dynamic sizes of its result.
"""

import dataclasses
import re
import zlib
from collections.abc import Callable

import torch

DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "u8": torch.uint8, "bool": torch.bool,
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}

SPEC = re.compile(r"(\w+)\[([^\]]*)\](?:([<>~])([\d.]+))?$")


@dataclasses.dataclass
class Model:
    """One exported model.

    `build` returns the module; `inputs` are input strings, a list for positional arguments or a
    dictionary for keyword arguments; `steps` calls on one instance, each with fresh inputs, belong
    to each case. `form` says what is exported: "training" (as torch.export gives it), "core"
    (decomposed to core ATen) or "joint" (forward, loss and backward; the first output is the loss).
    `train` leaves the module in training mode; `verbatim` keeps sample inputs and whole stack traces
    in the file, as a user's own export has them; `text` says that the program is NAME.mlir, written
    by hand, and the module only computes what to expect; `packed` keeps all arrays in data.npz;
    `kernels` are files, seen from the project's root, with kernels of the operators that it calls.
    """

    name: str
    build: Callable[[], torch.nn.Module]
    inputs: list | dict
    tags: set = dataclasses.field(default_factory=lambda: {"checked_in"})
    dims: dict = dataclasses.field(default_factory=dict)
    sizes: list = dataclasses.field(default_factory=lambda: [{}])
    steps: int = 1
    form: str = "training"
    train: bool = False
    verbatim: bool = False
    text: bool = False
    packed: bool = False
    kernels: list = dataclasses.field(default_factory=list)

    @property
    def specs(self) -> list:
        return list(self.inputs.values() if isinstance(self.inputs, dict) else self.inputs)

    def make_inputs(self, case: int, step: int) -> list:
        """The flat inputs of one call; the same on every machine."""
        generator = torch.Generator().manual_seed(zlib.crc32(f"{self.name}.{case}.{step}".encode()))
        return [make_input(spec, generator, self.sizes[case], step) for spec in self.specs]

    def arguments(self, flat: list) -> tuple[tuple, dict]:
        if isinstance(self.inputs, dict):
            return (), dict(zip(self.inputs, flat))
        return tuple(flat), {}

    def dynamic_shapes(self):
        """What torch.export wants to hear about the dynamic dimensions, or None."""
        if not self.dims:
            return None
        made = {name: torch.export.Dim(name, min=low, max=high) for name, (low, high) in self.dims.items()}
        shapes = [shape_of(spec, made) for spec in self.specs]
        if isinstance(self.inputs, dict):
            return dict(zip(self.inputs, shapes))
        return (tuple(shapes),) if self.packed else tuple(shapes)  # case tables take *inputs


def shape_of(spec, dims: dict):
    if callable(spec):
        return {axis: dims[name] for axis, name in getattr(spec, "axes", {}).items()} or None
    if spec.startswith("int="):
        return None
    names = [name.strip() for name in SPEC.match(spec)[2].split(",")]
    return {axis: size_of(name, dims) for axis, name in enumerate(names) if name and not name.isdigit()} or None


def size_of(text: str, sizes: dict):
    """A number, a name, or a number times a name (`2*S`)."""
    factor, _, name = text.rpartition("*")
    value = int(name) if name.isdigit() else sizes[name]
    return int(factor) * value if factor else value


def make_input(spec, generator: torch.Generator, sizes: dict, step: int):
    if callable(spec):
        return spec(generator, sizes, step)
    if spec.startswith("int="):
        return int(spec[4:])
    dtype_name, dims, kind, bound = SPEC.match(spec).groups()
    dtype = DTYPES[dtype_name]
    shape = [size_of(text.strip(), sizes) for text in dims.split(",")] if dims else []
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if not dtype.is_floating_point:
        low, high = (0, int(bound)) if kind == "<" else (0, 10)
        return torch.randint(low, high, shape, generator=generator).to(dtype)
    value = torch.randn(shape, generator=generator)
    if kind == "<":
        value = torch.rand(shape, generator=generator) * float(bound)
    if kind == ">":
        value = value.abs() + 0.1
    if kind == "~":
        value = value * float(bound)
    return value.to(dtype)
