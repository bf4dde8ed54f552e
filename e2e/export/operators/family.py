# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A family of operators is one exported program that returns the results of many calls.

    @family(x="f32[7,5]", n="i64[3]")
    def rounding(case, x, n):
        case("floor", torch.floor(x))

The arguments are inputs as in export/model.py; `case` gives a result its name.
"""

import torch
from torch import nn

from ..model import Model

FAMILIES: list[Model] = []


class Cases:
    """The named results of one evaluation."""

    def __init__(self):
        self.names: list[str] = []
        self.values: list[torch.Tensor] = []

    def __call__(self, name: str, result) -> None:
        """Adds a tensor, or each tensor of a tuple or list as `name.0`, `name.1`, ..."""
        if isinstance(result, (tuple, list)):
            for index, item in enumerate(result):
                self(f"{name}.{index}", item)
            return
        if name in self.names:
            raise ValueError(f"two cases are named {name}")
        self.names.append(name)
        self.values.append(result)

    def each(self, function, names: str, **arguments) -> None:
        """`function(tensor)` as case `name dtype` for each of the named arguments."""
        for name in names.split():
            for key, value in arguments.items():
                self(f"{name} {key}", function(name)(value))


class Family(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.labels: list[str] = []

    def forward(self, *inputs):
        cases = Cases()
        self.body(cases, *inputs)
        self.labels = cases.names
        return tuple(cases.values)


def family(*, dims=None, sizes=None, **inputs):
    """Registers a function as a family; its exported name is the function's. `dims` and `sizes` make
    sizes dynamic, as in export/model.py."""

    def register(body):
        FAMILIES.append(Model(body.__name__, lambda: Family(body), list(inputs.values()), tags={"operators"},
                              dims=dims or {}, sizes=sizes or [{}], packed=True))
        return body

    return register
