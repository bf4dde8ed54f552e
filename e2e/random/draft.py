# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A random program in the making: Python source whose every line has been executed."""

import math
import random

import torch
from torch.nn import functional as F

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int64, torch.int32, torch.int8, torch.uint8)
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65)
DYNAMIC = 11  # what a dynamic size is while the program is drawn; no other size is that
EXTREMES = (0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, -1e-12, 1e-7, 1e4, -1e4, 1e10, -1e10)
MOST_ELEMENTS = 4096


class NoFit(Exception):
    """An operator finds no operands among the values so far."""


class Value:
    """A tensor and the name it has in the source. `exact`: every correct implementation gives it bit
    by bit, so that functions which jump may be applied."""

    def __init__(self, name: str, tensor: torch.Tensor, exact: bool):
        self.name, self.tensor, self.exact = name, tensor, exact
        self.is_read = False

    def __str__(self):
        self.is_read = True
        return self.name

    @property
    def shape(self):
        return tuple(self.tensor.shape)

    @property
    def rank(self):
        return self.tensor.dim()

    @property
    def dtype(self):
        return self.tensor.dtype

    @property
    def is_float(self):
        return self.tensor.dtype.is_floating_point

    @property
    def is_bool(self):
        return self.tensor.dtype == torch.bool


class Draft:
    """Inputs, buffers (`self.w0`) and the lines of forward()."""

    def __init__(self, seed: int, dynamic: bool, extreme: bool):
        self.rng = random.Random(seed)
        self.noise = torch.Generator().manual_seed(seed)
        self.dynamic, self.extreme = dynamic, extreme
        self.values: list[Value] = []
        self.lines: list[str] = []
        self.inputs: dict[str, torch.Tensor] = {}
        self.buffers: dict[str, torch.Tensor] = {}
        self.scope = {"torch": torch, "F": F, "self": self}

    def __getattr__(self, name: str):
        try:
            return self.__dict__["buffers"][name]
        except KeyError:
            raise AttributeError(name) from None

    # -- Choosing.

    def choice(self, options):
        if not options:
            raise NoFit
        return self.rng.choice(options)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def number(self) -> str:
        """A constant of the source."""
        return self.choice(["0.5", "2", "-1", "3", "1.5", "-0.25", "0", "7", "0.1"])

    def pick(self, fits=lambda value: True) -> Value:
        """One of the values that fit; later ones are more likely."""
        found = [value for value in self.values if fits(value)]
        if not found:
            raise NoFit
        return self.rng.choice(found[-6:] if self.chance(0.7) else found)

    def floating(self, min_rank: int = 0, exact: bool = False, nonempty: bool = False) -> Value:
        return self.pick(lambda v: v.is_float and v.rank >= min_rank and (v.exact or not exact)
                         and (v.tensor.numel() or not nonempty))

    def integer(self, min_rank: int = 0) -> Value:
        return self.pick(lambda v: not v.is_float and not v.is_bool and v.rank >= min_rank)

    def any(self, min_rank: int = 0, exact: bool = False) -> Value:
        return self.pick(lambda v: v.rank >= min_rank and (v.exact or not exact))

    def beside(self, x: Value, fits=lambda value: True) -> Value:
        """A value that can be broadcast with `x`."""
        def broadcasts(y):
            try:
                return math.prod(torch.broadcast_shapes(x.shape, y.shape)) <= MOST_ELEMENTS and fits(y)
            except RuntimeError:
                return False
        return self.pick(broadcasts)

    def dim(self, x: Value) -> int:
        if x.rank == 0:
            raise NoFit
        return self.rng.randrange(-x.rank, x.rank)

    def is_dynamic(self, size: int) -> bool:
        return self.dynamic and size == DYNAMIC

    def static_dim(self, x: Value) -> int:
        return self.choice([d for d in range(x.rank) if not self.is_dynamic(x.shape[d])])

    def size(self, x: Value, dim: int) -> str:
        """The size as the source names it."""
        return f"{x}.shape[{dim}]" if self.is_dynamic(x.shape[dim]) else str(x.shape[dim])

    def shape(self, rank: int | None = None) -> list[int]:
        """Sizes of a new tensor, of few elements."""
        rank = self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5]) if rank is None else rank
        shape = [self.rng.choice(SIZES) for _ in range(rank)]
        while math.prod(shape) > MOST_ELEMENTS // 2:
            shape[self.rng.randrange(rank)] = self.rng.choice(SIZES[:6])
        if rank and self.chance(0.04):
            shape[self.rng.randrange(rank)] = 0
        return shape

    # -- Tensors that are given.

    def data(self, shape, dtype: torch.dtype) -> torch.Tensor:
        """Numbers around 0; some extreme ones where the program wants them."""
        if dtype == torch.bool:
            return torch.rand(shape, generator=self.noise) < 0.5
        if not dtype.is_floating_point:
            low = 0 if dtype == torch.uint8 else -9
            return torch.randint(low, 10, shape, generator=self.noise).to(dtype)
        # Multiples of 1/256: archives of them are small.
        values = (torch.randn(shape, generator=self.noise, dtype=torch.float64) * 256).round() / 256
        if self.extreme and values.numel():
            extremes = torch.tensor([self.rng.choice(EXTREMES) for _ in range(values.numel())], dtype=torch.float64)
            values = torch.where(torch.rand(shape, generator=self.noise) < 0.3, extremes.reshape(shape), values)
        return values.to(dtype)

    def dtype(self) -> torch.dtype:
        return self.rng.choice([torch.float32] * 6 + list(FLOATS) + [torch.int64] * 2 + list(INTEGERS) + [torch.bool])

    def add_input(self, shape, dtype: torch.dtype) -> Value:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.scope[name] = self.data(shape, dtype)
        self.values.append(Value(name, self.inputs[name].clone(), True))
        return self.values[-1]

    def buffer(self, tensor: torch.Tensor) -> str:
        """Keeps `tensor` as a weight; gives what the source calls it."""
        name = f"w{len(self.buffers)}"
        self.buffers[name] = tensor
        return f"self.{name}"

    # -- Lines.

    def assign(self, expression: str, operands, exact: bool = False, statements=()) -> Value:
        """`name = expression`, then statements about `{0}`, which is that name. `exact`: an exact
        result of exact operands."""
        name = f"v{len(self.lines)}"
        lines = [f"{name} = {expression}", *(text.format(name) for text in statements)]
        with torch.no_grad():
            for line in lines:
                exec(line, self.scope)  # this file's own text
        result = self.scope[name]
        if not isinstance(result, torch.Tensor) or result.numel() > MOST_ELEMENTS or result.dim() > 6:
            raise NoFit
        if result.dtype not in (*FLOATS, *INTEGERS, torch.bool):
            raise NoFit
        self.lines += lines
        is_exact = all(operand.exact for operand in operands) and (exact or not result.dtype.is_floating_point)
        self.values.append(Value(name, result.clone(), is_exact))
        return self.values[-1]
