# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of a graph as numbers of a call: symbolic ones are evaluated from its arguments."""
from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.fx import Node

from . import _private

# What expressions of sizes may call, beside arithmetic.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "FloorDiv": lambda a, b: a // b, "CleanDiv": lambda a, b: a // b, "CeilToInt": math.ceil, "FloorToInt": math.floor,
    "Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b, "IntTrueDiv": lambda a, b: a / b, "Max": max,
    "Min": min, "Abs": abs, "ToFloat": float, "TruncToInt": math.trunc, "PowByNatural": lambda a, b: a**b,
    "ModularIndexing": lambda a, b, c: a // b % c, "Identity": lambda a: a}


class Unplannable(Exception):
    """What a graph's arguments or results need that a compiled graph cannot do; and the nodes that need it, if known."""

    def __init__(self, what: str, *nodes: Node) -> None:
        super().__init__(what)
        self.names = [node.name for node in nodes]


class Sizes:
    """Collects symbolic numbers; `placeholders` are the arguments of the calls that evaluate them."""

    def __init__(self, placeholders: Sequence[Node]) -> None:
        self.places = _places(placeholders)
        self.expressions: list[Any] = []

    def number(self, value: Any) -> int | tuple[int]:
        """An int as it is; of a symbolic one, the tuple of its place in what `evaluate` gives."""
        if isinstance(value, int):
            return value
        expression = _private.expression_of(value)
        if expression.is_Integer:
            return int(expression)
        if expression not in self.expressions:
            self.expressions.append(expression)
        return (self.expressions.index(expression),)

    def numbers(self, values: Sequence[Any]) -> tuple[int | tuple[int], ...]:
        return tuple(self.number(value) for value in values)

    @contextlib.contextmanager
    def all_known(self) -> Iterator[None]:
        """What is collected within is known from the arguments, or is not collected. Raises Unplannable."""
        before = len(self.expressions)
        try:
            yield
            self._check(self.expressions[before:])
        except Unplannable:
            del self.expressions[before:]
            raise

    def _check(self, expressions: list[Any]) -> None:
        for symbol in {symbol for each in expressions for symbol in each.free_symbols}:
            if symbol not in self.places:
                raise Unplannable(f"no argument says what the size {symbol} is")

    def plan(self) -> tuple[list[tuple[int, int]], Callable[..., tuple[int, ...]] | None]:
        """Where symbols are found, as (argument, dimension) with -1 for an int; and what evaluates all numbers
        from their values, or None where the numbers are these values. Raises Unplannable."""
        self._check(self.expressions)
        if all(each.is_Symbol for each in self.expressions):
            return [self.places[each] for each in self.expressions], None
        import sympy
        from sympy.printing.pycode import PythonCodePrinter

        class Printer(PythonCodePrinter):
            """Prints torch's Mod as a call: the operator % would bind less than what stands around it."""

            def _print_Mod(self, expression: Any) -> str:
                return f"Mod({', '.join(map(self._print, expression.args))})"

        symbols = sorted({symbol for each in self.expressions for symbol in each.free_symbols}, key=str)
        printer = Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
        evaluate = sympy.lambdify(symbols, tuple(self.expressions), modules=[FUNCTIONS, "math"], printer=printer)
        return [self.places[symbol] for symbol in symbols], evaluate


def _places(placeholders: Sequence[Node]) -> dict[Any, tuple[int, int]]:
    """Where each symbol is found, as (argument, dimension)."""
    places: dict[Any, tuple[int, int]] = {}
    for index, node in enumerate(placeholders):
        value = node.meta.get("val")
        parts = [(value, -1)] if isinstance(value, torch.SymInt) else (
            [(size, d) for d, size in enumerate(value.shape)] if isinstance(value, torch.Tensor) else [])
        for size, dimension in parts:
            if isinstance(size, torch.SymInt) and (expression := _private.expression_of(size)).is_Symbol:
                places.setdefault(expression, (index, dimension))
    return places
