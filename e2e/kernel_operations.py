# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as text that have each operation on elements with each dtype, on tiles and scalars."""

FLOATS = ["f16", "bf16", "f32", "f64"]
INTEGERS = ["i8", "i16", "i32", "i64"]
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
FLOAT_BINARY = [f"arith.{name}" for name in "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()]
FLOAT_BINARY += [f"math.{name}" for name in "powf atan2 copysign".split()]
INTEGER_BINARY = [f"arith.{name}" for name in ("addi subi muli divsi divui remsi remui andi ori xori maxsi maxui "
                                              "minsi minui shli shrsi shrui").split()]
FLOAT_UNARY = ["arith.negf"] + [f"math.{name}" for name in (
    "absf acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor log log10 log1p log2 round "
    "roundeven rsqrt sin sinh sqrt tan tanh trunc").split()]
FLOAT_PREDICATES = "oeq une olt ole ogt oge ueq one ord uno ult ule ugt uge".split()
INTEGER_PREDICATES = "eq ne slt sle sgt sge ult ule ugt uge".split()


def constant(dtype):
    value = "true" if dtype == "i1" else "3.5 : " + dtype if dtype in FLOATS else "7 : " + dtype
    return f"arith.constant {value}"


def kernel(arguments, body):
    return f"""tile.kernel @NAME({arguments}) grid [4, 3] {{
  %m = tile.program_id 0
  %n = tile.program_id 1
{body}}}
"""


def element(name, tile, dtype):
    """The scalar %name in a tile of 4 x 8."""
    return f"""  %{name}_part = tile.slice {tile} offsets [1, 2] strides [1, 1] : tensor<4x8x{dtype}> -> tensor<1x1x{dtype}>
  %{name} = tile.extract %{name}_part : tensor<1x1x{dtype}> -> {dtype}
"""


def binary(operation, dtype, memory=None):
    tile, buffer = f"tensor<4x8x{dtype}>", f"!tile.buffer<[16, 24], {memory or dtype}>"
    return kernel(f"in %x: {buffer}, in %w: {buffer}, inout %y: {buffer}", f"""  %c4 = arith.constant 4 : index
  %i = arith.muli %m, %c4 : index
  %a = tile.load %x[%i, %n] : {buffer} -> {tile}
  %b = tile.load %w[%i, %n] : {buffer} -> {tile}
  %r = {operation} %a, %b : {tile}
  tile.store %r, %y[%i, %n] : {tile}, {buffer}
{element("e", "%r", dtype)}{element("f", "%a", dtype)}  %s = {operation} %e, %f : {dtype}
  %k = {constant(dtype)}
  %s2 = {operation} %s, %k : {dtype}
  %s3 = {operation} %k, %s2 : {dtype}
  %full = tile.full %s3 : {dtype} -> {tile}
  %g = {operation} %full, %r : {tile}
  %full2 = tile.full %k : {dtype} -> {tile}
  %h = {operation} %full2, %g : {tile}
  tile.store %h, %y[%i, %n] : {tile}, {buffer}
""")


def unary(operation, dtype, to=None, memory=None, memory_to=None):
    to = to or dtype
    tile, result = f"tensor<4x8x{dtype}>", f"tensor<4x8x{to}>"
    source, target = f"!tile.buffer<[16, 24], {memory or dtype}>", f"!tile.buffer<[16, 24], {memory_to or to}>"
    onto = (lambda a, b: f"{a} to {b}") if to != dtype else (lambda a, _: a)
    return kernel(f"in %x: {source}, out %y: {target}", f"""  %a = tile.load %x[%m, %n] : {source} -> {tile}
  %r = {operation} %a : {onto(tile, result)}
  tile.store %r, %y[%m, %n] : {result}, {target}
{element("e", "%a", dtype)}  %s = {operation} %e : {onto(dtype, to)}
  %full = tile.full %s : {to} -> {result}
  tile.store %full, %y[%m, %n] : {result}, {target}
""")


def comparison(operation, dtype, memory=None):
    tile, buffer = f"tensor<4x8x{dtype}>", f"!tile.buffer<[16, 24], {memory or dtype}>"
    flags = "!tile.buffer<[16, 24], i1>"
    return kernel(f"in %x: {buffer}, in %w: {buffer}, inout %y: {flags}, inout %z: {buffer}", f"""\
  %a = tile.load %x[%m, %n] : {buffer} -> {tile}
  %b = tile.load %w[%m, %n] : {buffer} -> {tile}
  %k = {constant(dtype)}
  %ks = tile.full %k : {dtype} -> {tile}
  %p = {operation}, %a, %b : {tile}
  %q = {operation}, %a, %a : {tile}
  %r = {operation}, %b, %ks : {tile}
  %pq = arith.andi %p, %q : tensor<4x8xi1>
  %pqr = arith.xori %pq, %r : tensor<4x8xi1>
  %true = arith.constant true
  %trues = tile.full %true : i1 -> tensor<4x8xi1>
  %not = arith.xori %pqr, %trues : tensor<4x8xi1>
  %any = arith.ori %not, %p : tensor<4x8xi1>
  tile.store %any, %y[%m, %n] : tensor<4x8xi1>, {flags}
{element("e", "%a", dtype)}{element("f", "%b", dtype)}  %s = {operation}, %e, %f : {dtype}
  %s2 = {operation}, %e, %k : {dtype}
  %s3 = arith.xori %s, %s2 : i1
  %one = arith.select %s3, %a, %b : {tile}
  %two = arith.select %any, %one, %ks : tensor<4x8xi1>, {tile}
  tile.store %two, %z[%m, %n] : {tile}, {buffer}
  %three = arith.select %s, %e, %k : {dtype}
  %threes = tile.full %three : {dtype} -> {tile}
  tile.store %threes, %z[%m, %n] : {tile}, {buffer}
  scf.if %s {{
    tile.store %b, %z[%m, %n] : {tile}, {buffer}
  }}
""")


def conversions():
    """(operation, from, to, dtype of the buffer, dtype of the result's)"""
    for a in FLOATS:
        for b in FLOATS:
            if BITS[a] != BITS[b]:
                yield ("arith.extf" if BITS[a] < BITS[b] else "arith.truncf"), a, b, a, b
        for b in [*INTEGERS, "i1"]:
            for sign in "su":
                yield f"arith.fpto{sign}i", a, b, a, b
                yield f"arith.{sign}itofp", b, a, b, a
        for sign in "su":
            yield f"arith.fpto{sign}i", a, "i8", a, "ui8"
            yield f"arith.{sign}itofp", "i8", a, "ui8", a
    for a in [*INTEGERS, "i1"]:
        for b in [*INTEGERS, "i1"]:
            if BITS[a] > BITS[b]:
                yield "arith.trunci", a, b, a, b
            if BITS[a] >= BITS[b]:
                continue
            for operation in ("arith.extsi", "arith.extui"):
                yield operation, a, b, a, b
                if a == "i8":
                    yield operation, a, b, "ui8", b
                if b == "i8":
                    yield operation, a, b, a, "ui8"


def on_indices(operation):
    row = "tensor<1x?xf32, #tile.dims<[N]>>"
    indices, buffer = row.replace("f32", "index"), "!tile.buffer<[M, N], f32>"
    return f"""tile.kernel @NAME(in %x: {buffer}, inout %y: {buffer}, %k: index as K, %v: i64, %g: f64, %h: i1)
    symbols [M {{min = 1, max = 77, multiple = 7}}, N, K] grid [M, N ceildiv 3 + K * 2 - 1] {{
  %m = tile.program_id 0
  %n = tile.program_id 1
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %M = tile.size M
  %S = tile.size (N * 2 - 3 * M + N floordiv 4)
  %i = {operation} %m, %c3 : index
  %i2 = {operation} %i, %n : index
  %i3 = {operation} %M, %c5 : index
  %i4 = {operation} %S, %M : index
  %i5 = {operation} %i2, %M : index
  %i6 = {operation} %k, %i5 : index
  %vi = arith.index_cast %v : i64 to index
  %i7 = {operation} %vi, %i6 : index
  %i8 = {operation} %i4, %i7 : index
  %i9 = {operation} %i3, %i8 : index
  %j = {operation} %v, %v : i64
  %ji = arith.index_castui %j : i64 to index
  %b = arith.cmpi ult, %i9, %ji : index
  %b2 = arith.cmpi sle, %i9, %M : index
  %b3 = arith.ori %b, %b2 : i1
  %b4 = arith.andi %b3, %h : i1
  %chosen = arith.select %b4, %i9, %ji : index
  %numbers = tile.iota 1 from %chosen : {indices}
  %six = tile.full %i6 : index -> {indices}
  %t = {operation} %numbers, %six : {indices}
  %mask = arith.cmpi ult, %t, %numbers : {indices}
  %t32 = arith.index_cast %t : {indices} to {row.replace("f32", "i32")}
  %tf = arith.sitofp %t32 : {row.replace("f32", "i32")} to {row}
  %r:2 = tile.for %p = %c3 to %i9 step %c5 carry (%acc = %tf : {row}, %count = %M : index) {{
    %q = {operation} %p, %count : index
    %old = tile.load %x[%q, %c3] : {buffer} -> {row}
    %sum = arith.addf %acc, %old : {row}
    %next = scf.if %b4 -> (index) {{
      scf.yield %q : index
    }} else {{
      scf.yield %c5 : index
    }}
    tile.yield %sum, %next : {row}, index
  }}
  tile.store %r#0, %y[%r#1, %c3] mask %mask : {row.replace("f32", "i1")} drop atomic add : {row}, {buffer}
  tile.for %p = %i9 to %c3 step %i6 {{
    tile.store %tf, %y[%p, %p] : {row}, {buffer}
  }}
}}
"""


def kernels():
    """(name, text) of each."""
    texts = [binary(operation, dtype) for dtype in FLOATS for operation in FLOAT_BINARY]
    texts += [binary(operation, dtype) for dtype in INTEGERS for operation in INTEGER_BINARY]
    texts += [binary(operation, "i8", "ui8") for operation in INTEGER_BINARY]
    texts += [unary(operation, dtype) for dtype in FLOATS for operation in FLOAT_UNARY]
    texts += [unary("math.absi", dtype) for dtype in INTEGERS] + [unary("math.absi", "i8", None, "ui8", "ui8")]
    texts += [unary(*conversion) for conversion in conversions()]
    texts += [comparison(f"arith.cmpf {word}", dtype) for dtype in FLOATS for word in FLOAT_PREDICATES]
    texts += [comparison(f"arith.cmpi {word}", dtype) for dtype in INTEGERS for word in INTEGER_PREDICATES]
    texts += [comparison(f"arith.cmpi {word}", "i8", "ui8") for word in INTEGER_PREDICATES]
    texts += [comparison(f"arith.cmpi {word}", "i1") for word in ("eq", "ne")]
    texts += [on_indices(operation) for operation in INTEGER_BINARY]
    return [(f"op{number}", text.replace("NAME", f"op{number}")) for number, text in enumerate(texts)]
