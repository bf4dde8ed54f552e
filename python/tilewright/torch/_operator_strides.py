# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The strides that operators of eager PyTorch give to their results, where torch's fake tensors have others. No table of
torch says which these are; a test compares the strides of torch's op_db in several orders of dimensions."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.fx import Node

from . import _private
from ._elementwise import CHANNELS_LAST, Undecided, decided, dense, elementwise, operands_of
from ._layout import order_of, row_major

aten = torch.ops.aten


def is_channels_last(value: torch.Tensor) -> bool:
    """Whether eager PyTorch takes the tensor for one of images with their channels innermost: what suggest_memory_format
    says, of tensors with gaps, too. Raises Undecided."""
    if value.dim() not in CHANNELS_LAST:
        return False
    least: Any = 0
    for d in CHANNELS_LAST[value.dim()]:
        size, stride = value.shape[d], value.stride(d)
        if not decided(stride >= least) or decided(size == 0):
            return False
        if d == 0 and decided(least == value.stride(1)):
            return False  # only the channels have more than one element: it is row-major as well
        least = stride if decided(size == 1) else stride * size
    return not decided(value.stride(1) == 0)


def with_strides(value: torch.Tensor, strides: Sequence[Any]) -> torch.Tensor:
    if all(_private.is_known(a == b) for a, b in zip(value.stride(), strides)):
        return value
    return value.new_empty_strided(value.shape, list(strides))


def in_row_major(value: torch.Tensor) -> torch.Tensor:
    return with_strides(value, row_major(value.shape))


def as_suggested(value: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
    """In the memory format that `given`, of the same rank, suggests."""
    if not is_channels_last(given):
        return in_row_major(value)
    return with_strides(value, dense(value.shape, CHANNELS_LAST[value.dim()]))


def _by_iterator(node: Node, operands: Sequence[torch.Tensor | None] | None = None) -> Any:
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor) or any(_private.is_known(size == 0) for size in value.shape):
        return value
    return with_strides(value, elementwise(value.shape, operands_of(node) if operands is None else operands))


def _ldexp(node: Node) -> Any:
    """It multiplies by a power of two, which is row-major."""
    first, exponent = (each.meta["val"] for each in node.args)
    return _by_iterator(node, [first, in_row_major(exponent)])


# Others


def _row_major(node: Node) -> Any:
    return in_row_major(node.meta["val"])


def _all_row_major(node: Node) -> Any:
    return tuple(map(in_row_major, node.meta["val"]))


def _channels_last_as_first(node: Node) -> Any:
    """In the order of dimensions of the first argument, where that is images with their channels innermost."""
    value, given = node.meta["val"], node.args[0].meta["val"]
    return as_suggested(value, given) if is_channels_last(given) else value


def _dense_as(argument: int) -> Callable[[Node], Any]:
    """With the strides of that argument where it is dense, also in dimensions of one element."""
    def apply(node: Node) -> Any:
        value, given = node.meta["val"], node.args[argument].meta["val"]
        if node.kwargs.get("memory_format") not in (None, torch.preserve_format) or order_of(given) is None or any(
                _private.is_known(size == 0) for size in given.shape):
            return value
        return with_strides(value, given.stride())

    return apply


def _as_first_suggests(node: Node) -> Any:
    """In the memory format that the first argument suggests."""
    return as_suggested(node.meta["val"], node.args[0].meta["val"])


def _as_second_suggests(node: Node) -> Any:
    return as_suggested(node.meta["val"], node.args[1].meta["val"])


def _on_cpu(rule: Callable[[Node], Any]) -> Callable[[Node], Any]:
    """A rule of kernels of the CPU."""
    def apply(node: Node) -> Any:
        value = node.meta["val"]
        first = value[0] if isinstance(value, (tuple, list)) else value
        return rule(node) if first.device.type == "cpu" else value

    return apply


def _first_of(rule: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[[Node], Any]:
    """A rule, by the first argument, of the first of several results."""
    def apply(node: Node) -> Any:
        first, *others = node.meta["val"]
        return (rule(first, node.args[0].meta["val"]), *others)

    return apply


def _roll(node: Node) -> Any:
    """Two parts of the argument one behind the other: in its memory format where neither is empty."""
    value, given = node.meta["val"], node.args[0].meta["val"]
    dims = node.args[2] if len(node.args) > 2 else node.kwargs.get("dims", [])
    shifts = node.args[1]
    if not dims or any(_private.is_known(size == 0) for size in value.shape):
        return in_row_major(value) if not dims else value
    # The last shift decides, which is of what those before it give.
    for shift, dim in zip(shifts, dims):
        size = given.shape[dim]
        if _private.is_known(shift % size == 0):
            given = in_row_major(value)
        elif not _private.is_known(shift % size != 0):
            return value
        else:
            given = as_suggested(value, given)
    return given


def _convolved_back(node: Node) -> Any:
    """The weights' gradient of one element a channel, in the kernel without oneDNN: in the memory format of the weights."""
    value, weight = node.meta["val"], node.args[2].meta["val"]
    if value[1] is None or not all(isinstance(size, int) for size in (*node.args[1].meta["val"].shape, *weight.shape)) or any(
            size != 1 for size in weight.shape[2:]) or not _private.is_slow_convolution(*_private.values_of(node.args)[:10]):
        return value
    return (value[0], as_suggested(value[1], weight), value[2])


def _viewed(node: Node) -> Any:
    return _view_of(node.args[0].meta["val"], node.meta["val"])


def _view_of(given: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`value`, a view of `given` of other sizes, with eager PyTorch's steps in dimensions of one element, too."""
    is_fixed = all(isinstance(each, int) for each in (*value.shape, *given.shape, *given.stride()))
    if not is_fixed or value.numel() == 0 or given.dim() == 0:
        return value
    strides: list[int] = []
    whole, count, step = 1, 1, given.stride(-1)
    for d in reversed(range(given.dim())):
        whole *= given.shape[d]
        if d and (given.shape[d - 1] == 1 or given.stride(d - 1) == whole * step):
            continue  # the next dimension goes on in the same steps
        while len(strides) < value.dim() and (count < whole or value.shape[-1 - len(strides)] == 1):
            strides.append(count * step)
            count *= value.shape[-len(strides)]
        if d:
            whole, count, step = 1, 1, given.stride(d - 1)
    return _as_view(value, strides[::-1]) if len(strides) == value.dim() else value


def _stacked(node: Node) -> Any:
    """A view of the tensors joined along the dimension before which the new one comes."""
    value, given = node.meta["val"], [each.meta["val"] for each in node.args[0]]
    dim = (node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)) % value.dim()
    if dim == given[0].dim():
        return value
    return _view_of(torch.cat(given, dim), value)


def _expanded(node: Node) -> Any:
    """Dimensions of one element keep their steps, and new ones go on in those of what is within them; of a number, in 0."""
    value, given = node.meta["val"], node.args[0].meta["val"]
    strides, missing = list(value.stride()), value.dim() - given.dim()
    for d in reversed(range(value.dim())):
        if not _private.is_known(value.shape[d] == 1):
            continue
        if d >= missing:
            strides[d] = given.stride(d - missing)
        elif d + 1 < value.dim():
            strides[d] = value.shape[d + 1] * strides[d + 1]
        else:
            strides[d] = 0
    return _as_view(value, strides)


def _as_view(value: torch.Tensor, strides: list[Any]) -> torch.Tensor:
    """A view with other strides, which begins where it has been traced to: not where its memory does."""
    is_same = all(_private.is_known(a == b) for a, b in zip(value.stride(), strides, strict=True))
    return value if is_same else value.as_strided(value.shape, strides)


NORMALISED = (aten.native_batch_norm.default, aten._native_batch_norm_legit.default, aten._native_batch_norm_legit.no_stats,
              aten._native_batch_norm_legit_no_training.default, aten._native_batch_norm_legit_functional.default,
              aten._batch_norm_with_update.default, aten._batch_norm_with_update_functional.default,
              aten._batch_norm_no_update.default)
# Also of row-major arguments: what repeats a number has other strides in dimensions of one element.
OF_ANY_ORDER = {aten.expand.default}
RULES: dict[Any, Callable[[Node], Any]] = {
    aten.expand.default: _expanded, aten.stack.default: _stacked,
    aten.max_unpool2d.default: _channels_last_as_first, aten.poisson.default: _row_major,
    aten.roll.default: _on_cpu(_roll),
    **dict.fromkeys((aten.channel_shuffle.default, aten.reflection_pad3d.default, aten.replication_pad3d.default),
                    _on_cpu(_as_first_suggests)),
    aten.convolution_backward.default: _convolved_back, aten.view.default: _viewed, aten._unsafe_view.default: _viewed,
    **dict.fromkeys((aten.reflection_pad2d_backward.default, aten.reflection_pad3d_backward.default,
                     aten.replication_pad2d_backward.default, aten.replication_pad3d_backward.default),
                    _on_cpu(_as_second_suggests)),
    aten.log_sigmoid_forward.default: _on_cpu(_all_row_major), aten.glu_backward.default: _on_cpu(_row_major),
    **dict.fromkeys((aten.pow.Scalar, aten.mvlgamma.default, aten.masked_fill.Scalar, aten.masked_fill.Tensor,
                     aten.normal.Tensor_Tensor, aten.normal.float_Tensor,
                     aten.huber_loss_backward.default, aten.smooth_l1_loss_backward.default, aten.mse_loss_backward.default,
                     aten._softmax.default, aten._log_softmax.default, aten._softmax_backward_data.default,
                     aten._log_softmax_backward_data.default), _row_major),
    aten.nll_loss2d_forward.default: _on_cpu(_first_of(lambda value, given: in_row_major(value))),
    aten.floor_divide.default: _by_iterator, aten.ldexp.Tensor: _ldexp,
    **dict.fromkeys(NORMALISED, _on_cpu(_first_of(as_suggested))),
    **dict.fromkeys((aten.empty_like.default, aten.zeros_like.default, aten.ones_like.default, aten.full_like.default,
                     aten.rand_like.default, aten.randn_like.default, aten.randint_like.default,
                     aten.randint_like.low_dtype, aten.put.default, aten.clone.default,
                     aten.fill.Scalar, aten.fill.Tensor), _dense_as(0)),
    aten.binary_cross_entropy_backward.default: _on_cpu(_dense_as(1))}


def in_eager(node: Node) -> Any:
    """What a node gives in eager PyTorch, by its arguments and by what torch has traced. For row-major arguments that is
    right: no rule is needed."""
    value = node.meta.get("val")
    rule = RULES.get(node.target)
    if rule is None and isinstance(node.target, _private.OpOverload) and torch.Tag.pointwise in node.target.tags:
        rule = _by_iterator
    try:
        return value if rule is None else rule(node)
    except Undecided:
        return value


# Where eager PyTorch calls another operator than those of the graph, which give another order

# Without gradients it has a kernel of its own, and with them that of images.
SIGNAL_POOLING = {torch.max_pool1d, nn.functional.max_pool1d, nn.MaxPool1d}


def instead_of(node: Node, is_inference: bool) -> torch.Tensor | None:
    """What eager PyTorch gives where it calls another operator than the graph's `node`; None where it calls that."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return None
    if node.target is operator.getitem and node.args[1] == 0:
        return in_row_major(value) if node.args[0].target is aten.rrelu_with_noise_functional.default else None
    if node.target is aten.squeeze.dim and _private.called_for(node) in SIGNAL_POOLING:
        return in_row_major(value) if is_inference and value.device.type == "cpu" else None
    if node.target is aten._unsafe_index.Tensor and value.dim() == 3:
        return in_row_major(value)  # upsampling of signals
    if _is_in_place(node):
        kept = with_strides(value, node.args[0].meta["val"].stride())
        return None if order_of(kept) is None else kept
    return None


def _is_in_place(node: Node) -> bool:
    """Whether the program writes the result of an elementwise operator to its first argument."""
    if not isinstance(node.target, _private.OpOverload) or torch.Tag.pointwise not in node.target.tags:
        return False
    called, name = _private.called_for(node), _private.operator_name(node.target).split(".")[1]
    if called != name + "_" and getattr(called, "__name__", None) != "i" + name:
        return False
    first = node.args[0].meta.get("val") if isinstance(node.args[0], Node) else None
    return isinstance(first, torch.Tensor) and len(first.shape) == len(node.meta["val"].shape)
