// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels printed as source. That sources trace to the programs that they were printed from is
// e2e/kernel_source.py's test; here is how they read.
#include "Language/Source/Source.h"
#include "Language/Source/Names.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;

namespace tw {
namespace {

class Source : public testing::Test {
protected:
  Source() {
    context
        .loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  /// The source of a kernel, without the lines before it; or the error.
  std::string print(StringRef text, bool comments = true) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "does not parse";
    auto source = source::printSource(*module->getOps<tile::KernelOp>().begin());
    if (!source)
      return source.error().message;
    std::string kernel = source->substr(source->find("TILEWRIGHT_KERNEL"));
    static const std::regex comment(" *//[^\\n]*\\n");
    return comments ? kernel : std::regex_replace(kernel, comment, "");
  }

  MLIRContext context;
};

TEST_F(Source, HasARowForEachOperation) {
  EXPECT_EQ(source::operationsWithoutSource(context), std::vector<std::string>())
      << "these operations need a row in lib/Language/Source/Operations.cpp";
}

TEST_F(Source, ReadsAsPeopleWrite) {
  EXPECT_EQ(print(R"(
    #x = loc("softmax.cpp":9:3)
    tile.kernel @softmax(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>)
        symbols [M, N {min = 1}] grid [M] {
      %m = tile.program_id 0 loc(#x)
      %c0 = arith.constant 0 : index loc(#x)
      %row = tile.load %x[%m, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>> loc(#x)
      %max = tile.reduce max %row axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32> loc(#x)
      %column = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32> loc(#x)
      %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>> loc(#x)
      %below = arith.subf %row, %all : tensor<1x?xf32, #tile.dims<[N]>> loc(#x)
      %e = math.exp %below : tensor<1x?xf32, #tile.dims<[N]>> loc(#x)
      %sum = tile.reduce sum %e axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32> loc(#x)
      %divisor = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32> loc(#x)
      %divisors = tile.broadcast %divisor : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>> loc(#x)
      %p = arith.divf %e, %divisors : tensor<1x?xf32, #tile.dims<[N]>> loc(#x)
      tile.store %p, %y[%m, %c0] : tensor<1x?xf32, #tile.dims<[N]>>, !tile.buffer<[M, N], f32> loc(#x)
    })"),
            R"(TILEWRIGHT_KERNEL(softmax) {
  Symbol M("M"), N("N", {.min = 1});
  Buffer x = input("x", f32, {M, N});
  Buffer y = output("y", f32, {M, N});
  auto [m] = grid(M);

  // softmax.cpp:9
  Tile x_tile = load(x, {m, 0}, {1, N});
  Tile t = exp(x_tile - max(x_tile, 1));
  store(y, {m, 0}, t / sum(t, 1));
}
)");
}

TEST_F(Source, LoopsAndBranchesAreLambdas) {
  EXPECT_EQ(print(R"(
    tile.kernel @loop(in %x: !tile.buffer<[8, 64], f32>, out %y: !tile.buffer<[8, 1], f32>) grid [8]
        attributes {tile.destinations, tile.block = array<i64: 2>, tile.replaces = "sums"} {
      %m = tile.program_id 0
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      %z = tile.full %zero : f32 -> tensor<1x1xf32>
      %r = tile.for %k = %c0 to %c8 step %c8 carry (%acc = %z : tensor<1x1xf32>) {
        %t = tile.load %x[%m, %k] : !tile.buffer<[8, 64], f32> -> tensor<1x1xf32>
        %s = arith.addf %acc, %t : tensor<1x1xf32>
        tile.yield %s : tensor<1x1xf32>
      } combine (%a : tensor<1x1xf32>, %b : tensor<1x1xf32>) {
        %c = arith.addf %a, %b : tensor<1x1xf32>
        tile.yield %c : tensor<1x1xf32>
      }
      %first = arith.cmpi eq, %m, %c0 : index
      scf.if %first {
        tile.store %r, %y[%m, %c0] : tensor<1x1xf32>, !tile.buffer<[8, 1], f32>
      }
    })",
                  /*comments=*/false),
            R"(TILEWRIGHT_KERNEL(loop) {
  Buffer x = input("x", f32, {8, 64});
  Buffer y = output("y", f32, {8, 1});
  hint("tile.block", {2});
  outputsBindSymbols();
  replaces("sums");
  auto [m] = grid(8);

  Tile acc = forLoop(0, 8, 8, zeros({1, 1}, f32), [&](Index k, Tile acc) {
    Tile x_tile = load(x, {m, k}, {1, 1});
    return acc + x_tile;
  }, [&](Tile left, Tile right) {
    return left + right;
  });
  ifThen(m == 0, [&] {
    store(y, {m, 0}, acc);
  });
}
)");
}

TEST_F(Source, SaysWhatItCannotSay) {
  EXPECT_EQ(print(R"(
    tile.kernel @k(in %x: !tile.buffer<[8], i1>, out %y: !tile.buffer<[8], i1>) grid [1] {
      %c0 = arith.constant 0 : index
      %t = tile.load %x[%c0] : !tile.buffer<[8], i1> -> tensor<8xi1>
      %s = arith.addi %t, %t : tensor<8xi1>
      tile.store %s, %y[%c0] : tensor<8xi1>, !tile.buffer<[8], i1>
    })"),
            "the kernel language cannot say arith.addi of i1");
}

TEST(SourceNames, AreIdentifiers) {
  EXPECT_EQ(source::identifier("encoder.layer.0.weight"), "encoder_layer_0_weight");
  EXPECT_EQ(source::identifier("0.weight"), "n_0_weight");
  EXPECT_EQ(source::identifier("__a--b__"), "a_b");
  EXPECT_EQ(source::identifier("..."), "");
}

TEST(SourceNames, HideNothing) {
  source::Names names;
  EXPECT_EQ(names.take("relu"), "relu_1"); // a function of the language
  EXPECT_EQ(names.take("x"), "x");
  EXPECT_EQ(names.take("x"), "x_2");
  names.enter();
  EXPECT_EQ(names.take("x"), "x_3");
  EXPECT_EQ(names.take("k"), "k");
  names.leave();
  EXPECT_EQ(names.take("x"), "x_4");
  EXPECT_EQ(names.take("k"), "k"); // free again
  EXPECT_EQ(names.take("return"), "return_1");
}

} // namespace
} // namespace tw
