# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operators. A template draws operands from a draft and adds one line to it."""

from draft import FLOATS, INTEGERS, Draft

SMOOTH = """abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh
acosh atanh erf erfc erfinv sigmoid reciprocal square lgamma digamma sinc deg2rad logit positive""".split()
ACTIVATIONS = """relu silu gelu mish softplus hardswish hardsigmoid hardtanh elu celu selu leaky_relu logsigmoid
tanhshrink softsign relu6 softshrink""".split()
JUMPING = "sign floor ceil round trunc frac isnan isinf isfinite signbit sgn logical_not isneginf isposinf".split()
SMOOTH_PAIRS = "add sub mul div maximum minimum fmax fmin atan2 hypot logaddexp logaddexp2 rsub".split()
JUMPING_PAIRS = """remainder fmod floor_divide eq ne lt le gt ge copysign logical_and logical_or logical_xor
heaviside""".split()
BITS = "bitwise_and bitwise_or bitwise_xor".split()


def smooth(draft: Draft) -> None:
    x = draft.floating()
    name = draft.choice(SMOOTH)
    operand = f"{x}.abs()" if name in ("lgamma", "digamma") else x  # far left a float is at a pole or beside it
    draft.assign(f"torch.{name}({operand})", [x])


def activation(draft: Draft) -> None:
    x = draft.floating()
    arguments = ", approximate='tanh'" if draft.chance(0.3) else ""
    name = "gelu" if arguments else draft.choice(ACTIVATIONS)
    draft.assign(f"F.{name}({x}{arguments})", [x], exact=name in ("relu", "hardtanh", "relu6"))


def jumping(draft: Draft) -> None:
    x = draft.floating(exact=True)
    name = draft.choice(JUMPING)
    operand = f"{x}.nan_to_num()" if name == "signbit" else x  # NaN may have either sign
    draft.assign(f"torch.{name}({operand})", [x], exact=True)


def pair(draft: Draft) -> None:
    x = draft.any()
    y = draft.beside(x)
    draft.assign(f"torch.{draft.choice(SMOOTH_PAIRS)}({x}, {y})", [x, y])


def with_number(draft: Draft) -> None:
    x = draft.any()
    operator = draft.choice(["{x} + {n}", "{n} - {x}", "{x} * {n}", "{x} / {n}", "{n} / {x}",
                             "torch.add({x}, {x}, alpha={n})"])
    draft.assign(operator.format(x=x, n=draft.number()), [x])


def jumping_pair(draft: Draft) -> None:
    x = draft.floating(exact=True)
    if draft.chance(0.3):
        draft.assign(f"torch.{draft.choice(JUMPING_PAIRS[:9])}({x}, {draft.number()})", [x], exact=True)
        return
    y = draft.beside(x, lambda v: v.is_float and v.exact)
    name = draft.choice(JUMPING_PAIRS)
    operand = f"{y}.nan_to_num()" if name == "copysign" else y
    draft.assign(f"torch.{name}({x}, {operand})", [x, y], exact=True)


def integers(draft: Draft) -> None:
    x = draft.integer()
    y = draft.beside(x, lambda v: not v.is_float and not v.is_bool)
    text = draft.choice(["{x} + {y}", "{x} - {y}", "{x} * {y}", "torch.floor_divide({x}, {y} | 1)",
                         "torch.remainder({x}, {y} | 1)", "torch.fmod({x}, {y} | 1)", "torch.maximum({x}, {y})",
                         "torch.gcd({x}, {y})", "torch.lcm({x}, {y})", "{x} << ({y} & 3)", "{x} >> ({y} & 3)",
                         "{x} < {y}", "{x} == {y}", "torch.abs({x})", "~{x}", "{x} ** 2", "{x} // 3", "{x} % 5"]
                        + [f"torch.{name}({{x}}, {{y}})" for name in BITS])
    draft.assign(text.format(x=x, y=y), [x, y], exact=True)


def power(draft: Draft) -> None:
    x = draft.floating()
    draft.assign(f"{x} ** {draft.choice(['2', '3', '0.5', '-1', '-0.5', '1.7', '0'])}", [x])


def three(draft: Draft) -> None:
    x = draft.floating()
    y = draft.beside(x, lambda v: v.dtype == x.dtype)
    z = draft.beside(x, lambda v: v.dtype == x.dtype)
    text = draft.choice(["torch.lerp({x}, {y}, 0.3)", "torch.addcmul({x}, {y}, {z}, value=0.5)",
                         "torch.addcdiv({x}, {y}, {z})", "torch.clamp({x}, {y}, {z})", "torch.lerp({x}, {y}, {z})"])
    draft.assign(text.format(x=x, y=y, z=z), [x, y, z])


def choose(draft: Draft) -> None:
    condition = draft.pick(lambda v: v.is_bool and v.exact)
    x = draft.beside(condition)
    y = draft.beside(x, lambda v: v.dtype == x.dtype)
    text = draft.choice(["torch.where({c}, {x}, {y})", "{x}.masked_fill({c}, {n})", "torch.where({c}, {x}, {n})"])
    draft.assign(text.format(c=condition, x=x, y=y, n=draft.choice(["0", "1", "-2"])), [condition, x, y], exact=True)


def clamp(draft: Draft) -> None:
    x = draft.any()
    draft.assign(f"{x}.clamp({draft.choice(['-1, 1', 'min=0', 'max=2', '0.5, 0.25'])})", [x], exact=True)


def cast(draft: Draft) -> None:
    x = draft.any()
    to = draft.choice(FLOATS + INTEGERS)
    if to in INTEGERS and x.is_float:
        if not x.exact:
            x = draft.floating(exact=True)
        draft.assign(f"{x}.nan_to_num(0, 9, -9).clamp(0, 100).to({to})", [x], exact=True)
    else:
        draft.assign(f"{x}.to({to})", [x], exact=True)


def new(draft: Draft) -> None:
    """A constant, with sizes of another value or of its own."""
    x = draft.any()
    shape = draft.shape()
    text = draft.choice(["torch.zeros({s})", "torch.ones({s}, dtype={d})", "torch.full({s}, 2.5)", "torch.zeros_like({x})",
                         "torch.full_like({x}, 3)", "torch.arange({n})", "torch.linspace(-1, 1, {n})",
                         "torch.eye({m})", "{w}"])
    draft.assign(text.format(s=shape, d=draft.choice(FLOATS + INTEGERS), x=x, n=draft.choice([1, 2, 5, 16, 33]),
                             m=draft.choice([1, 3, 8]), w=draft.buffer(draft.data(shape, draft.dtype())) + ".clone()"),
                 [], exact=True)


TEMPLATES = {smooth: 8, activation: 4, jumping: 3, pair: 10, with_number: 4, jumping_pair: 4, integers: 5, power: 2,
             three: 3, choose: 4, clamp: 2, cast: 4, new: 3}
