# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The strides of elementwise results in eager PyTorch: the order of dimensions that its TensorIterator gives to a result,
which is that of the first operand that tells, for sizes that may be open."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from . import _private
from ._layout import order_of, row_major

# By rank: the dimensions of images with their channels innermost, from the innermost.
CHANNELS_LAST = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}
OPERANDS = {"self", "other", "x", "n"}  # names of arguments that may be numbers and are operands like tensors


def dense(sizes: Sequence[Any], inwards: Sequence[int]) -> list[Any]:
    """The strides of memory without gaps, by its dimensions from the innermost."""
    strides: list[Any] = [0] * len(sizes)
    expected: Any = 1
    for d in inwards:
        strides[d] = expected
        expected = expected * sizes[d]
    return strides


class Undecided(Exception):
    """Sizes that are open decide."""


def decided(condition: Any) -> bool:
    """Whether a condition on sizes holds. Raises Undecided."""
    if _private.is_known(condition):
        return True
    if isinstance(condition, bool) or _private.is_known(torch.sym_not(condition)):
        return False
    raise Undecided


def _is_less(a: Any, b: Any) -> bool:
    """Whether one stride is known to be less than another; open sizes are of no known order, and may be factors."""
    return _private.is_known(a < b) or (
        not isinstance(b, int) and _private.is_known(b % a == 0) and _private.is_known(b // a > 1))


def operands_of(node: Node) -> list[torch.Tensor | None]:
    """What an elementwise operator is computed from; None for a number."""
    names = [argument.name for argument in _private.schema_of(node.target).arguments]
    found: list[torch.Tensor | None] = []
    for name, given in (*zip(names, node.args), *node.kwargs.items()):
        value = given.meta.get("val") if isinstance(given, Node) else given
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif name in OPERANDS and isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat)):
            found.append(None)
    return found


def elementwise(sizes: Sequence[Any], operands: Sequence[torch.Tensor | None]) -> list[Any]:
    """The strides of a result of these sizes by the rule of TensorIterator. Raises Undecided."""
    tensors = [each for each in operands if each is not None]
    if len(tensors) == len(operands) and all(_same(each.shape, sizes) for each in tensors):
        if all(_is_dense(each, range(len(sizes) - 1, -1, -1)) for each in tensors):
            return row_major(sizes)
        if len(sizes) == 4 and all(_is_dense(each, CHANNELS_LAST[4]) for each in tensors):
            return dense(sizes, CHANNELS_LAST[4])
        first = tensors[0]
        if all(_same(each.stride(), first.stride()) for each in tensors) and order_of(first) is not None:
            return list(first.stride())
    steps = [_steps(each, sizes) for each in tensors]
    inwards = list(range(len(sizes) - 1, -1, -1))
    for i in range(1, len(inwards)):
        at = i
        for before in range(i - 1, -1, -1):
            order = _compare(inwards[before], inwards[at], sizes, steps)
            if order < 0:
                break
            if order > 0:
                inwards[before], inwards[at] = inwards[at], inwards[before]
                at = before
    return dense(sizes, inwards)


def _same(these: Sequence[Any], those: Sequence[Any]) -> bool:
    return len(these) == len(those) and all(decided(a == b) for a, b in zip(these, those))


def _is_dense(value: torch.Tensor, inwards: Sequence[int]) -> bool:
    """Whether the strides are those, but for dimensions of one element."""
    return all(decided(size == 1) or decided(stride == expected) for size, stride, expected in
               zip(value.shape, value.stride(), dense(value.shape, inwards)))


def _steps(value: torch.Tensor, sizes: Sequence[Any]) -> list[Any]:
    """The strides in dimensions of the result: 0 in those along which the operand is repeated."""
    missing = len(sizes) - value.dim()
    return [0] * missing + [0 if decided(size == 1) and not decided(sizes[missing + d] == 1) else value.stride(d)
                            for d, size in enumerate(value.shape)]


def _compare(inner: int, outer: int, sizes: Sequence[Any], steps: Sequence[list[Any]]) -> int:
    """1 when the dimensions are to be swapped, -1 when they are in order, 0 when no operand tells."""
    for step in steps:
        if decided(step[inner] == 0) or decided(step[outer] == 0):
            continue
        if _is_less(step[inner], step[outer]):
            return -1
        if _is_less(step[outer], step[inner]):
            return 1
        if decided(step[inner] == step[outer]) and decided(sizes[inner] > sizes[outer]):
            return 1
    return 0
