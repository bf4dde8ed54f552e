# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operators."""

import torch
from torch.nn import functional as F

from .family import family

FLOATS = {"x": "f32[7,5]", "h": "f16[7,5]", "b": "bf16[7,5]", "d": "f64[7,5]"}


def call(name: str):
    return getattr(torch, name)


@family(**FLOATS, scalar="f32[]", one="f32[1]", none="f32[0,3]")
def rounding(case, x, h, b, d, scalar, one, none):
    for name in ("abs neg ceil floor round trunc frac sign sgn signbit reciprocal square relu positive").split():
        function = call(name)
        for key, value in {"f32": x, "f16": h, "bf16": b, "f64": d, "scalar": scalar, "one": one, "empty": none,
                           "transposed": x.t(), "strided": x[1::2, ::3]}.items():
            if key in ("f32", "f16") or name in ("round", "sign", "neg"):
                case(f"{name} {key}", function(value * 3 if key in ("f32", "transposed") else value))
    case("round half", torch.round(torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])))
    case("round decimals", torch.round(x, decimals=2))


@family(p="f32[7,5]>0", x="f32[7,5]", h="f16[7,5]>0", b="bf16[7,5]>0", d="f64[5]>0", n="i64[5]<6")
def exponentials(case, p, x, h, b, d, n):
    for name in "exp exp2 expm1".split():
        for key, value in {"f32": x * 4, "f16": h, "bf16": b, "f64": d, "i64": n, "strided": x.t()[::2]}.items():
            case(f"{name} {key}", call(name)(value))
    for name in "log log2 log10 log1p sqrt rsqrt".split():
        for key, value in {"f32": p * 8, "f16": h, "bf16": b, "f64": d, "i64": n + 1}.items():
            case(f"{name} {key}", call(name)(value))
    special = torch.tensor([0.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-30, -0.0, 88.0, 104.0, -104.0])
    for name in "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt".split():
        case(f"{name} special", call(name)(special))


@family(x="f32[7,5]", u="f32[5,7]~0.3", h="f16[5]~0.3", b="bf16[5]~0.3", d="f64[5]~0.3", n="i64[3]<2")
def trigonometry(case, x, u, h, b, d, n):
    for name in "sin cos tan asin acos atan sinh cosh tanh asinh atanh".split():
        for key, value in {"f32": u.clamp(-0.99, 0.99), "f16": h, "bf16": b, "f64": d, "i64": n}.items():
            if (name, key) != ("atanh", "i64"):
                case(f"{name} {key}", call(name)(value))
    for key, value in {"f32": x.abs() + 1, "f64": d.abs() + 1}.items():
        case(f"acosh {key}", torch.acosh(value))
    case("sin large", torch.sin(x * 1000))
    case("cos large", torch.cos(x * 1000))
    case("tanh large", torch.tanh(x * 20))
    case("atan2", torch.atan2(x, u.t()))
    case("atan2 quadrants", torch.atan2(torch.tensor([0.0, -0.0, 0.0, -0.0, 1.0, -1.0]),
                                        torch.tensor([1.0, 1.0, -1.0, -1.0, 0.0, 0.0])))
    case("deg2rad", torch.deg2rad(x))
    case("rad2deg", torch.rad2deg(x))
    case("sinc", torch.sinc(x))


@family(x="f32[7,5]", p="f32[7,5]>0", h="f16[5]", b="bf16[5]", d="f64[5]")
def special_functions(case, x, p, h, b, d):
    for name in "erf erfc sigmoid".split():
        for key, value in {"f32": x, "f16": h, "bf16": b, "f64": d, "wide": x * 6, "strided": x[:, 1:4].t()}.items():
            case(f"{name} {key}", call(name)(value))
    case("logit", torch.logit(torch.sigmoid(x)))
    case("logit eps", torch.logit(x, eps=0.1))
    case("xlogy", torch.xlogy(p, p.flip(0)))
    case("logaddexp", torch.logaddexp(x, p))
    case("logaddexp2", torch.logaddexp2(x, p))
    case("hypot", torch.hypot(x, p))
    case("heaviside", torch.heaviside(x.round(), p))
    case("erfinv", torch.erfinv(torch.tanh(x)))
    case("lgamma", torch.lgamma(p + 1))
    case("nan_to_num", torch.nan_to_num(torch.log(x), nan=7.0, posinf=8.0, neginf=-9.0))
    case("ldexp", torch.ldexp(x, torch.tensor([1, -2, 3, 0, 5])))


@family(x="f32[5,3]", p="f32[5,3]>0", e="f32[5,3]", h="f16[3]>0", d="f64[3]>0", n="i64[4]<5", m="i32[4]<4")
def powers(case, x, p, e, h, d, n, m):
    for exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5):
        case(f"p ** {exponent}", p**exponent)
    for exponent in (2, 3, -1, 5):
        case(f"x ** {exponent}", x**exponent)
        case(f"half ** {exponent}", h**exponent)
    case("tensor ** tensor", torch.pow(p, e))
    case("tensor ** row", torch.pow(p, e[0]))
    case("2 ** tensor", torch.pow(2, e))
    case("1.5 ** tensor", torch.pow(1.5, e))
    case("f64", torch.pow(d, 2.5))
    case("integers", torch.pow(n, m))
    case("integers ** 2", n**2)
    case("integers ** 0.5", n**0.5)
    case("2 ** integers", 2**n)
    case("special", torch.pow(torch.tensor([0.0, 0.0, -2.0, -2.0, 4.0]), torch.tensor([0.0, 2.0, 3.0, 0.5, -0.5])))
    case("float_power", torch.float_power(p, 2))


@family(n="i64[5,3]", m="i32[5,3]", s="i16[4]", c="i8[4]", u="u8[5]", t="bool[5]")
def unary_integers(case, n, m, s, c, u, t):
    n, m, s, c = n - 5, m - 5, s - 5, c - 5
    for key, value in {"i64": n, "i32": m, "i16": s, "i8": c, "u8": u}.items():
        for name in "abs neg sign square bitwise_not logical_not relu".split():
            if (name, key) != ("neg", "bool"):
                case(f"{name} {key}", call(name)(value))
        for name in "ceil floor round trunc".split():
            case(f"{name} {key}", call(name)(value))
    case("bitwise_not bool", torch.bitwise_not(t))
    case("logical_not bool", torch.logical_not(t))
    case("sigmoid i32", torch.sigmoid(m))
    case("reciprocal i64", torch.reciprocal(n.abs() + 1))
    case("sign bool", torch.sign(t))


@family(x="f32[5,3]", h="f16[4]", n="i64[3]")
def classification(case, x, h, n):
    odd = torch.tensor([0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan")])
    for name in "isnan isinf isfinite isposinf isneginf signbit logical_not".split():
        case(f"{name} special", call(name)(odd))
        case(f"{name} f32", call(name)(x))
        case(f"{name} f16", call(name)(h))
        if name != "signbit":
            case(f"{name} i64", call(name)(n))
    case("isreal", torch.isreal(x))
    case("isclose", torch.isclose(x, x + 1e-6))
    case("isclose nan", torch.isclose(odd, odd, equal_nan=True))


@family(x="f32[5,7]", y="f32[5,7]", r="f32[7]", c="f32[5,1]", s="f32[]", n="i64[5,7]", m="i64[7]", k="i32[5,1]",
        h="f16[7]", b="bf16[5,1]", e="f32[0,7]")
def arithmetic(case, x, y, r, c, s, n, m, k, h, b, e):
    for name in "add sub mul".split():
        function = call(name)
        pairs = {"same": (x, y), "row": (x, r), "column": (c, x), "outer": (r, c), "scalar tensor": (x, s), "ints": (n, m),
                 "ints column": (k, k * 2), "half": (h, h * 2), "bf16": (b, b + 1), "number": (x, 2), "float": (x, 0.3),
                 "int number": (n, 3), "int float": (n, 0.5), "half number": (h, 0.1), "transposed": (x.t(), y.t()),
                 "mixed strides": (x.t(), y.reshape(7, 5)), "empty": (e, r), "strided": (x[::2, 1::3], y[1::2, 3::3][:1])}
        for key, (left, right) in pairs.items():
            case(f"{name} {key}", function(left, right))
    case("add alpha", torch.add(x, y, alpha=0.5))
    case("add alpha ints", torch.add(n, m, alpha=3))
    case("add alpha half", torch.add(h, h, alpha=0.1))
    case("sub alpha", torch.sub(x, r, alpha=2))
    case("add scalar alpha", torch.add(x, 3, alpha=2))
    case("rsub", torch.rsub(x, y, alpha=2))
    case("rsub number", torch.rsub(x, 1.5))
    case("number - ints", 7 - n)


@family(x="f32[5,7]", y="f32[7]>0", n="i64[5,7]", m="i32[7]", h="f16[7]>0", b="bf16[7]>0", u="u8[7]", d="f64[7]>0")
def division(case, x, y, n, m, h, b, u, d):
    m, u = m + 1, u + 1
    for key, (left, right) in {"f32": (x, y), "ints": (n, m), "f16": (h, h * 3), "bf16": (b, b * 3), "f64": (d, d * 3),
                               "number": (x, 3), "ints number": (n, 4), "ints float": (n, 0.5), "u8": (u, 3),
                               "float ints": (x, m), "zero": (x, y * 0)}.items():
        case(f"div {key}", torch.div(left, right))
    for mode in ("floor", "trunc"):
        for key, (left, right) in {"f32": (x * 5, y), "ints": (n - 5, m), "f16": (h * 5, h + 1), "number": (x * 9, 2),
                                   "ints number": (n - 5, 3), "negative": (n - 5, -3), "u8": (u * 9, u)}.items():
            case(f"div {mode} {key}", torch.div(left, right, rounding_mode=mode))
    case("number / tensor", 2.5 / y)
    case("number / ints", 2 / m)


@family(n="i64[4,5]<20", m="i32[4,5]<20", x="f32[4,5]~5", u="u8[4,5]<200", h="f16[5]~5")
def remainders(case, n, m, x, u, h):
    n, m = n - 10, m - 10
    divisor = torch.tensor([3, -3, 1, -7, 5])
    floats = torch.tensor([3.0, -3.0, 0.5, -0.7, 5.0])
    for name in "remainder fmod floor_divide".split():
        function = call(name)
        case(f"{name} i64", function(n, divisor))
        case(f"{name} i32", function(m, divisor.to(torch.int32)))
        case(f"{name} mixed", function(m, divisor))
        case(f"{name} f32", function(x, floats))
        case(f"{name} f16", function(h, floats.half()))
        case(f"{name} u8", function(u, 7))
        for number in (3, -3):
            case(f"{name} i64 {number}", function(n, number))
            case(f"{name} f32 {number}", function(x, number))
        case(f"{name} f32 0.7", function(x, 0.7))
        case(f"{name} f32 by ints", function(x, divisor))
    case("remainder number tensor", torch.remainder(7, divisor))
    case("remainder zero", torch.remainder(x, 0.0))


@family(x="f32[3,4]", d="f64[4]", h="f16[3,4]", b="bf16[4]", n="i64[3,4]", m="i32[4]", c="i8[4]", u="u8[4]",
        t="bool[3,4]", s="f64[]", k="i64[]")
def promotion(case, x, d, h, b, n, m, c, u, t, s, k):
    pairs = {"f32 f64": (x, d), "f16 f32": (h, x), "f16 bf16": (h, b), "bf16 f32": (b, x), "i64 f32": (n, x),
             "i64 f16": (n, h), "i32 i64": (m, n), "i8 u8": (c, u), "u8 i32": (u, m), "bool i64": (t, n),
             "bool f32": (t, x), "bool bool": (t, t), "f32 scalar f64": (x, s), "f16 scalar f64": (h, s),
             "i32 scalar i64": (m, k), "i64 scalar f64": (n, s), "u8 scalar i64": (u, k), "bool u8": (t, u)}
    for key, (left, right) in pairs.items():
        case(f"add {key}", torch.add(left, right))
        case(f"mul {key}", torch.mul(left, right))
        case(f"eq {key}", torch.eq(left, right))
        case(f"div {key}", torch.div(left, right + 1 if right.dtype != torch.bool else 2))
    case("bool + number", t + 1)
    case("bool * float", t * 0.5)
    case("u8 wraps", u * 100)
    case("i8 wraps", c * 100)


@family(x="f32[5,3]", y="f32[5,3]", n="i64[5,3]", m="i64[3]", h="f16[3]", b="bf16[3]", t="bool[5,3]")
def extrema(case, x, y, n, m, h, b, t):
    odd = torch.tensor([1.0, float("nan"), float("inf")])
    for name in "maximum minimum fmax fmin".split():
        for key, pair in {"f32": (x, y), "row": (x, y[0]), "i64": (n, m), "f16": (h, -h), "bf16": (b, -b),
                          "nan left": (odd, x), "nan right": (x, odd), "mixed": (n, x)}.items():
            case(f"{name} {key}", call(name)(*pair))
    case("maximum bool", torch.maximum(t, t[0]))
    case("clamp both", torch.clamp(x, -0.5, 0.7))
    case("clamp min", torch.clamp(x, min=0.1))
    case("clamp max", torch.clamp(x, max=0.1))
    case("clamp crossed", torch.clamp(x, 0.5, -0.5))
    case("clamp ints", torch.clamp(n, 2, 6))
    case("clamp ints float", torch.clamp(n, 1.5, 6.5))
    case("clamp half", torch.clamp(h, -0.3, 0.3))
    case("clamp nan", torch.clamp(odd, 0.0, 2.0))
    case("clamp tensors", torch.clamp(x, y - 1, y + 1))
    case("clamp min tensor", torch.clamp(x, min=y[0]))
    case("clamp_min", torch.clamp_min(x, 0.2))
    case("clamp_max", torch.clamp_max(n, 4))


@family(x="f32[5,3]", n="i64[5,3]<4", m="i32[3]<4", h="f16[3]", u="u8[5,1]<4", t="bool[5,3]")
def comparisons(case, x, n, m, h, u, t):
    odd = torch.tensor([1.0, float("nan"), float("inf")])
    for name in "eq ne lt le gt ge".split():
        for key, pair in {"f32": (x, x.round()), "ints": (n, m), "mixed": (n, x), "half": (x, h), "u8": (u, n),
                          "bool": (t, t[0]), "number": (x, 0), "ints float": (n, 1.5), "nan": (odd, odd), "f16 number": (h, 0.1),
                          "u8 negative": (u, -1)}.items():
            case(f"{name} {key}", call(name)(*pair))


@family(n="i64[5,3]<100", m="i32[3]<100", u="u8[5,1]<250", t="bool[5,3]", c="i8[4]<100", s="i64[3]<8")
def bits(case, n, m, u, t, c, s):
    n = n - 50
    for name in "bitwise_and bitwise_or bitwise_xor".split():
        function = call(name)
        for key, pair in {"i64": (n, n.flip(0)), "mixed": (n, m), "u8": (u, u.flip(0)), "bool": (t, t[0]), "number": (n, 12),
                          "i8": (c, -c), "bool number": (t, True), "left number": (12, n)}.items():
            case(f"{name} {key}", function(*pair))
    for name in "bitwise_left_shift bitwise_right_shift".split():
        case(f"{name} i64", call(name)(n, s))
        case(f"{name} i32", call(name)(m, s.to(torch.int32)))
        case(f"{name} u8", call(name)(u, 3))
        case(f"{name} number", call(name)(n, 2))
    case("<<", n << 1)
    case(">>", n >> 1)


@family(x="f32[5,3]", n="i64[5,3]<2", t="bool[5,3]", r="bool[3]")
def logic(case, x, n, t, r):
    for name in "logical_and logical_or logical_xor".split():
        for key, pair in {"bool": (t, r), "ints": (n, t), "floats": (x.round(), n)}.items():
            case(f"{name} {key}", call(name)(*pair))
    case("and", t & r)
    case("or", t | ~r)
    case("xor", t ^ r)


@family(t="bool[5,3]", r="bool[3]", x="f32[5,3]", y="f32[5,1]", n="i64[5,3]", h="f16[5,3]", s="f32[]")
def selection(case, t, r, x, y, n, h, s):
    case("where", torch.where(t, x, x * 2))
    case("where broadcast", torch.where(r, x, y))
    case("where promoted", torch.where(t, n, x))
    case("where half", torch.where(t, h, h * 2))
    case("where number", torch.where(t, x, 0.0))
    case("where number left", torch.where(t, 1.5, x))
    case("where numbers", torch.where(t, 1.0, 0.0))
    case("where ints", torch.where(r, n, 7))
    case("where scalar tensor", torch.where(t, x, s))
    case("where column condition", torch.where(t[:, :1], x, y))
    case("masked_fill", torch.masked_fill(x, t, -1.5))
    case("masked_fill inf", torch.masked_fill(x, r, float("-inf")))
    case("masked_fill tensor", torch.masked_fill(x, t, s))
    case("masked_fill ints", torch.masked_fill(n, t, 3))
    case("masked_fill half", torch.masked_fill(h, t, 0.1))
    case("masked_fill wider", torch.masked_fill(y, t, 2.0))


@family(x="f32[5,3]", y="f32[5,3]", z="f32[3]>0", h="f16[3]", n="i64[3]")
def ternary(case, x, y, z, h, n):
    case("addcmul", torch.addcmul(x, y, z, value=0.5))
    case("addcmul half", torch.addcmul(h, h, h))
    case("addcmul ints", torch.addcmul(n, n, n, value=2))
    case("addcdiv", torch.addcdiv(x, y, z, value=-0.5))
    case("addcdiv half", torch.addcdiv(h, h, h + 3))
    case("lerp", torch.lerp(x, y, 0.3))
    case("lerp 0.7", torch.lerp(x, y, 0.7))
    case("lerp tensor", torch.lerp(x, y, z))
    case("copysign", torch.copysign(x, y))
    case("copysign number", torch.copysign(x, -1.0))
    case("fill", torch.fill(x, 3.5))
    case("dist", torch.dist(x, y))
    case("gcd", torch.gcd(n, n + 6))


ACTIVATIONS = {
    "relu": F.relu, "relu6": F.relu6, "elu": F.elu, "selu": F.selu, "celu": F.celu, "gelu": F.gelu, "silu": F.silu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "mish": F.mish, "hardtanh": F.hardtanh,
    "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "hardshrink": F.hardshrink, "softshrink": F.softshrink,
    "tanhshrink": F.tanhshrink, "softplus": F.softplus, "softsign": F.softsign, "logsigmoid": F.logsigmoid,
    "leaky_relu": F.leaky_relu, "glu": F.glu, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
    "elu 0.5": lambda x: F.elu(x, 0.5), "celu 2": lambda x: F.celu(x, 2.0), "leaky_relu 0.2": lambda x: F.leaky_relu(x, 0.2),
    "hardtanh -2 0.5": lambda x: F.hardtanh(x, -2, 0.5), "softplus 2 1": lambda x: F.softplus(x, 2.0, 1.0),
    "hardshrink 1": lambda x: F.hardshrink(x, 1.0), "softshrink 1": lambda x: F.softshrink(x, 1.0),
    "threshold": lambda x: F.threshold(x, 0.2, -3.0), "rrelu": lambda x: F.rrelu(x), "glu 0": lambda x: F.glu(x, 0),
    "dropout": lambda x: F.dropout(x, 0.5, training=False),
}


@family(x="f32[4,6]~3", p="f32[4]")
def activations(case, x, p):
    for name, function in ACTIVATIONS.items():
        case(name, function(x))
        case(f"{name} strided", function(x.t()[::3]) if "glu" not in name else function(x.t()))
    case("prelu", F.prelu(x, p[:1]))
    case("prelu channels", F.prelu(x.t(), p))


@family(h="f16[4,6]~2", b="bf16[4,6]~2", d="f64[4,6]~2")
def activations_dtypes(case, h, b, d):
    for name, function in ACTIVATIONS.items():
        if " " not in name:
            case(f"{name} f16", function(h))
            case(f"{name} bf16", function(b))
            case(f"{name} f64", function(d))


@family(x="f32[5,4]", y="f32[4]", n="i64[4]", t="bool[5,4]")
def in_place(case, x, y, n, t):
    def changed(name, function, value=x):
        copy = value.clone()
        function(copy)
        case(name, copy)

    changed("add_", lambda a: a.add_(y, alpha=2))
    changed("sub_", lambda a: a.sub_(1.5))
    changed("mul_", lambda a: a.mul_(y))
    changed("div_", lambda a: a.div_(4))
    changed("div_ floor", lambda a: a.div_(0.3, rounding_mode="floor"))
    changed("relu_", lambda a: a.relu_())
    changed("sigmoid_", lambda a: a.sigmoid_())
    changed("exp_", lambda a: a.exp_())
    changed("neg_", lambda a: a.neg_())
    changed("clamp_", lambda a: a.clamp_(-0.5, 0.5))
    changed("fill_", lambda a: a.fill_(2.5))
    changed("zero_", lambda a: a.zero_())
    changed("copy_", lambda a: a.copy_(y))
    changed("copy_ ints", lambda a: a.copy_(n))
    changed("masked_fill_", lambda a: a.masked_fill_(t, 9.0))
    changed("column", lambda a: a[:, 1].add_(10))
    changed("slice", lambda a: a[1:4:2, 2:].mul_(-1))
    changed("slice assignment", lambda a: a.__setitem__((slice(None), slice(1, 3)), 4.0))
    changed("row assignment", lambda a: a.__setitem__(2, y))
    changed("transposed", lambda a: a.t().add_(torch.arange(5.0)))
    changed("view", lambda a: a.view(-1)[3:7].zero_())
    changed("two views", lambda a: (a[0].add_(1), a[:, 0].mul_(2)))
    changed("unsqueeze_", lambda a: a.unsqueeze_(0))
    changed("ints", lambda a: a.add_(3).floor_divide_(2), n)
    changed("int bitwise", lambda a: a.bitwise_and_(6), n)
    changed("bool", lambda a: a.logical_not_(), t)
    changed("leaky_relu_", lambda a: F.leaky_relu_(a, 0.2))
    changed("hardtanh_", lambda a: F.hardtanh_(a))
    changed("pow_", lambda a: a.pow_(2))
    changed("lerp_", lambda a: a.lerp_(y.expand(5, 4), 0.25))
    changed("addcmul_", lambda a: a.addcmul_(y, y))
    changed("index_fill_", lambda a: a.index_fill_(0, torch.tensor([0, 3]), 5.0))


DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
          "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}


@family(x="f32[6]~3", n="i64[6]<100", h="f16[6]", b="bf16[6]", d="f64[6]", u="u8[6]<250", t="bool[6]", c="i8[6]")
def casts(case, x, n, h, b, d, u, t, c):
    sources = {"f32": x, "i64": n - 50, "f16": h, "bf16": b, "f64": d, "u8": u, "bool": t, "i8": c - 5}
    for source, value in sources.items():
        for target, dtype in DTYPES.items():
            positive = value.abs() if target == "u8" and source in ("f32", "f16", "bf16", "f64", "i64") else value
            if source != target:
                case(f"{source} to {target}", positive.to(dtype))
    case("type_as", n.type_as(x))
    case("float", n.float())
    case("half", x.half())
    case("convert_element_type", torch.ops.prims.convert_element_type.default(x, torch.float16))
    case("_to_copy", torch.ops.aten._to_copy.default(x, dtype=torch.float64))
    case("to same", x.to(torch.float32))
    case("bf16 rounding", torch.tensor([1.00390625, 1.01171875, 3.4e38, 1e-40, float("nan"), float("inf")]).bfloat16())
    case("f16 rounding", torch.tensor([1.00048828125, 65504.0, 65520.0, 1e-7, 6e-8, float("-inf")]).half())
    case("f16 rounding from f64", torch.tensor([1.000488281251, 2049.0, 2051.0], dtype=torch.float64).half())


@family(x="f32[3,4]", h="f16[2]", n="i64[3]<5", t="bool[2]")
def creation(case, x, h, n, t):
    case("zeros", torch.zeros(2, 3))
    case("ones", torch.ones(2, 3, dtype=torch.float16))
    case("full", torch.full((2, 3), 1.5))
    case("full ints", torch.full((2, 3), 7))
    case("full bool", torch.full((2,), True))
    case("full bf16", torch.full((2,), 0.1, dtype=torch.bfloat16))
    case("arange", torch.arange(7))
    case("arange floats", torch.arange(0.0, 2.0, 0.3))
    case("arange start", torch.arange(3, 11, 2))
    case("arange down", torch.arange(5, -4, -3))
    case("arange dtype", torch.arange(4, dtype=torch.float16))
    case("linspace", torch.linspace(-1, 2, 7))
    case("linspace one", torch.linspace(3, 4, 1))
    case("logspace", torch.logspace(0, 2, 5))
    case("eye", torch.eye(4))
    case("eye wide", torch.eye(2, 5, dtype=torch.int64))
    case("scalar_tensor", torch.scalar_tensor(2.5))
    case("tensor", torch.tensor([[1, 2], [3, 4]]))
    for name in "zeros_like ones_like".split():
        case(f"{name}", call(name)(x))
        case(f"{name} ints", call(name)(n))
        case(f"{name} dtype", call(name)(x, dtype=torch.int32))
    case("full_like", torch.full_like(x, 2))
    case("full_like half", torch.full_like(h, 0.1))
    case("full_like bool", torch.full_like(t, False))
    case("new_zeros", x.new_zeros(2, 2))
    case("new_ones", n.new_ones(3))
    case("new_full", h.new_full((2, 2), 1.25))
    case("new_tensor", x.new_tensor([1.0, 2.0]))
    case("empty filled", torch.empty(3, 2).fill_(4.0))
    case("empty_like filled", torch.empty_like(x).copy_(x))
    case("tril_indices", torch.tril_indices(3, 4, offset=1))
    case("triu_indices", torch.triu_indices(3, 3))
    case("one_hot", F.one_hot(n, 6))
    case("zeros none", torch.zeros(0, 3))
    case("hann_window", torch.hann_window(5))
