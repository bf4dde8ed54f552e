# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model should give, and how far from it a correct compiler can be.

PyTorch says what is right, which runs the exported program. How much rounding matters is measured on the
model itself: it is run several times with every result that is computed (not moved) changed by a unit in
its last place, and in double precision. The runs also differ in what implementations are free to choose: the sign of a zero that
was compared with the other zero, and what becomes of infinities that meet inside of a function. Elements
that such noise makes infinite, NaN, or another integer are left out."""

import math

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

ULP = {torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7, torch.float64: 2.0**-52}
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
RUNS = 8
# Units in the last place, and how many times what noise changes. No run is more exact than PyTorch's
# own sums in f64.
ULPS, TIMES = {torch.float64: 256}, {torch.float64: 32}
FEWEST_ULPS, FEWEST_TIMES = 16, 8
# These choose by comparing, and 0 and -0 are equal: either may come where there is a -0.
CHOOSING = set("""max min amax amin aminmax kthvalue median sort topk cummax cummin clamp clamp_min clamp_max maximum
minimum fmax fmin relu hardtanh max_pool1d max_pool2d max_pool3d max_pool2d_with_indices
max_pool3d_with_indices""".split())
# These compute, even where each result happens to be an element of an operand or zero.
COMPUTING = set("""_cdist_forward _euclidean_dist addbmm addmm addmv baddbmm bmm convolution cumprod cumsum dot
einsum linear logsumexp mean mm mv native_group_norm native_layer_norm nll_loss nll_loss_forward norm prod std std_mean sum var var_mean vdot
linalg_vector_norm nansum _native_batch_norm_legit_no_training""".split())
# What is near zero here is a difference of what is not.
CANCELLING = {"lgamma", "logaddexp", "logaddexp2", "mvlgamma"}
# These take the logarithm of what may be near one.
NEAR_ONE = {"_log_softmax", "logsumexp"}
# Added up in one chain, equal terms are all rounded in one direction, which noise does not show.
SUMMING = {"mean", "nansum", "sum"}
PARTS_OF_CHAIN = 8
# PyTorch takes squares in f64 here.
SQUARING = {"linalg_vector_norm", "norm", "std", "std_mean", "var", "var_mean"}


def is_float(value) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


class Noise(TorchDispatchMode):
    """Changes what operators compute by up to one unit in the last place; the operands too of those
    that sum, so that a sum which cancels moves as much as its terms."""

    def __init__(self, seed: int):
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)
        self.flips_all = seed == 0  # zeros, so that whether one flips is not left to chance
        # In all combinations among the runs: infinities rather than NaN, and products as they come (and sums
        # that are rounded up).
        self.gives_infinities, self.keeps_products = seed % 2 == 0, seed // 2 % 2 == 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        schema = func._schema
        name = schema.name.removeprefix("aten::")
        if schema.is_mutable and name.removesuffix("_") in CHOOSING:
            had_zero = self.has_negative_zero(args)
            result = func(*args, **kwargs)
            return result.copy_(self.either_zero(result)) if is_float(result) and had_zero else result
        if schema.is_mutable or any(result.alias_info for result in schema.returns):
            return func(*args, **kwargs)
        operands = [x for x in pytree.tree_leaves((args, kwargs)) if is_float(x)]
        result = func(*args, **kwargs)
        if not operands:
            return result
        if name in CHOOSING:
            return pytree.tree_map(self.either_zero, result) if self.has_negative_zero(args) else result
        if name not in COMPUTING and self.moves(func, operands, result):
            return result
        # In f64 there is no more exact run to tell what cancels inside of a function.
        is_wide = any(x.dtype == torch.float64 for x in operands)
        if is_wide or torch.Tag.pointwise not in func.tags or name in CANCELLING:
            args, kwargs = pytree.tree_map(self.noisy, (args, kwargs))
            result = func(*args, **kwargs)
        if torch.Tag.pointwise not in func.tags:
            bounded = func(*pytree.tree_map(self.without_infinities, args), **kwargs)
            result = pytree.tree_map(self.any_kind, result, bounded)
        if name in CANCELLING and self.flips_all:
            result = self.cancelled(result, operands)
        if name in NEAR_ONE:
            result = result + self.noisy(torch.ones_like(result)) - 1
        if name in SUMMING:
            result = self.in_a_chain(result, operands[0], func(operands[0].abs(), *args[1:], **kwargs))
        if name in SQUARING:
            result = pytree.tree_map(self.out_of_range, result)
        if name == "prod":
            result = self.any_order(result, operands[0], args[1:], kwargs)
        return pytree.tree_map(self.noisy, result)

    @staticmethod
    def without_infinities(value):
        if not is_float(value):
            return value
        large = torch.finfo(value.dtype).max ** 0.25  # such that products of some are finite
        return value.clamp(-large, large)  # which keeps NaN

    def any_kind(self, result, bounded):
        """A NaN that large numbers would not give comes from infinities that meet inside of a function
        of many elements. Whether they do depends on how it computes: a mean may be a sum or be updated
        by differences."""
        if not is_float(result):
            return result
        other = torch.tensor([math.inf, -math.inf], dtype=result.dtype)
        drawn = other[torch.randint(0, 2, result.shape, generator=self.generator)]
        return torch.where(result.isnan() & ~bounded.isnan(), drawn, result)

    @staticmethod
    def cancelled(value, operands):
        """With zeros for what is so small beside the operands that it may be one."""
        largest = sum(x.abs() for x in operands)
        return torch.where(value.abs() <= 4 * ULP[value.dtype] * largest, 0, value)

    def in_a_chain(self, value, terms, of_sizes):
        """With the error of a sum in one chain, as a part of `of_sizes`, the sum of the terms' sizes; in
        one run zero for what is no larger than what its terms lose."""
        count = terms.numel() / max(value.numel(), 1)
        unit = ULP[value.dtype] * count / PARTS_OF_CHAIN
        sign = 1 if self.keeps_products else -1
        changed = value + sign * unit * of_sizes
        if self.flips_all:
            changed = torch.where(value.abs() <= 4 * ULP[value.dtype] * of_sizes, 0, value)
        return torch.where(of_sizes.isfinite(), changed, value).to(value.dtype)

    def out_of_range(self, value):
        """With infinities or NaN and zeros for what has squares that the dtype does not hold."""
        if not is_float(value):
            return value
        limits = torch.finfo(value.dtype)
        large = torch.tensor(math.inf if self.gives_infinities else math.nan, dtype=value.dtype)
        value = torch.where(value.abs() > limits.max**0.5 / 1000, large.copysign(value), value)
        return torch.where(value.abs() < limits.smallest_normal**0.5 * 1000, 0, value)

    def any_order(self, product, factors, args, kwargs):
        """With NaN where it depends on the order of the factors whether a part of them leaves the
        range of the dtype."""
        if self.keeps_products:
            return product
        sizes = factors.abs()
        large = torch.prod(sizes.clamp(min=1), *args, **kwargs)
        small = torch.prod(torch.where(sizes == 0, 1, sizes.clamp(max=1)), *args, **kwargs)
        return torch.where(large.isinf() | (small < torch.finfo(small.dtype).smallest_normal), math.nan, product)

    @staticmethod
    def has_negative_zero(args) -> bool:
        return any(bool((x.signbit() & (x == 0)).any()) for x in pytree.tree_leaves(args) if is_float(x))

    def either_zero(self, value):
        if not is_float(value):
            return value
        flips = (torch.rand(value.shape, generator=self.generator) < 0.5) | self.flips_all
        return torch.where((value == 0) & flips, -value, value)

    @staticmethod
    def moves(func, operands, result) -> bool:
        """Whether each element of the results is one of the operands'."""
        if func._schema.name == "aten::_to_copy":
            return True
        for out in filter(is_float, pytree.tree_leaves(result)):
            bits = BITS[out.element_size()]
            known = [x.contiguous().view(bits).flatten() for x in operands if x.dtype == out.dtype]
            known.append(torch.zeros(1, dtype=bits))
            if not torch.isin(out.contiguous().view(bits), torch.cat(known)).all():
                return False
        return True

    def noisy(self, value):
        if not is_float(value):
            return value
        unit = torch.randint(-1, 2, value.shape, generator=self.generator, dtype=torch.float64) * ULP[value.dtype]
        changed = (value.double() * (1 + unit)).to(value.dtype)
        flipped = torch.where((unit < 0) | self.flips_all, -value, value)
        return torch.where(value == 0, flipped, torch.where(changed.isfinite(), changed, value))


def kinds(x: torch.Tensor) -> torch.Tensor:
    """0 for finite, 1 for NaN, 2 and 3 for the infinities."""
    return x.isnan() + 2 * x.isposinf() + 3 * x.isneginf()


class Expected:
    """One output: the eager result, what to allow, and which elements say nothing."""

    def __init__(self, eager: torch.Tensor, noisy: list[torch.Tensor], double: torch.Tensor | None):
        self.tensor = eager
        self.relative = self.absolute = 0.0
        if not eager.dtype.is_floating_point:
            self.skipped = torch.zeros(eager.shape, dtype=torch.bool)
            for other in noisy:
                self.skipped |= other != eager
            return
        exact = double.double() if double is not None and double.shape == eager.shape else eager.double()
        value, others = eager.double(), [other.double() for other in noisy]
        self.skipped = kinds(eager) != kinds(exact)
        deviation = (value - exact).abs().nan_to_num(0, 0, 0)
        for other in others:
            self.skipped |= kinds(other) != kinds(value)
            deviation = torch.maximum(deviation, (other - value).abs().nan_to_num(0, 0, 0))
        unit = ULP[eager.dtype]
        self.relative = ULPS.get(eager.dtype, FEWEST_ULPS) * unit
        beyond = (deviation - 2 * unit * value.abs().nan_to_num(0, 0, 0)).clamp(min=0)
        beyond = torch.where(self.skipped, 0, beyond)
        times, largest = TIMES.get(eager.dtype, FEWEST_TIMES), beyond.max().item() if beyond.numel() else 0.0
        self.absolute = times * largest + 8 * torch.finfo(eager.dtype).smallest_normal * unit

    @property
    def is_unstable(self) -> bool:
        """Whether it says too little about the values to be compared."""
        if not self.tensor.numel():
            return False
        finite = self.tensor.double().nan_to_num(0, 0, 0).abs().max().item()
        return bool(self.skipped.double().mean() > 0.5) or (self.absolute > 0.1 * finite > 0) or math.isinf(self.absolute)


def expectations(module, double, inputs: list[torch.Tensor]) -> list[Expected]:
    """Of one call of an exported program's module. `double` runs it in double precision. Raises where it does."""
    def run(mode=None):
        fresh = [x.clone() for x in inputs]
        with torch.no_grad():
            if mode is None:
                return module(*fresh)
            with mode:
                return module(*fresh)
    eager = run()
    noisy = [run(Noise(seed)) for seed in range(RUNS)]
    try:
        wide = double([x.clone() for x in inputs])
    except Exception:  # not every operator takes f64 where it takes another dtype
        wide = [None] * len(eager)
    return [Expected(*parts) for parts in zip(eager, zip(*noisy), wide, strict=True)]
