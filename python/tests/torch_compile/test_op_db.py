# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's own table of operators with samples, op_db: values, strides and gradients of each sample against eager PyTorch.
Some by default, all with TW_ALL_OPERATORS=1, and then each sample once more with memory that has gaps. What runs eagerly, of
what torch makes no graph, and where torch's graphs have other strides than eager PyTorch is listed with the reason in
op_db_expected.py: an operator that is listed and compiles, or for another reason does not, is a failure, too."""
import collections
import os
import re

import op_db_expected
import pytest
import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_function
from torch.utils import _pytree as pytree

from tilewright.torch import _backend, _options, _order, _private, _strides

invocations = pytest.importorskip("torch.testing._internal.common_methods_invocations")

pytestmark = [pytest.mark.usefixtures("fresh"), pytest.mark.filterwarnings("ignore")]
SAMPLES = 3  # of an operator; all with TW_ALL_OPERATORS

# What memory holds that nobody has written to is not compared.
UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Dropout with p = 1 draws in AOTAutograd's graph, but not in eager PyTorch and in ours.
OTHER_DRAWS = {"nn.functional.dropout"}
# A few of each family.
CHOSEN = ["_segment_reduce.lengths", "add", "amax", "angle", "bernoulli", "bmm", "cat", "cdist", "clamp", "cumsum",
          "diagonal_copy", "div.floor_rounding", "expand", "frexp", "gather", "grid_sampler_2d", "histogram", "i0",
          "igamma", "igammac", "index_add", "linspace.tensor_overload", "logsumexp", "linalg.det", "masked_fill", "masked_select",
          "nn.functional.bilinear", "nn.functional.conv2d", "nn.functional.fractional_max_pool2d",
          "nn.functional.gelu", "nn.functional.layer_norm", "nn.functional.pdist", "polygamma.polygamma_n_1",
          "scatter_add", "sgn", "softmax", "sort", "special.airy_ai", "special.chebyshev_polynomial_u",
          "special.hermite_polynomial_he", "special.legendre_polynomial_p", "special.ndtri",
          "special.shifted_chebyshev_polynomial_w", "std", "transpose", "unsafe_chunk", "unsqueeze", "var_mean", "where"]


def counts_by_operator(always, sometimes):
    """For each operator of the table (what is said of samples, of how many of them; None for all)."""
    counts = collections.defaultdict(dict)
    for said, names in always.items():
        for name in names:
            counts[name][said] = None
    for said, names in sometimes.items():
        for name, count in names.items():
            counts[name][said] = count
    return counts


def lines(table):
    return {f"{operator}: {reason}": names for reason, operators in table.items() for operator, names in operators.items()}


EAGER = counts_by_operator(lines(op_db_expected.EAGER), lines(op_db_expected.SOMETIMES_EAGER))
UNTRACEABLE = counts_by_operator(op_db_expected.UNTRACEABLE, op_db_expected.SOMETIMES_UNTRACEABLE)
STRIDES = counts_by_operator({}, op_db_expected.STRIDES)
# With gaps: (what is said, of how many samples) where it is said of others than without.
GAPS_EAGER = counts_by_operator({}, lines(op_db_expected.GAPS_EAGER))
GAPS_UNTRACEABLE = counts_by_operator({}, op_db_expected.GAPS_UNTRACEABLE)
GAPS_STRIDES = counts_by_operator({}, op_db_expected.GAPS_STRIDES)


def full_name(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


OPERATORS = {full_name(op): op for op in invocations.op_db}
ALL = bool(os.environ.get("TW_ALL_OPERATORS"))  # all samples of all operators
NAMES = list(OPERATORS) if ALL else CHOSEN


def samples_of(op, have_gaps, count=None if ALL else SAMPLES):
    """The first samples, or all, of f32, or of i64 where there is no f32; empty where there is neither. Where they
    `have_gaps`, each element is in memory beside one that nobody may read."""
    dtype = next((each for each in (torch.float32, torch.int64) if op.supports_dtype(each, "cpu")), None)
    if dtype is None:
        return []
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=dtype.is_floating_point and op.supports_autograd))
    samples = samples[:count]
    if not have_gaps:
        return samples
    return [sample.noncontiguous() for sample in samples if all(
        leaf.layout is torch.strided for leaf in pytree.tree_leaves((sample.input, sample.args)) if isinstance(leaf, torch.Tensor))]


class Call:
    """A function of a sample's tensors that calls the operator. `layout`, where there is one, gives a tensor by its place
    among them other memory."""

    def __init__(self, op, sample, layout=None):
        self.op, self.layout = op, layout
        self.leaves, self.tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.places = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]

    def __call__(self, *tensors):
        given = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            given[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(given, self.tree)
        return [leaf for leaf in pytree.tree_leaves(self.op.op(first, *args, **kwargs)) if isinstance(leaf, torch.Tensor)]

    def inputs(self):
        """Leaves. Of those that are views of one tensor the later ones get memory of their own, in the same strides:
        AOTAutograd takes no views of one tensor that are written to."""
        made, seen = [], set()
        for tensor in (self.leaves[i] for i in self.places):
            leaf = tensor.detach()
            place = tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else None
            if place in seen and leaf.numel() and 0 not in leaf.stride():
                leaf = torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype).copy_(leaf)
            seen |= {place} - {None}
            if self.layout is not None and leaf.layout is torch.strided and leaf.numel():
                leaf = self.layout(leaf, len(made)).detach()
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
        self.draws, self.records, self.in_eager = False, records, _strides.InEager()

    def __call__(self, graph, kind, options):
        self.draws |= any(map(_order.is_random, graph.graph.nodes))
        return _backend.compile_graph(graph, kind, options, self.records.append, self.in_eager)


def gradients(results, inputs):
    ends = [each for each in results if each.requires_grad]
    starts = [each for each in inputs if each.requires_grad]
    if not ends or not starts:
        return []
    made = torch.autograd.grad(ends, starts, [torch.ones_like(each) for each in ends], allow_unused=True)
    return [torch.zeros_like(start) if each is None else each for start, each in zip(starts, made)]


class Untraceable(Exception):
    """AOTAutograd makes no graph, or eager PyTorch has no result or gradient."""

    def __init__(self, error):
        super().__init__(str(error).partition("\n")[0])


def strides_of(tensors):
    """Those of tensors without elements say nothing."""
    return [tensor.stride() if tensor.numel() else None for tensor in tensors]


def strides_of_the_graph(function):
    """Of the results, and of the gradients, that AOTAutograd's graphs give where PyTorch runs them."""
    inputs = function.inputs()
    results = compiled(function, as_it_is)(*inputs)
    return strides_of(results), strides_of(gradients(results, inputs))


def other_strides(function, ours, theirs):
    """What is said of results and gradients with other strides than eager PyTorch's: nothing, or that AOTAutograd's graph has
    them. Raises AssertionError where they are of our making."""
    said = []
    for what, got, expected, place in zip(("results", "gradients"), ours, theirs, range(2)):
        if got != expected:
            assert got == strides_of_the_graph(function)[place], f"strides of {what}: {got}, and eager {expected}"
            said.append(f"AOTAutograd's graph gives {what} with these strides")
    return said


def compare(name, function, records):
    """Values, strides and gradients of one sample's Call against eager PyTorch. What is said of the strides."""
    mine, theirs = function.inputs(), function.inputs()
    ours = Ours(records)
    fast = compiled(function, ours)
    try:
        fast(*mine)
    except Exception:
        try:
            compiled(function, as_it_is)(*theirs)
        except Exception as error:
            raise Untraceable(error) from error
        raise  # it is ours
    state = torch.get_rng_state()
    results = fast(*mine)
    torch.set_rng_state(state)
    # The table's own functions seed the generator in each call, which graphs do not.
    try:
        expected = (compiled(function, as_it_is) if ours.draws else function)(*theirs)
    except RuntimeError as error:
        raise Untraceable(error) from error  # by eager PyTorch itself
    for x, y in zip(results, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype), f"{x.dtype} {list(x.shape)}, and eager {y.dtype} {list(y.shape)}"
        if name not in UNDEFINED | OTHER_DRAWS:
            torch.testing.assert_close(x.detach(), y.detach(), rtol=2e-4, atol=1e-4, equal_nan=True)
    try:
        wanted = gradients(expected, theirs)
    except RuntimeError as error:
        raise Untraceable(error) from error  # by eager PyTorch, either
    got = gradients(results, mine)
    for x, y in zip(got, wanted, strict=True):
        if name not in OTHER_DRAWS:
            torch.testing.assert_close(x, y, rtol=1e-3, atol=1e-3, equal_nan=True)
    return other_strides(function, (strides_of(results), strides_of(got)), (strides_of(expected), strides_of(wanted)))


PLACE = re.compile(r" \(\S+:\d+ \w+\)$")


class Outcome:
    """What becomes of an operator's samples. eager, untraceable, strides: what is said of them; wrong: each sample that
    differs from eager PyTorch, and how."""

    def __init__(self, name, have_gaps):
        op = OPERATORS[name]
        self.eager, self.untraceable, self.strides, self.wrong = collections.Counter(), collections.Counter(), collections.Counter(), []
        self.samples = samples_of(op, have_gaps)
        for number, sample in enumerate(self.samples):
            records = []
            try:
                self.strides.update(compare(name, Call(op, sample), records))
            except Untraceable as error:
                self.untraceable[str(error)] += 1
            except Exception as error:  # the other samples are looked at, too
                self.wrong.append(f"sample {number}: {type(error).__name__}: {error}\n{sample}")
            self.eager.update({PLACE.sub("", line) for record in records for line in record.eager})


def check(found, listed, samples):
    """What is said of so many samples is what is listed. Of which samples it is sometimes said, is known of all alone."""
    sometimes = set() if ALL else {said for said, count in listed.items() if count is not None}
    assert {said: count for said, count in found.items() if said not in sometimes} == {
        said: samples if count is None else count for said, count in listed.items() if said not in sometimes}


def listed(always, with_gaps, have_gaps):
    """What is listed of an operator's samples; with gaps the same, but for what is listed of these."""
    found = {**always, **with_gaps} if have_gaps else always
    return {said: count for said, count in found.items() if count != 0}


@pytest.mark.parametrize("name, have_gaps", [(name, have_gaps) for name in NAMES for have_gaps in ((False, True) if ALL else (False,))])
def test_operator(name, have_gaps):
    outcome = Outcome(name, have_gaps)
    if not outcome.samples:
        pytest.skip("it has neither f32 nor i64")
    assert not outcome.wrong, "\n".join(outcome.wrong)
    for found, always, with_gaps in ((outcome.eager, EAGER, GAPS_EAGER), (outcome.untraceable, UNTRACEABLE, GAPS_UNTRACEABLE),
                                     (outcome.strides, STRIDES, GAPS_STRIDES)):
        check(found, listed(always[name], with_gaps[name], have_gaps), len(outcome.samples))
