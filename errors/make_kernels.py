# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written kernels that are wrong in one way each, and one that is right."""

GOOD = """tile.kernel @scale(in %x: !tile.buffer<[N], f32>, %s: f64, out %y: !tile.buffer<[N], f32>)
    symbols [N {max = 1000000}] grid [N ceildiv 4] {
  %p = tile.program_id 0
  %c4 = arith.constant 4 : index
  %i = arith.muli %p, %c4 : index
  %t = tile.load %x[%i] : !tile.buffer<[N], f32> -> tensor<4xf32>
  %f = arith.truncf %s : f64 to f32
  %u = tile.full %f : f32 -> tensor<4xf32>
  %v = arith.mulf %t, %u : tensor<4xf32>
  tile.store %v, %y[%i] : tensor<4xf32>, !tile.buffer<[N], f32>
}
"""


def changed(old, new):
    assert old in GOOD, old
    return GOOD.replace(old, new)


# What a kernel library exports, in C; the kernel "wrong" cannot be traced.
LIBRARY = """#include <stddef.h>
#include <stdint.h>
struct description { const char *name, *doc; const void *parameters; size_t count; const char *file;
                     uint32_t line, column; };
struct list { const struct description *kernels; size_t count; };
struct trace { const char *text, *error, *help, *file; uint32_t line, column; };
static const struct description kernels[] = {{"first", "", 0, 0, "k.cpp", 1, 1},
                                             {"wrong", "", 0, 0, "k.cpp", 9, 1}};
static const struct list all = {kernels, 2};
static const struct list *list(void) { return &all; }
static void freeList(const struct list *l) {}
static const struct trace bad = {0, "load: x has 2 dimensions, but 1 position is given",
                                 "give one position for each", "k.cpp", 12, 7};
static const struct trace *trace(const char *name, const void *bindings, size_t count) { return &bad; }
static void freeTrace(const struct trace *t) {}
static const struct { uint32_t version; const void *functions[4]; } library =
    {VERSION, {list, freeList, trace, freeTrace}};
const void *tilewright_kernel_library(void) { return &library; }
"""


# Two matrices that a kernel joins, and one that works in place.
JOIN = """tile.kernel @join(in %a: !tile.buffer<[M, K], f32>, in %b: !tile.buffer<[K, 2 * N + 1], f32>,
    out %y: !tile.buffer<[M, N], f32> init 0.0 : f32) symbols [M, K {multiple = 2}, N {max = 100}] grid [1] {}
tile.kernel @double(inout %x: !tile.buffer<[N], f32>, out %y: !tile.buffer<[N], f32> init 0.0 : f32)
    symbols [N] grid [1] {}
"""


def call(callee, arguments, results):
    """A model that calls a kernel: `arguments` and `results` are types."""
    names = [f"%a{i}" for i in range(len(arguments))]
    signature = ", ".join(f"{name}: {type}" for name, type in zip(names, arguments))
    return (f"func.func @main({signature}) -> ({', '.join(results)}) {{\n"
            f'  %r:{len(results)} = tw.kernel_call "{callee}"({", ".join(names)}) :'
            f" ({', '.join(arguments)}) -> ({', '.join(results)})\n"
            f"  return {', '.join(f'%r#{i}' for i in range(len(results)))} : {', '.join(results)}\n}}\n")


def call_files():
    """Models whose calls do not fit, but for the first one."""
    dynamic, a, b, y = "tensor<?x?xf32>", "tensor<4x6xf32>", "tensor<6x7xf32>", "tensor<4x3xf32>"
    yield "call.mlir", call("join", [dynamic, dynamic], [dynamic])
    yield "call_unknown.mlir", call("mylib.joint", [a, b], [y])
    yield "call_count.mlir", call("join", [a], [y])
    yield "call_results.mlir", call("join", [a, b], [y, y])
    yield "call_dtype.mlir", call("join", [a, "tensor<6x7xf64>"], [y])
    yield "call_rank.mlir", call("join", [a, "tensor<6xf32>"], [y])
    yield "call_sizes.mlir", call("join", [a, "tensor<8x7xf32>"], [y])
    yield "call_half.mlir", call("join", [a, "tensor<6x8xf32>"], [y])
    yield "call_multiple.mlir", call("join", ["tensor<4x5xf32>", "tensor<5x7xf32>"], [y])
    yield "call_result.mlir", call("join", [a, b], ["tensor<4x2xf32>"])
    yield "call_number.mlir", call("join", [a, "f64"], [y])
    yield "call_inout.mlir", call("double", ["tensor<4xf32>"], ["tensor<4xf32>"])
    yield "join.mlir", JOIN
    yield "call_fake.mlir", FAKE


# A custom operator whose fake implementation gave twice as many elements as its kernel has.
FAKE = """func.func @main(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %s = torch.symbolic_int "s0" {min_val = 0, max_val = 100} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  %f = torch.constant.float 2.000000e+00
  %y = torch.operator "torch.mylib.scale"(%x, %f) : (!torch.vtensor<[?],f32>, !torch.float) -> !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %y, [%s], affine_map<()[s0] -> (s0 * 2)> : !torch.vtensor<[?],f32>
  return %y : !torch.vtensor<[?],f32>
}
"""


def source(statement, head="#include <tilewright/Kernel.h>"):
    """A kernel in C++, with one statement of its own."""
    return (f'{head}\nusing namespace tw::kernel;\n\nTILEWRIGHT_KERNEL(copy, "y = x") {{\n'
            '  Symbol M("M"), N("N");\n'
            '  Buffer x = input("x", f32, {M, N}), y = output("y", f32, {M, N});\n'
            f'  auto [m] = grid(M);\n  {statement}\n}}\n')


COPY = "store(y, {m, 0}, load(x, {m, 0}, {1, N}));"


def source_files():
    yield "condition.cpp", source(f"if (m == 0) {COPY}")
    yield "extent.cpp", source("store(y, {m, 0}, load(x, {m, 0}, {1, m}));")
    yield "body.cpp", source("Tile t = forLoop(0, N, 1, zeros({1, 1}, f32), [&](Tile t) { return t; });")
    yield "no_include.cpp", source(COPY, head="")
    yield "quotient.cpp", source("store(y, {m % 4, 0}, load(x, {m, 0}, {1, N}));")
    yield "unstored.cpp", source("Tile t = load(x, {m, 0}, {1, N});")
    yield "twice.cpp", source(COPY) + source(COPY)
    yield "includes.cpp", source(COPY, head='#include "helper.h"')
    yield "helper.h", "#include <tilewright/Kernel.h>\n"
    yield "number.cpp", source("int i = m;")
    yield "axis.cpp", source("store(y, {m, 0}, max(load(x, {m, 0}, {1, N})));")
    yield "options.cpp", source("store(y, {m, 0}, load(x, {m, 0}, {1, N}, {.pad = 0.0, .mask = x}));")
    yield "subscript.cpp", source("Tile t = load(x, {m, 0}, {1, N})[0];")


def kernel_files():
    """(file name, content) of every one."""
    yield "good.mlir", GOOD
    yield "two.mlir", GOOD + GOOD.replace("@scale", "@other")
    yield "empty.mlir", "// nothing\n"
    yield "function.mlir", GOOD + "tile.kernel @k() grid [1] {}\nmodule {}\n"
    yield "syntax.mlir", changed("tile.load %x[%i]", "tile.load %x[%i")
    yield "verifier.mlir", changed("tensor<4xf32>\n  %f", "tensor<4xf64>\n  %f")
    yield "unbound.mlir", changed("in %x: !tile.buffer<[N], f32>, ", "").replace("%t = tile.load %x", "%t = tile.load %y")
    yield "deep.mlir", "tile.kernel @k() grid [1] {\n" * 100000
    yield "outside.mlir", changed("grid [N ceildiv 4]", "grid [N]")
    yield "race.mlir", changed("%i = arith.muli %p, %c4 : index", "%i = arith.addi %p, %p : index")
    yield "unwritten.mlir", changed("grid [N ceildiv 4]", "grid [N floordiv 4]")
    yield "unstored.mlir", changed("  tile.store %v, %y[%i] : tensor<4xf32>, !tile.buffer<[N], f32>\n", "")
    yield "large.mlir", "tile.kernel @k(%n: index as N, out %y: !tile.buffer<[N], f32> init 0.0 : f32) symbols [N] grid [1] {}\n"
    yield "extent.mlir", ("tile.kernel @k(%n: index as N) symbols [N] grid [1] {\n"
                          "  %t = tile.iota 0 from %n : tensor<?xi32, #tile.dims<[N]>>\n}\n")
    yield "endless.mlir", ("tile.kernel @k(%n: index) grid [1] {\n  %c0 = arith.constant 0 : index\n"
                           "  %c1 = arith.constant 1 : index\n"
                           "  tile.for %i = %c0 to %n step %c1 {\n  }\n}\n")
    yield "checks.mlir", ("tile.kernel @k(in %i: !tile.buffer<[2], i64>) grid [1] {\n"
                          "  %c0 = arith.constant 0 : index\n  %c9 = arith.constant 9 : index\n"
                          "  %t = tile.load %i[%c0] : !tile.buffer<[2], i64> -> tensor<2xi64>\n"
                          '  %s = tile.check %t in %c9, "token %lld of %lld" : tensor<2xi64>\n}\n')
    yield "dependent.mlir", ("tile.kernel @k(in %x: !tile.buffer<[M, K], f32>, in %y: !tile.buffer<[K, 2 * N + 1], f32>)\n"
                             "    symbols [M, K {multiple = 2}, N] grid [1] {}\n")
    yield "begins.mlir", ("tile.kernel @k(in %x: !tile.buffer<[64], f32>, inout %z: !tile.buffer<[8], f32>)\n"
                          "    grid [1] attributes {tile.begins = array<i64: 0, 1>} {}\n")
    yield "library.c", LIBRARY.replace("VERSION", "1")
    yield "old_library.c", LIBRARY.replace("VERSION", "0")
    yield "crashes.c", LIBRARY.replace("VERSION", "1").replace("return &bad;", "*(volatile int *)0 = 1; return &bad;")
    yield "hungry.c", ("#include <stdlib.h>\n" + LIBRARY.replace("VERSION", "1")).replace(
        "return &bad;", "if (!malloc((size_t)6 << 30)) abort(); return &bad;")
    yield "k.cpp", "#include <tilewright/Kernel.h>\n"
    yield "k.txt", GOOD
    # A compiler that refuses everything.
    yield "refuse.sh", "#!/bin/sh\necho \"k.cpp:1:10: error: this compiler takes nothing\"\nexit 1\n"
    # Compilers that the environment fails, in g++'s words.
    for name, said in [("hung_up", "c++: internal compiler error: Hangup signal terminated program cc1plus"),
                       ("disk", "<built-in>: fatal error: when writing output to k.ii: No such file or directory"),
                       ("files", "/usr/bin/ld: cannot find -lc: Too many open files")]:
        yield f"{name}.sh", f"#!/bin/sh\necho \"{said}\"\nexit 1\n"
