// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole kernels: their heads, indices, accesses, loops and branches.
#include "Parse.h"
#include <gtest/gtest.h>

using namespace tw::kernel;

namespace {

TEST(Kernel, Head) {
  std::string text = tw::traced([] {
    Symbol M("M"), K("K", {.min = 1, .max = 4096, .multiple = 8}), T("T");
    input("x", u8, {M, ceilDiv(K * 2, 4) - 1});
    inout("k", i1, {K});
    output("y", f32, {}, -inf);
    output("z", u8, {mod(M, 3) * K}, 255);
    output("w", bf16, {M + K + M}, 0);
    scalar(T);
    scalar("scale", f64);
    grid(M, floorDiv(T, 2), 1);
  });
  EXPECT_EQ(text,
            "tile.kernel @k(in %x: !tile.buffer<[M, (K * 2) ceildiv 4 - 1], ui8>,\n"
            "inout %k: !tile.buffer<[K], i1>,\n"
            "out %y: !tile.buffer<[], f32> init 0xFF800000 : f32,\n"
            "out %z: !tile.buffer<[K * (M mod 3)], ui8> init -1 : i8,\n"
            "out %w: !tile.buffer<[K + M * 2], bf16> init 0.0 : bf16,\n"
            "%T: index as T,\n"
            "%scale: f64)\n"
            "symbols [M, K {min = 1, max = 4096, multiple = 8}, T] grid [M, T floordiv 2, 1] {\n"
            "%pid0 = tile.program_id 0\n"
            "%pid1 = tile.program_id 1\n"
            "%pid2 = tile.program_id 2\n"
            "}\n");
}

TEST(Kernel, HintsAndProgramIds) {
  std::string text = tw::traced([] {
    hint("tile.block", {4, 2});
    Buffer y = output("y", i64, {3, 5});
    grid(3, 5);
    store(y, {programId(0), programId(1)}, full({1, 1}, cast(programId(1), i64)));
  });
  EXPECT_EQ(text, "tile.kernel @k(out %y: !tile.buffer<[3, 5], i64>)\n"
                  "grid [3, 5] attributes {tile.block = array<i64: 4, 2>} {\n"
                  "%pid0 = tile.program_id 0\n"
                  "%pid1 = tile.program_id 1\n"
                  "%0 = arith.index_cast %pid1 : index to i64\n"
                  "%1 = tile.full %0 : i64 -> tensor<1x1xi64>\n"
                  "tile.store %1, %y[%pid0, %pid1] : tensor<1x1xi64>, !tile.buffer<[3, 5], i64>\n"
                  "}\n");
}

TEST(Kernel, WhatDispatchesSay) {
  std::string text = tw::traced([] {
    Symbol N("N");
    Buffer x = input("x", f32, {4}), z = inout("z", f32, {4});
    output("y", f32, {N}, 0.0);
    scalar("n", N);
    outputsBindSymbols();
    beginsAs(z, x);
    isConstant(x);
    replaces("linear_relu");
    grid(1);
  });
  EXPECT_NE(text.find("%n: index as N)"), std::string::npos) << text;
  EXPECT_NE(text.find("in %x: !tile.buffer<[4], f32> constant,"), std::string::npos) << text;
  EXPECT_NE(text.find("grid [1] attributes {tile.destinations, tile.begins = array<i64: 0, 1>, "
                      "tile.replaces = \"linear_relu\"} {"),
            std::string::npos)
      << text;
  // The kinds of configurations are the compiler's; here is only what is written.
  std::string written =
      trace("k", [] {
        configuration("loops", {{"block", {32, 0}}, {"parts", 1}}, "cpu", {{"in_memory", false}});
        grid(1);
      }).text;
  EXPECT_NE(
      written.find("tile.configuration = #tile.config<\"loops\" {\"block\" = array<i64: 32, 0>, "
                   "\"parts\" = 1 : i64} on <\"cpu\" {\"in_memory\" = false}>>"),
      std::string::npos)
      << written;
}

TEST(Kernel, BoundSymbol) {
  std::string text = tw::traced(
      [] {
        Symbol M("M"), T("T");
        input("x", f32, {M * 2});
        scalar(T);
        grid(ceilDiv(M, parameter("B", 4)));
      },
      {{"M", 10}, {"T", 3}, {"B", 5}});
  EXPECT_EQ(text, "tile.kernel @k(in %x: !tile.buffer<[20], f32>,\n"
                  "%T: index)\n"
                  "grid [2] {\n"
                  "%pid0 = tile.program_id 0\n"
                  "}\n");
}

/// The body of a kernel with a grid of M, x of [M, 8] and y of [M, 8], without the program id.
std::string body(void (*kernel)(Index, Size, Buffer, Buffer)) {
  std::string text = tw::traced([&] {
    Symbol M("M");
    Buffer x = input("x", f32, {M, 8}), y = output("y", f32, {M, 8}, 0);
    auto [m] = grid(M);
    kernel(m, M, x, y);
  });
  size_t start = text.find('\n', text.find("tile.program_id"));
  return start == std::string::npos ? text : text.substr(start + 1, text.size() - start - 3);
}

TEST(Kernel, Indices) {
  EXPECT_EQ(body([](Index m, Size M, Buffer, Buffer) { minimum((m + 1) * 32, M) - m; }),
            "%c1 = arith.constant 1 : index\n"
            "%0 = arith.addi %pid0, %c1 : index\n"
            "%c32 = arith.constant 32 : index\n"
            "%1 = arith.muli %0, %c32 : index\n"
            "%M = tile.size M\n"
            "%2 = arith.minsi %1, %M : index\n"
            "%3 = arith.subi %2, %pid0 : index\n");
  // What is known not to be negative divides as arith does; the rest is mended.
  EXPECT_EQ(body([](Index m, Size M, Buffer, Buffer) { floorDiv(m, 4), mod(m, M); }),
            "%c4 = arith.constant 4 : index\n"
            "%0 = arith.divsi %pid0, %c4 : index\n"
            "%M = tile.size M\n"
            "%1 = arith.remsi %pid0, %M : index\n");
  EXPECT_EQ(body([](Index m, Size, Buffer, Buffer) { floorDiv(-m, 4); }),
            "%c0 = arith.constant 0 : index\n"
            "%0 = arith.subi %c0, %pid0 : index\n"
            "%c4 = arith.constant 4 : index\n"
            "%1 = arith.remsi %0, %c4 : index\n"
            "%2 = arith.cmpi ne, %1, %c0 : index\n"
            "%3 = arith.divsi %0, %c4 : index\n"
            "%4 = arith.cmpi slt, %1, %c0 : index\n"
            "%5 = arith.cmpi slt, %c4, %c0 : index\n"
            "%6 = arith.xori %4, %5 : i1\n"
            "%7 = arith.andi %2, %6 : i1\n"
            "%c1 = arith.constant 1 : index\n"
            "%8 = arith.subi %3, %c1 : index\n"
            "%9 = arith.select %7, %8, %3 : index\n");
}

TEST(Kernel, Sizes) {
  EXPECT_EQ(body([](Index, Size M, Buffer, Buffer) { minimum(M, 64) * 2; }),
            "%M = tile.size M\n"
            "%c64 = arith.constant 64 : index\n"
            "%0 = arith.minsi %M, %c64 : index\n"
            "%c2 = arith.constant 2 : index\n"
            "%1 = arith.muli %0, %c2 : index\n");
  EXPECT_EQ(body([](Index, Size M, Buffer, Buffer) { M * 2 > 8 && 4 != M; }),
            "%0 = tile.size M * 2\n"
            "%c8 = arith.constant 8 : index\n"
            "%1 = arith.cmpi sgt, %0, %c8 : index\n"
            "%c4 = arith.constant 4 : index\n"
            "%M = tile.size M\n"
            "%2 = arith.cmpi ne, %c4, %M : index\n"
            "%3 = arith.andi %1, %2 : i1\n");
}

/// A number is carried as carry() does it, and branches may return numbers.
TEST(Kernel, Numbers) {
  EXPECT_EQ(body([](Index, Size M, Buffer, Buffer) {
              forLoop(0, M, 1, 0, [](Index k, Index count) { return count + k; });
            }),
            "%c0 = arith.constant 0 : index\n"
            "%M = tile.size M\n"
            "%c1 = arith.constant 1 : index\n"
            "%0 = tile.for %i = %c0 to %M step %c1 carry (%1 = %c0 : index) {\n"
            "%2 = arith.addi %1, %i : index\n"
            "tile.yield %2 : index\n"
            "}\n");
  EXPECT_EQ(body([](Index, Size M, Buffer, Buffer) { 1.0 / sqrt(cast(M, f32)); }),
            "%M = tile.size M\n"
            "%0 = arith.index_cast %M : index to i64\n"
            "%1 = arith.sitofp %0 : i64 to f32\n"
            "%2 = math.sqrt %1 : f32\n"
            "%3 = arith.constant 1.0 : f32\n"
            "%4 = arith.divf %3, %2 : f32\n");
  EXPECT_EQ(body([](Index m, Size, Buffer, Buffer) {
              ifThenElse(m > 3, [] { return 1.0; }, [] { return 2.0; });
            }),
            "%c3 = arith.constant 3 : index\n"
            "%0 = arith.cmpi sgt, %pid0, %c3 : index\n"
            "%1 = scf.if %0 -> (f64) {\n"
            "%2 = arith.constant 1.0 : f64\n"
            "scf.yield %2 : f64\n"
            "} else {\n"
            "%3 = arith.constant 2.0 : f64\n"
            "scf.yield %3 : f64\n"
            "}\n");
}

TEST(Kernel, Accesses) {
  EXPECT_EQ(
      body([](Index m, Size, Buffer x, Buffer y) {
        Tile t = load(x, {m - 1, 0}, {1, 4}, {.strides = {1, 2}, .pad = -inf});
        store(y, {m, 1}, t,
              {.strides = {1, 2}, .mask = t > 0, .drop = true, .atomic = Atomic::max});
      }),
      "%c1 = arith.constant 1 : index\n"
      "%0 = arith.subi %pid0, %c1 : index\n"
      "%c0 = arith.constant 0 : index\n"
      "%1 = arith.constant 0xFF800000 : f32\n"
      "%2 = tile.load %x[%0, %c0] strides [1, 2] pad %1 : f32 : !tile.buffer<[M, 8], f32> -> "
      "tensor<1x4xf32>\n"
      "%3 = arith.constant 0.0 : f32\n"
      "%4 = tile.full %3 : f32 -> tensor<1x4xf32>\n"
      "%5 = arith.cmpf ogt, %2, %4 : tensor<1x4xf32>\n"
      "tile.store %2, %y[%pid0, %c1] strides [1, 2] mask %5 : tensor<1x4xi1> drop atomic max : "
      "tensor<1x4xf32>, !tile.buffer<[M, 8], f32>\n");
  EXPECT_EQ(
      body([](Index m, Size M, Buffer x, Buffer y) {
        Tile rows = check(iota({4}), M, "row %lld of %lld");
        load(x, {rows, m}, {4, 1});
        Tile values = gather(x, {rows, 0});
        scatter(y, {rows, 1}, values, {.atomic = Atomic::any});
      }),
      "%c0 = arith.constant 0 : index\n"
      "%0 = tile.iota 0 from %c0 : tensor<4xi64>\n"
      "%M = tile.size M\n"
      "%1 = tile.check %0 in %M, \"row %lld of %lld\" : tensor<4xi64>\n"
      "%2 = tile.load %x[%1 : tensor<4xi64>, %pid0] : !tile.buffer<[M, 8], f32> -> "
      "tensor<4x1xf32>\n"
      "%3 = arith.index_cast %c0 : index to i64\n"
      "%4 = tile.full %3 : i64 -> tensor<4xi64>\n"
      "%5 = tile.gather %x[%1 : tensor<4xi64>, %4 : tensor<4xi64>] : !tile.buffer<[M, 8], f32> "
      "-> tensor<4xf32>\n"
      "%c1 = arith.constant 1 : index\n"
      "%6 = arith.index_cast %c1 : index to i64\n"
      "%7 = tile.full %6 : i64 -> tensor<4xi64>\n"
      "tile.scatter %5, %y[%1 : tensor<4xi64>, %7 : tensor<4xi64>] atomic any : tensor<4xf32>, "
      "!tile.buffer<[M, 8], f32>\n");
}

TEST(Kernel, LoopsAndBranches) {
  EXPECT_EQ(body([](Index m, Size M, Buffer x, Buffer y) {
              Tile zero = zeros({1, 8}, f32);
              auto [sum, count] = forLoop(
                  M, 0, -2, carry(zero, 0),
                  [&](Index i, Tile sum, Index count) {
                    return carry(sum + load(x, {i - 1, 0}, {1, 8}), count + 1);
                  },
                  [](Tile a, Index m, Tile b, Index n) { return carry(a + b, m + n); });
              Tile result = ifThenElse(count > 3, [&] { return sum; }, [&] { return zero; });
              ifThen(m == 0, [&] { store(y, {m, 0}, result); });
            }),
            "%0 = arith.constant 0.0 : f32\n"
            "%1 = tile.full %0 : f32 -> tensor<1x8xf32>\n"
            "%M = tile.size M\n"
            "%c0 = arith.constant 0 : index\n"
            "%c_2 = arith.constant -2 : index\n"
            "%2, %3 = tile.for %i = %M to %c0 step %c_2 carry (%4 = %1 : tensor<1x8xf32>, %5 = %c0 "
            ": index) {\n"
            "%c1 = arith.constant 1 : index\n"
            "%6 = arith.subi %i, %c1 : index\n"
            "%7 = tile.load %x[%6, %c0] : !tile.buffer<[M, 8], f32> -> tensor<1x8xf32>\n"
            "%8 = arith.addf %4, %7 : tensor<1x8xf32>\n"
            "%9 = arith.addi %5, %c1 : index\n"
            "tile.yield %8, %9 : tensor<1x8xf32>, index\n"
            "} combine (%10 : tensor<1x8xf32>, %11 : index, %12 : tensor<1x8xf32>, %13 : index) {\n"
            "%14 = arith.addf %10, %12 : tensor<1x8xf32>\n"
            "%15 = arith.addi %11, %13 : index\n"
            "tile.yield %14, %15 : tensor<1x8xf32>, index\n"
            "}\n"
            "%c3 = arith.constant 3 : index\n"
            "%16 = arith.cmpi sgt, %3, %c3 : index\n"
            "%17 = scf.if %16 -> (tensor<1x8xf32>) {\n"
            "scf.yield %2 : tensor<1x8xf32>\n"
            "} else {\n"
            "scf.yield %1 : tensor<1x8xf32>\n"
            "}\n"
            "%18 = arith.cmpi eq, %pid0, %c0 : index\n"
            "scf.if %18 {\n"
            "tile.store %17, %y[%pid0, %c0] : tensor<1x8xf32>, !tile.buffer<[M, 8], f32>\n"
            "}\n");
}

} // namespace
