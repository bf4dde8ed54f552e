# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of torch's op_db in several orders of dimensions: strides, values and gradients against eager PyTorch. Some by
default, all operators with TW_ALL_OPERATORS=1. Where results have other strides than eager PyTorch's is listed with the
reason in op_db_expected.py: an operator that is listed and has the same strides in each sample is a failure, too."""
import op_db_expected
import pytest
import torch
from torch.utils import _pytree as pytree
from test_op_db import ALL, OPERATORS, Call, Untraceable, compare, samples_of

pytestmark = [pytest.mark.usefixtures("fresh"), pytest.mark.filterwarnings("ignore")]
SAMPLES = 3 if ALL else 1
CHOSEN = ["add", "copysign", "div.floor_rounding", "floor_divide", "heaviside", "ldexp", "logaddexp",
          "logical_and", "masked_fill", "native_dropout_backward", "nn.functional.batch_norm", "nn.functional.channel_shuffle", "nn.functional.conv2d",
          "nn.functional.interpolate.nearest", "nn.functional.max_unpool2d", "nn.functional.nll_loss", "normal", "roll",
          "softmax", "stack", "sum", "transpose", "where", "xlogy"]


def ordered(x, outwards):
    """The elements of x, with its dimensions in that order in memory."""
    return x.permute(outwards).contiguous().permute([outwards.index(d) for d in range(x.dim())])


def channels_last(x, place):
    return ordered(x, [0, *range(2, x.dim()), 1]) if x.dim() > 2 else ordered(x, list(reversed(range(x.dim()))))


def reversed_dimensions(x, place):
    return ordered(x, list(reversed(range(x.dim()))))


def first_alone(x, place):
    return x if place else channels_last(x, place)


def all_but_the_first(x, place):
    return channels_last(x, place) if place else x


def odd_dimensions_of_one(x, place):
    return x.as_strided(x.shape, [7 if size == 1 else stride for size, stride in zip(x.shape, x.stride())], x.storage_offset())


LAYOUTS = [channels_last, reversed_dimensions, first_alone, all_but_the_first, odd_dimensions_of_one]


def strides_of(function):
    return [tensor.stride() if tensor.layout is torch.strided else None for tensor in function.inputs()]


def dimensions(sample):
    return sum(leaf.dim() for leaf in pytree.tree_leaves((sample.input, sample.args)) if isinstance(leaf, torch.Tensor))


def calls(name):
    """Of some samples, which have many dimensions, those in orders that differ from each other, and from row-major."""
    op = OPERATORS[name]
    samples = sorted(samples_of(op, False, None), key=dimensions, reverse=True)
    for sample in samples[::max(1, len(samples) // SAMPLES)][:SAMPLES]:
        seen = [strides_of(Call(op, sample))]
        for layout in LAYOUTS:
            function = Call(op, sample, layout)
            if (strides := strides_of(function)) not in seen:
                seen.append(strides)
                yield layout.__name__, function


def listed(name):
    return {said for said, operators in op_db_expected.LAYOUT_STRIDES.items() if name in operators}


@pytest.mark.parametrize("name", list(OPERATORS) if ALL else CHOSEN)
def test_strides(name):
    said, wrong = set(), []
    for layout, function in calls(name):
        try:
            said.update(compare(name, function, []))
        except Untraceable:  # test_op_db.py lists which
            pass
        except Exception as error:
            wrong.append(f"{layout}: {type(error).__name__}: {error}\n{[(x.shape, x.stride()) for x in function.inputs()]}")
    assert not wrong, "\n".join(wrong)
    unlisted, missing = said - listed(name), listed(name) - said if ALL else set()
    assert (unlisted, missing) == (set(), set())
