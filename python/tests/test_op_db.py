# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's own table of operators with samples, op_db: values, strides and gradients of each against eager PyTorch, many
samples of an operator in one graph. Some by default, all with TW_ALL_OPERATORS=1. What runs eagerly is listed
with the reason in op_db_expected.py: an operator that is listed and compiles is a failure, too."""
import os

import op_db_expected
import pytest
import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_function
from torch.utils import _pytree as pytree

from tilewright.torch import _backend, _options, _order, _private

invocations = pytest.importorskip("torch.testing._internal.common_methods_invocations")

pytestmark = [pytest.mark.usefixtures("fresh"), pytest.mark.filterwarnings("ignore")]
SAMPLES = 3  # of an operator; all with TW_ALL_OPERATORS
GROUP = 100  # samples in one graph: pooling has more than a thousand

# What memory holds that nobody has written to is not compared.
UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Dropout with p = 1 draws in AOTAutograd's graph, but not in eager PyTorch and in ours.
OTHER_DRAWS = {"nn.functional.dropout"}
# AOTAutograd's graph has other strides in dimensions of one element than eager PyTorch; ours has the graph's.
OTHER_STRIDES = {"linalg.matrix_norm"}
# A few of each family.
CHOSEN = ["_segment_reduce.lengths", "add", "amax", "angle", "bmm", "cat", "cdist", "clamp", "cumsum",
          "diagonal_copy", "div.floor_rounding", "expand", "frexp", "gather", "grid_sampler_2d", "histogram", "i0",
          "igamma", "igammac", "index_add", "linspace.tensor_overload", "logsumexp", "masked_fill",
          "nn.functional.bilinear", "nn.functional.conv2d", "nn.functional.fractional_max_pool2d",
          "nn.functional.gelu", "nn.functional.layer_norm", "nn.functional.pdist", "polygamma.polygamma_n_1",
          "scatter_add", "softmax", "sort", "special.airy_ai", "special.chebyshev_polynomial_u",
          "special.hermite_polynomial_he", "special.legendre_polynomial_p", "special.ndtri",
          "special.shifted_chebyshev_polynomial_w", "std", "transpose", "unsqueeze", "var_mean", "where"]


def by_operator(table):
    return {name: reason for reason, names in table.items() for name in names}


EAGER, UNTRACEABLE = by_operator(op_db_expected.EAGER), by_operator(op_db_expected.UNTRACEABLE)


def full_name(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


OPERATORS = {full_name(op): op for op in invocations.op_db}
ALL = bool(os.environ.get("TW_ALL_OPERATORS"))  # all samples of all operators
NAMES = list(OPERATORS) if ALL else CHOSEN


def samples_of(op):
    """Samples of f32, or i64 where there is no f32; empty where there is neither."""
    dtype = next((each for each in (torch.float32, torch.int64) if op.supports_dtype(each, "cpu")), None)
    if dtype is None:
        return []
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=dtype.is_floating_point and op.supports_autograd))
    return samples if ALL else samples[:SAMPLES]


class AllSamples:
    """A function of all tensors of the samples, which calls the operator once for each sample."""

    def __init__(self, op, samples):
        self.op, self.tensors, self.calls = op, [], []
        for sample in samples:
            leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
            places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
            self.calls.append((leaves, tree, places, len(self.tensors)))
            self.tensors += [leaves[i] for i in places]

    def __call__(self, *tensors):
        results = []
        for leaves, tree, places, begin in self.calls:
            given = list(leaves)
            for offset, place in enumerate(places):
                given[place] = tensors[begin + offset]
            first, args, kwargs = pytree.tree_unflatten(given, tree)
            leaves_of_result = pytree.tree_leaves(self.op.op(first, *args, **kwargs))
            results.append([leaf for leaf in leaves_of_result if isinstance(leaf, torch.Tensor)])
        return results

    def inputs(self):
        """Leaves. Those of two samples that are views of one tensor get memory of their own, in the same strides: AOTAutograd
        takes no views of one tensor that are written to."""
        made, seen = [], set()
        for tensor in self.tensors:
            leaf = tensor.detach()
            place = tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else None
            if place in seen and leaf.numel() and 0 not in leaf.stride():
                leaf = torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype).copy_(leaf)
            seen |= {place} - {None}
            made.append(leaf.requires_grad_(tensor.requires_grad))
        return made


def compiled(function, run):
    options = _options.read(None, {"threads": 1})

    def compiler(kind):
        return lambda graph, inputs: run(graph, kind, options)

    return aot_function(function, fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
                        inference_compiler=compiler("inference"), partition_fn=_private.min_cut(),
                        keep_inference_input_mutations=True)


def as_it_is(graph, kind, options):
    return make_boxed_func(graph.forward)


class Ours:
    """Compiles graphs, and notes whether one draws random numbers."""

    def __init__(self, records):
        self.draws, self.records = False, records

    def __call__(self, graph, kind, options):
        self.draws |= any(map(_order.is_random, graph.graph.nodes))
        return _backend.compile_graph(graph, kind, options, self.records.append)


def gradients(results, inputs):
    ends = [each for sample in results for each in sample if each.requires_grad]
    starts = [each for each in inputs if each.requires_grad]
    if not ends or not starts:
        return []
    made = torch.autograd.grad(ends, starts, [torch.ones_like(each) for each in ends], allow_unused=True)
    return [torch.zeros_like(start) if each is None else each for start, each in zip(starts, made)]


class Untraceable(Exception):
    """AOTAutograd makes no graph, or eager PyTorch has no gradient."""


def compare(name, op, samples, records):
    """Values, strides and gradients of one graph against eager PyTorch."""
    function = AllSamples(op, samples)
    mine, theirs = function.inputs(), function.inputs()
    ours = Ours(records)
    fast = compiled(function, ours)
    try:
        fast(*mine)
    except Exception as error:
        raise Untraceable(str(error)) from error
    state = torch.get_rng_state()
    results = fast(*mine)
    torch.set_rng_state(state)
    # The table's own functions seed the generator in each call, which graphs do not.
    as_graph = ours.draws or name in OTHER_STRIDES
    expected = (compiled(function, as_it_is) if as_graph else function)(*theirs)
    for number, (a, b) in enumerate(zip(results, expected, strict=True)):
        for x, y in zip(a, b, strict=True):
            assert x.shape == y.shape and (x.stride() == y.stride() or x.numel() == 0), samples[number]
            if name not in UNDEFINED | OTHER_DRAWS:
                torch.testing.assert_close(x.detach(), y.detach(), rtol=2e-4, atol=1e-4, equal_nan=True,
                                           msg=lambda text: f"{text}\n{samples[number]}")
    try:
        wanted = gradients(expected, theirs)
    except RuntimeError as error:
        raise Untraceable(str(error)) from error  # by eager PyTorch, either
    for x, y in zip(gradients(results, mine), wanted, strict=True):
        if name not in OTHER_DRAWS:
            torch.testing.assert_close(x, y, rtol=1e-3, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_operator(name):
    op = OPERATORS[name]
    samples = samples_of(op)
    if not samples:
        pytest.skip("it has neither f32 nor i64")
    records = []
    try:
        for begin in range(0, len(samples), GROUP):
            compare(name, op, samples[begin:begin + GROUP], records)
    except Untraceable as error:
        assert name in UNTRACEABLE and UNTRACEABLE[name] in str(error), str(error)
        return
    assert name not in UNTRACEABLE
    eager = [line for record in records for line in record.eager]
    if name in EAGER:
        # The samples of which it is said need not be among the first ones.
        is_said = any(EAGER[name] in line for line in eager) or (not eager and not ALL)
        assert is_said, f"it is listed as eager, but: {eager}"
    else:
        assert eager == []
