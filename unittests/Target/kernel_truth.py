#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes KernelTruth.inc: what the kernels of TruthKernels.cpp give, computed by PyTorch in f64.

Needs torch; run it in this folder when a case is added. Inputs are those of the SPEC random:1 and
random:2, so only results are stored. Sizes lie around the tile of 4 x 8 and around vectors.
"""
import itertools
import torch

OUT = open("KernelTruth.inc", "w")
OUT.write("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
          "// Made by kernel_truth.py: kernel, dtype, sizes of the inputs, what PyTorch gives.\n")
FLOATS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
INTEGERS = {"i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64}
TYPES = {**FLOATS, **INTEGERS}
BLOCKS = itertools.cycle([((4, 8),), ((5, 9),), ((1, 1),), ((3, 7), (9, 17))])
MASK = (1 << 64) - 1
count = 0


def splitmix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def random(seed, sizes, dtype):
    """The values of SPEC `random:SEED`, in f64 or i64."""
    values = []
    for i in range(int(torch.tensor(sizes).prod())):
        z = splitmix((seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK)
        values.append((z >> 11) * 2.0**-52 - 1 if dtype in FLOATS else (z >> 33) % 10)
    if dtype in FLOATS:
        return torch.tensor(values, dtype=torch.float64).to(FLOATS[dtype]).double().reshape(sizes)
    return torch.tensor(values, dtype=torch.int64).reshape(sizes)


def text(value, dtype):
    if dtype in ("f32", "f64"):
        return f"{value:.9g}"
    return f"{value:.6g}" if dtype in FLOATS else str(int(value))


def case(name, dtype, sizes, result):
    """`sizes`: of each input. Integer results wrap as the dtype does."""
    global count
    count += 1
    if result.dtype == torch.float64 and dtype in FLOATS:
        kind = dtype
        result = result.to(FLOATS[dtype]).double() if dtype != "f64" else result
    else:
        kind = "i64"
        if dtype in INTEGERS and result.dtype == torch.int64:
            result = result.to(INTEGERS[dtype]).long()
    shapes = ", ".join('"' + "x".join(map(str, s)) + '"' for s in sizes)
    values = ",".join(text(v, kind) for v in result.flatten().tolist())
    OUT.write(f'{{"{name}", "{dtype}", {{{shapes}}},\n "{values}"}},\n')


def on_blocks(name, dtypes, function):
    """A function of two tiles, at the next sizes for each dtype."""
    for dtype in dtypes:
        for sizes in next(BLOCKS):
            x, z = random(1, sizes, dtype), random(2, sizes, dtype)
            case(name, dtype, [sizes, sizes], function(x, z))


ALL, NUMBERS, HALVES = list(TYPES), ["f32", "f64", "i8", "i32", "i64"], ["f32", "bf16", "f16", "f64"]
INTS = list(INTEGERS)
remainder = lambda a, b: torch.where(b == 0, 0, torch.fmod(a, torch.where(b == 0, 1, b)))
quotient = lambda a, b: torch.where(b == 0, 0, torch.div(a, torch.where(b == 0, 1, b), rounding_mode="trunc"))

on_blocks("add", ALL, lambda x, z: x + z)
on_blocks("sub", ALL, lambda x, z: x - z)
on_blocks("mul", ALL, lambda x, z: x * z)
on_blocks("div", HALVES, lambda x, z: x / (z.abs() + 0.5))
on_blocks("quotient", INTS, quotient)
on_blocks("remainder", INTS, remainder)
on_blocks("fmod", ["f32", "f64"], lambda x, z: torch.fmod(4 * x, z))
on_blocks("minimum", NUMBERS + ["bf16"], torch.minimum)
on_blocks("maximum", NUMBERS + ["f16"], torch.maximum)
on_blocks("neg", ["f32", "i16", "bf16"], lambda x, z: -x)
on_blocks("abs", ["f32", "i32", "f16"], lambda x, z: (x - z).abs())
on_blocks("and", INTS, lambda x, z: x & z)
on_blocks("or", ["i8", "i64"], lambda x, z: x | z)
on_blocks("xor", ["i16", "i32"], lambda x, z: x ^ z)
on_blocks("not", ["i8", "i32"], lambda x, z: ~x)
on_blocks("shl", ["i8", "i32", "i64"], lambda x, z: x << z)
on_blocks("shr", ["i8", "i32"], lambda x, z: (x - 5) >> z)
on_blocks("select", ["f32", "bf16", "i8", "i64"], lambda x, z: torch.where(x > z, x, z + 1))
on_blocks("less", ["f32", "i8", "f16"], lambda x, z: x < z)
on_blocks("notEqual", ["f64", "i32"], lambda x, z: x != z)
on_blocks("both", ["f32", "i64"], lambda x, z: (x < z) & ~(x < 0.25))
on_blocks("fma", ["f32", "f64"], lambda x, z: x * z + z)
on_blocks("pow", ["f32", "f64"], lambda x, z: (x.abs() + 0.5) ** (2 * z))
on_blocks("atan2", ["f32", "f64"], torch.atan2)
on_blocks("copysign", ["f32", "f16"], torch.copysign)
for name in ("exp", "exp2", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
             "asinh", "erf", "sigmoid"):
    on_blocks(name, ["f32", "f64" if name < "e" else "bf16"], lambda x, z: getattr(torch, name)(x))
for name in ("log", "log2", "log1p", "sqrt", "rsqrt"):
    on_blocks(name, ["f32", "f16", "f64"], lambda x, z: getattr(torch, name)(x.abs() + 0.25))
on_blocks("acosh", ["f32", "f64"], lambda x, z: torch.acosh(x.abs() + 1.25))
on_blocks("atanh", ["f32", "f64"], lambda x, z: torch.atanh(x / 2))
for name, same in (("floor", torch.floor), ("ceil", torch.ceil), ("trunc", torch.trunc),
                   ("roundEven", torch.round),
                   ("round", lambda x: torch.trunc(x + torch.copysign(torch.tensor(0.5, dtype=x.dtype), x)))):
    on_blocks(name, ["f32", "bf16"], lambda x, z: same(x * 8))

# Casts: the values are small, so that every dtype has them, but for those that are cut off.
for source, target in (("f32", "f16"), ("f32", "bf16"), ("f64", "f32"), ("bf16", "f32"), ("f16", "f64"),
                       ("f32", "i8"), ("f64", "i64"), ("bf16", "i32"), ("i8", "f32"), ("i64", "bf16"),
                       ("i32", "f64"), ("i8", "i64"), ("i64", "i8"), ("f32", "i1"), ("i32", "i1")):
    sizes = next(BLOCKS)[0]
    x = random(1, sizes, source) * 100
    if target in FLOATS:
        result = x.to(FLOATS[target]).double()
    elif target == "i1":
        result = x != 0
    else:
        result = x.trunc().clamp(-128, 127).long() if (source, target) == ("f32", "i8") else x.trunc().long()
        result = result.to(INTEGERS[target]).long()
    count += 1
    shape = "x".join(map(str, sizes))
    values = ",".join(text(v, target if target in FLOATS else "i64") for v in result.flatten().tolist())
    OUT.write(f'{{"cast_{target}", "{source}", {{"{shape}", "{shape}"}},\n "{values}"}},\n')

# Rows of a symbol's length.
lengths = itertools.cycle([(3, 1), (2, 15), (2, 16), (3, 17), (1, 33), (2, 2)])
flip = lambda f: lambda x: f(x.flip(1)).flip(1)
ROWS = {"sum": lambda x: x.sum(1, keepdim=True), "prod": lambda x: x.prod(1, keepdim=True),
        "max": lambda x: x.amax(1, keepdim=True), "min": lambda x: x.amin(1, keepdim=True),
        "argmax": lambda x: first(x, x.amax(1, keepdim=True)), "argmin": lambda x: first(x, x.amin(1, keepdim=True)),
        "cumsum": lambda x: x.cumsum(1), "cumprod": lambda x: x.cumprod(1),
        "cummax": lambda x: x.cummax(1)[0], "cummin": lambda x: x.cummin(1)[0],
        "cumsumBackward": flip(lambda x: x.cumsum(1)), "cummaxBackward": flip(lambda x: x.cummax(1)[0]),
        "any": lambda x: (x > 0.5).any(1, keepdim=True), "all": lambda x: (x > -0.75).all(1, keepdim=True)}


def first(x, wanted):
    return (x == wanted).long().argmax(1, keepdim=True)


for name, function in ROWS.items():
    for dtype in ("f32", "i32", "f64", "bf16" if name in ("max", "min", "argmax") else "i8"):
        sizes = next(lengths)
        result = function(random(1, sizes, dtype))
        if name.startswith("arg"):  # i64, whatever the dtype is
            count += 1
            values = ",".join(str(v) for v in result.flatten().tolist())
            OUT.write(f'{{"{name}", "{dtype}", {{"{sizes[0]}x{sizes[1]}"}},\n "{values}"}},\n')
        else:
            case(name, dtype, [sizes], result)

# Of everything at once, along the first axis.
for name, function in (("sumColumns", lambda x: x.sum(0)), ("maxColumns", lambda x: x.amax(0)),
                       ("transposed", lambda x: x.T), ("cumsumColumns", lambda x: x.cumsum(0)),
                       ("flat", lambda x: x.flatten()), ("softmax", lambda x: torch.softmax(x.double(), 1))):
    for dtype, sizes in (("f32", (5, 17)), ("f64", (1, 8)), ("i32", (9, 3)), ("f32", (16, 16))):
        if name != "softmax" or dtype in FLOATS:
            case(name, dtype, [sizes], function(random(1, sizes, dtype)))

# Products.
for dtype, (m, n, k) in itertools.chain(
        (("f32", s) for s in ((1, 1, 1), (6, 16, 8), (7, 17, 9), (12, 32, 1), (5, 40, 33))),
        ((d, s) for d in ("f64", "i32", "i64") for s in ((4, 8, 3), (9, 17, 5)))):
    a, b = random(1, (m, k), dtype), random(2, (k, n), dtype)
    case("dot", dtype, [(m, k), (k, n)], a @ b)
    case("dotTransposed", dtype, [(m, k), (n, k)], a @ random(2, (n, k), dtype).T)
for dtype, (batch, m, n, k) in (("f32", (2, 3, 5, 4)), ("f64", (3, 1, 8, 2)), ("i32", (2, 2, 17, 3))):
    a, b = random(1, (batch, m, k), dtype), random(2, (batch, k, n), dtype)
    case("dotBatched", dtype, [(batch, m, k), (batch, k, n)], a @ b)

# Memory: of tiles of 4 x 8.
for dtype, sizes in (("f32", (5, 9)), ("i8", (4, 8)), ("bf16", (1, 17)), ("f64", (8, 3))):
    x = random(1, sizes, dtype)
    m, n = sizes
    case("shifted", dtype, [sizes], torch.nn.functional.pad(x, (1, 0, 2, 0), value=7)[:m, :n])
    every = torch.full(sizes, 3, dtype=x.dtype)
    every[:(m + 1) // 2, :(n + 2) // 3] = x[::2, ::3]
    case("strided", dtype, [sizes], every)
    columns = torch.arange(n).expand(m, n)
    case("masked", dtype, [sizes], torch.where(columns % 8 < 5, x, torch.tensor(-2, dtype=x.dtype)))
    case("maskedStore", dtype, [sizes], torch.where(columns % 2 == 0, x, torch.tensor(1, dtype=x.dtype)))
    case("reversed", dtype, [sizes], x.flip(1))
    case("gathered", dtype, [sizes], x.flatten()[(torch.arange(m * n) * 7) % (m * n)].reshape(sizes))
    case("addedUp", dtype, [sizes], x.sum(0))
    case("largest", dtype, [sizes], x.amax(0))
    case("inPlace", dtype, [sizes], x + 1)
    case("halves", dtype, [sizes], x[:, :1].expand(m, 4) * torch.tensor([0, 1, 2, 3], dtype=x.dtype))

# Loops and branches.
for dtype, sizes in (("f32", (3, 9)), ("i32", (4, 16)), ("f64", (1, 5))):
    x = random(1, sizes, dtype)
    case("loopSum", dtype, [sizes], x.sum(1, keepdim=True))
    case("loopBackward", dtype, [sizes], x.flip(1).cumsum(1)[:, -1:] * 0 + x[:, :1] - x[:, -1:])
    case("branch", dtype, [sizes], torch.where(torch.arange(sizes[0])[:, None] % 2 == 0, x + 1, x * 2))
OUT.close()
print(count, "cases")
