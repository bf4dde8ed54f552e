// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Work.h"
#include "Import/Text/Kernels.h"
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::tile;

namespace {

/// The work of a kernel as text, so that dynamic sizes can be compared, too.
struct Texts {
  std::string flops, arithmetic;
  std::vector<std::string> traffic; // "a: 128 of 256"
};

Texts workOf(const std::string &text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importKernelString(&context, text, "test");
  EXPECT_TRUE(bool(module)) << module.error().render();
  auto kernel = *(*module)->getOps<KernelOp>().begin();
  KernelWork work = tile::workOf(kernel);
  Texts texts{work.flops ? work.flops->str() : "?", "", {}};
  if (work.arithmetic)
    llvm::raw_string_ostream(texts.arithmetic) << work.arithmetic;
  for (const Traffic &traffic : work.traffic)
    texts.traffic.push_back(kernel.getArgument(traffic.argument).getName().str() + ": " +
                            (traffic.accessed ? traffic.accessed->str() : "?") + " of " +
                            traffic.whole.str());
  return texts;
}

using Lines = std::vector<std::string>;

/// a (m x k) by b (k x n) in blocks of 8 x 16, 4 terms a trip; sizes are written into the text.
std::string product(const std::string &m, const std::string &n, const std::string &k,
                    const std::string &symbols, const std::string &grid, const std::string &end) {
  std::string a = "!tile.buffer<[" + m + ", " + k + "], bf16>",
              b = "!tile.buffer<[" + k + ", " + n + "], bf16>",
              c = "!tile.buffer<[" + m + ", " + n + "], f32>";
  return "tile.kernel @k(in %a: " + a + ", in %b: " + b + ", out %c: " + c + ") " + symbols +
         " grid [" + grid + R"(] {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %i = tile.program_id 0
    %j = tile.program_id 1
    %row = arith.muli %i, %c8 : index
    %column = arith.muli %j, %c16 : index
    %zero = arith.constant 0.0 : f32
    %none = tile.full %zero : f32 -> tensor<8x16xf32>
    )" + end +
         R"(
    %sum = tile.for %t = %c0 to %end step %c1 carry (%s = %none : tensor<8x16xf32>) {
      %at = arith.muli %t, %c4 : index
      %x = tile.load %a[%row, %at] : )" +
         a + R"( -> tensor<8x4xbf16>
      %y = tile.load %b[%at, %column] : )" +
         b + R"( -> tensor<4x16xbf16>
      %d = tile.dot %x, %y, %s : tensor<8x4xbf16>, tensor<4x16xbf16>, tensor<8x16xf32>
      tile.yield %d : tensor<8x16xf32>
    }
    %e = math.exp %sum : tensor<8x16xf32>
    tile.store %e, %c[%row, %column] : tensor<8x16xf32>, )" +
         c + "\n}";
}

TEST(Work, OfWholeBlocks) {
  Texts work = workOf(product("16", "32", "8", "", "2, 2", "%end = arith.constant 2 : index"));
  EXPECT_EQ(work.flops, std::to_string(2 * 16 * 32 * 8 + 16 * 32));
  EXPECT_EQ(work.arithmetic, "bf16");
  EXPECT_EQ(work.traffic, (Lines{"a: 256 of 256", "b: 512 of 512", "c: 2048 of 2048"}));
}

TEST(Work, EndsWhereBuffersEnd) {
  // Three programs of 8 rows for 17, two of 16 columns for 20, two trips of 4 terms for 7.
  Texts work = workOf(product("17", "20", "7", "", "3, 2", "%end = arith.constant 2 : index"));
  EXPECT_EQ(work.flops, std::to_string(2 * 17 * 20 * 7 + 17 * 20));
  EXPECT_EQ(work.traffic, (Lines{"a: 238 of 238", "b: 280 of 280", "c: 1360 of 1360"}));
}

TEST(Work, OfSizesKnownAtTheCall) {
  Texts work = workOf(product("M", "N", "K", "symbols [M, N, K]", "M ceildiv 8, N ceildiv 16",
                              "%end = tile.size K ceildiv 4"));
  EXPECT_EQ(work.flops, "K * M * N * 2 + M * N");
  EXPECT_EQ(work.traffic, (Lines{"a: K * M * 2 of K * M * 2", "b: K * N * 2 of K * N * 2",
                                 "c: M * N * 4 of M * N * 4"}));
}

TEST(Work, OfRowsThatDataChooses) {
  Texts work = workOf(R"(
  tile.kernel @k(in %table: !tile.buffer<[1000, 16], f32>, in %rows: !tile.buffer<[5], i64>,
                 out %y: !tile.buffer<[5, 16], f32>) grid [5] {
    %i = tile.program_id 0
    %c0 = arith.constant 0 : index
    %row = tile.load %rows[%i] : !tile.buffer<[5], i64> -> tensor<1xi64>
    %number = tile.extract %row : tensor<1xi64> -> i64
    %at = arith.index_cast %number : i64 to index
    %x = tile.load %table[%at, %c0] : !tile.buffer<[1000, 16], f32> -> tensor<1x16xf32>
    tile.store %x, %y[%i, %c0] : tensor<1x16xf32>, !tile.buffer<[5, 16], f32>
  })");
  EXPECT_EQ(work.flops, "0");
  EXPECT_EQ(work.traffic, (Lines{"table: 320 of 64000", "rows: 40 of 40", "y: 320 of 320"}));
}

TEST(Work, OfTripsThatDifferIsThatOfTheMiddleProgram) {
  // 1, 2, 3, 4 and 5 trips.
  Texts work = workOf(R"(
  tile.kernel @k(in %x: !tile.buffer<[5, 4], f32>, out %y: !tile.buffer<[5, 4], f32>) grid [5] {
    %i = tile.program_id 0
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %end = arith.addi %i, %c1 : index
    %first = tile.load %x[%i, %c0] : !tile.buffer<[5, 4], f32> -> tensor<1x4xf32>
    %sum = tile.for %t = %c0 to %end step %c1 carry (%s = %first : tensor<1x4xf32>) {
      %u = arith.addf %s, %first : tensor<1x4xf32>
      tile.yield %u : tensor<1x4xf32>
    }
    tile.store %sum, %y[%i, %c0] : tensor<1x4xf32>, !tile.buffer<[5, 4], f32>
  })");
  EXPECT_EQ(work.flops, std::to_string(5 * 3 * 4));
}

TEST(Work, OfFewKindsOfTripsIsTheMean) {
  // 1, 4, 1 and 4 trips: taps that the phases of a transposed convolution see are such ones.
  Texts work = workOf(R"(
  tile.kernel @k(in %x: !tile.buffer<[4, 4], f32>, out %y: !tile.buffer<[4, 4], f32>) grid [4] {
    %i = tile.program_id 0
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %phase = arith.remsi %i, %c2 : index
    %more = arith.muli %phase, %c3 : index
    %end = arith.addi %more, %c1 : index
    %first = tile.load %x[%i, %c0] : !tile.buffer<[4, 4], f32> -> tensor<1x4xf32>
    %sum = tile.for %t = %c0 to %end step %c1 carry (%s = %first : tensor<1x4xf32>) {
      %u = arith.addf %s, %first : tensor<1x4xf32>
      tile.yield %u : tensor<1x4xf32>
    }
    tile.store %sum, %y[%i, %c0] : tensor<1x4xf32>, !tile.buffer<[4, 4], f32>
  })");
  EXPECT_EQ(work.flops, std::to_string((1 + 4 + 1 + 4) * 4));
}

TEST(Work, IsUnknownWhereTripsDependOnData) {
  Texts work = workOf(R"(
  tile.kernel @k(in %n: !tile.buffer<[1], i64>, in %x: !tile.buffer<[9], f32>,
                 out %y: !tile.buffer<[1], f32>) grid [1] {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %loaded = tile.load %n[%c0] : !tile.buffer<[1], i64> -> tensor<1xi64>
    %number = tile.extract %loaded : tensor<1xi64> -> i64
    %end = arith.index_cast %number : i64 to index
    %zero = arith.constant 0.0 : f32
    %none = tile.full %zero : f32 -> tensor<1xf32>
    %sum = tile.for %t = %c0 to %end step %c1 carry (%s = %none : tensor<1xf32>) {
      %a = tile.load %x[%t] : !tile.buffer<[9], f32> -> tensor<1xf32>
      %u = arith.addf %s, %a : tensor<1xf32>
      tile.yield %u : tensor<1xf32>
    }
    tile.store %sum, %y[%c0] : tensor<1xf32>, !tile.buffer<[1], f32>
  })");
  EXPECT_EQ(work.flops, "?");
  EXPECT_EQ(work.traffic[1], "x: ? of 36");
}

} // namespace
