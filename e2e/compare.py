# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares one result with PyTorch's by the rules of tolerances.json."""

import json
import math
import pathlib

RULES = json.loads((pathlib.Path(__file__).parent / "tolerances.json").read_text())
ULP = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7, "f64": 2.0**-52}


def tolerance(dtype: str, reduction: int, scale: float) -> tuple[float, float]:
    """Relative and absolute tolerance for values up to `scale` that are sums of `reduction` terms."""
    rule = RULES.get(dtype, RULES["i64"])
    return rule["relative"], rule["scaled"] * math.sqrt(max(1, reduction)) * scale


def largest(values: list) -> float:
    """The largest finite magnitude."""
    return max((abs(value) for value in values if math.isfinite(value)), default=0.0)


def equal(got, want, relative: float, absolute: float) -> bool:
    if got == want:
        return True
    if not (math.isfinite(got) and math.isfinite(want)):
        return math.isnan(got) and math.isnan(want)
    return abs(got - want) <= absolute + relative * abs(want)


def difference(got: list, want: list, dtype: str, reduction: int) -> str | None:
    """What differs from eager PyTorch, or None."""
    relative, absolute = tolerance(dtype, reduction, largest(want))
    wrong = [i for i, (a, b) in enumerate(zip(got, want)) if not equal(a, b, relative, absolute)]
    if not wrong:
        return None
    worst = max(wrong, key=lambda i: abs(got[i] - want[i]) if math.isfinite(got[i] - want[i]) else math.inf)
    return (f"{len(wrong)} of {len(want)} values differ, most at #{worst}: got {got[worst]:.9g}, "
            f"PyTorch {want[worst]:.9g}, allowed {absolute + relative * abs(want[worst]):.3g}")


def distance(values: list, exact: list) -> float:
    """The maximum norm of the difference where the exact value is finite."""
    return max((abs(a - b) for a, b in zip(values, exact) if math.isfinite(b)), default=0.0)


def inaccuracy(got: list, want: list, exact: list, dtype: str, graph: float, reduction: int = 1) -> str | None:
    """How the result breaks the rule on the distance from double precision, or None; `graph` is the
    distance of the exported graph as PyTorch runs it where that is larger than the module's;
    `reduction`: terms of the longest sums."""
    rule = RULES["f64_rule"]
    ours, eager = distance(got, exact), max(distance(want, exact), graph)
    if not math.isfinite(eager):
        return None
    ulps = max(rule["floor_ulps"], math.sqrt(reduction))
    allowed = max(rule["factor"] * eager, ulps * ULP[dtype] * largest(exact))
    if ours <= allowed:
        return None
    return f"{ours:.3g} from double precision; eager PyTorch is {eager:.3g} from it, allowed are {allowed:.3g}"


def is_noise(want: list, exact: list) -> bool:
    """Whether eager PyTorch's result has no correct digit, such as the gradient of the bias of keys,
    which cancels in the softmax."""
    eager = distance(want, exact)
    return math.isfinite(eager) and eager > RULES["noise_rule"]["factor"] * largest(exact)


def noise(got: list, want: list, exact: list) -> str | None:
    """How a result of nothing but rounding errors is larger than such errors are, or None."""
    ours, allowed = distance(got, exact), RULES["noise_rule"]["allowed"] * distance(want, exact)
    return None if ours <= allowed else f"{ours:.3g} instead of rounding errors, of which {allowed:.3g} are allowed"
