// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows in the plain lowering against the interpreter: neighbours that one access reads and writes,
// rows that stay in registers or lie in shared memory, and rows that are too long for that, are no
// multiple of what an access has, or go beyond the end of their buffer.
#include "CompiledKernel.h"
#include "IO/InputSpec.h"
#include "SimulatedTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tw::target {
namespace {

struct Rows {
  int64_t columns;
  const char *type;
  int64_t each = 1;      // rows of a program
  int64_t count = 0;     // of all rows; 0: known only at the call
  bool hasSecond = true; // whether %b is loaded, too; else it is the squares of %a
};

/// A kernel of so many rows for each program; `compute` makes %out, of f32, of %a and %b, and of
/// %scale, all [rows, columns].
std::string rowKernel(const Rows &rows, const char *compute) {
  std::string size = rows.count ? std::to_string(rows.count) : "M";
  bool isNarrow = std::string(rows.type) != "f32";
  auto load = [&](const char *name, const char *buffer, const char *position) {
    std::string tile = fmt::format("tensor<{}x{}x", rows.each, rows.columns);
    std::string text = fmt::format(
        "  %{0}{1} = tile.load %{2}[{3}, %c0] : !tile.buffer<[{7}, {4}], {5}> -> {6}{5}>\n", name,
        isNarrow ? "_narrow" : "", buffer, position, rows.columns, rows.type, tile, size);
    return isNarrow ? text + fmt::format("  %{0} = arith.extf %{0}_narrow : {1}{2}> to {1}f32>\n",
                                         name, tile, rows.type)
                    : text;
  };
  std::string text = fmt::format(
      "tile.kernel @k(in %x: !tile.buffer<[{2}, {0}], {1}>, in %y: !tile.buffer<[{2}, {0}], {1}>, "
      "in %w: !tile.buffer<[{0}], f32>, out %z: !tile.buffer<[{2}, {0}], {1}>) {3} "
      "grid [{2} ceildiv {4}] {{\n  %p = tile.program_id 0\n  %c0 = arith.constant 0 : index\n"
      "  %each = arith.constant {4} : index\n  %row = arith.muli %p, %each : index\n",
      rows.columns, rows.type, size, rows.count ? "" : "symbols [M]", rows.each);
  text += load("a", "x", "%row");
  text += rows.hasSecond ? load("b", "y", "%row")
                         : fmt::format("  %b = arith.mulf %a, %a : tensor<{}x{}xf32>\n", rows.each,
                                       rows.columns);
  text += fmt::format(
      "  %scales = tile.load %w[%c0] : !tile.buffer<[{0}], f32> -> tensor<{0}xf32>\n"
      "  %scale_row = tile.reshape %scales : tensor<{0}xf32> -> tensor<1x{0}xf32>\n"
      "  %scale = tile.broadcast %scale_row : tensor<1x{0}xf32> -> tensor<{1}x{0}xf32>\n",
      rows.columns, rows.each);
  std::string body =
      compute; // with the types of a row, of what it is reduced to, and of that as 1x1
  for (const auto &[name, type] :
       {std::pair("ROW", fmt::format("tensor<{}x{}xf32>", rows.each, rows.columns)),
        std::pair("SUM", fmt::format("tensor<{}xf32>", rows.each)),
        std::pair("ONE", fmt::format("tensor<{}x1xf32>", rows.each))})
    for (size_t at = 0; (at = body.find(name, at)) != std::string::npos;)
      body.replace(at, 3, type);
  text += body;
  std::string stored = fmt::format("tensor<{}x{}x{}>", rows.each, rows.columns, rows.type);
  if (isNarrow)
    text += fmt::format("  %stored = arith.truncf %out : tensor<{}x{}xf32> to {}\n", rows.each,
                        rows.columns, stored);
  return text +
         fmt::format("  tile.store %{}, %z[%row, %c0] : {}, !tile.buffer<[{}, {}], {}>\n}}\n",
                     isNarrow ? "stored" : "out", stored, size, rows.columns, rows.type);
}

constexpr char softmax[] = R"(
  %sum = arith.addf %a, %b : ROW
  %most = tile.reduce max %sum axis 1 : ROW -> SUM
  %column = tile.reshape %most : SUM -> ONE
  %all = tile.broadcast %column : ONE -> ROW
  %less = arith.subf %sum, %all : ROW
  %e = math.exp %less : ROW
  %total = tile.reduce sum %e axis 1 : ROW -> SUM
  %totals = tile.reshape %total : SUM -> ONE
  %divisors = tile.broadcast %totals : ONE -> ROW
  %share = arith.divf %e, %divisors : ROW
  %out = arith.mulf %share, %scale : ROW
)";

constexpr char norm[] = R"(
  %sum = arith.addf %a, %b : ROW
  %total = tile.reduce sum %sum axis 1 : ROW -> SUM
  %count = arith.constant 0.001 : f32
  %counts = tile.full %count : f32 -> ONE
  %column = tile.reshape %total : SUM -> ONE
  %mean = arith.mulf %column, %counts : ONE
  %means = tile.broadcast %mean : ONE -> ROW
  %apart = arith.subf %sum, %means : ROW
  %squares = arith.mulf %apart, %apart : ROW
  %all = tile.reduce sum %squares axis 1 : ROW -> SUM
  %alls = tile.reshape %all : SUM -> ONE
  %root = math.rsqrt %alls : ONE
  %roots = tile.broadcast %root : ONE -> ROW
  %normal = arith.mulf %apart, %roots : ROW
  %out = arith.mulf %normal, %scale : ROW
)";

class RowKernels : public testing::TestWithParam<Rows> {};

void expectSame(const Rows &rows, int64_t count) {
  std::vector<std::string> inputs;
  for (int seed : {1, 2})
    inputs.push_back(fmt::format("{}x{}x{}=random:{}", count, rows.columns, rows.type, seed));
  inputs.push_back(fmt::format("{}xf32=random:3", rows.columns));
  for (const char *compute : {softmax, norm}) {
    SCOPED_TRACE(compute == softmax ? "softmax" : "norm");
    CompiledKernel(rowKernel(rows, compute)).expectSame(inputs);
  }
}

TEST_P(RowKernels, AreTheInterpreters) {
  expectSame(GetParam(), GetParam().count ? GetParam().count : 3);
}

const Rows cases[] = {
    {8, "f16"},                     // fewer than a warp has threads
    {96, "f16"},                    // a warp, three neighbours at most: two
    {77, "bf16"},                   // no neighbours
    {256, "f16"},                   // a group for each lane of a warp
    {768, "f16"},                   // three
    {768, "f32"},                   // four neighbours
    {1000, "f16"},                  // lanes that have less than others
    {1024, "f16"},                  // as many as fit in a warp's registers
    {1032, "bf16"},                 // threads that have nothing
    {2072, "bf16"},                 // and some that have more than others
    {5120, "f16"},                  // several groups for each
    {9000, "f32"},  {16384, "f16"}, // as many as fit in registers of half of a multiprocessor
    {16400, "f16"},                 // one group more: rows lie in shared memory, of three blocks
    {20480, "f16"},                 // of two
    {30000, "f16"},                 // there is no room for two: in registers of all threads
    {40000, "f16"},                 // in none
};
INSTANTIATE_TEST_SUITE_P(All, RowKernels, testing::ValuesIn(cases));

/// Threads go through all rows of a program together, which it has in registers, in shared memory,
/// or in neither.
const Rows several[] = {
    {4096, "f16", 2, 4}, // held by half of a block's threads
    {5120, "f32", 3, 6},
    {2056, "bf16", 4, 8},        // threads that have nothing
    {4100, "f16", 2, 4},         // fewer neighbours
    {4096, "f16", 2},            // not all programs have all rows
    {16384, "f16", 2, 4, false}, // in shared memory, of three blocks
    {24576, "f16", 2, 4, false}, // of two
    {32768, "f16", 2, 4, false}, // no room for two
    {20480, "f32", 2, 4, false},
    {40000, "f16", 4, 4, false},
};
INSTANTIATE_TEST_SUITE_P(Several, RowKernels, testing::ValuesIn(several));

/// Warps of several blocks, of which the last one has some without a program.
TEST(Rows, AreSideBySide) {
  for (const char *type : {"f16", "f32"})
    expectSame({96, type}, 21);
}

/// Each block waits for its own rows, and goes through them in shared memory.
TEST(Rows, LieInSharedMemory) {
  simulator::Experiment experiment([](mlir::ModuleOp) {});
  for (auto order : {simulator::Order::Forwards, simulator::Order::Backwards,
                     simulator::Order::GroupsForwards}) {
    experiment.order = order;
    expectSame({20480, "f16"}, 2);
    expectSame({24576, "f16", 2, 4, false}, 4);
  }
  EXPECT_EQ(experiment.fault(), "");
}

/// A block keeps what all programs read, and takes its programs' own rows one after the other from
/// one stage or from two; the last blocks have fewer programs.
TEST(Rows, AreTakenInTurns) {
  constexpr int64_t multiprocessors = 2, programs = 33;
  const std::pair<Rows, int64_t> taken[] = {
      {{16400, "f16", 1, programs, false}, 2},
      {{16400, "bf16", 1, programs, true}, 2},     // two rows of its own
      {{12000, "f16", 2, 2 * programs, false}, 2}, // that are gone through together
      {{32768, "f16", 1, programs, false}, 1},
  };
  int64_t barriers = 0;
  auto count = [&](mlir::ModuleOp module) {
    module.walk([&](mlir::NVVM::MBarrierInitOp) { ++barriers; });
  };
  simulator::Experiment experiment(count, multiprocessors);
  for (auto order : {simulator::Order::Forwards, simulator::Order::Backwards,
                     simulator::Order::GroupsForwards}) {
    experiment.order = order;
    for (const auto &[rows, stages] : taken) {
      SCOPED_TRACE(rows.columns);
      barriers = 0;
      expectSame(rows, rows.count);
      EXPECT_EQ(barriers, 2 * (stages + 1)); // of two kernels, with one for what is kept
    }
  }
  EXPECT_EQ(experiment.fault(), "");
}

/// Which block has claimed: by what the counter was before.
std::vector<int32_t> claimers;

/// Makes whoever adds to the counter say who it is.
void recordClaims(mlir::ModuleOp module) {
  module.walk([](mlir::LLVM::AtomicRMWOp claim) {
    mlir::OpBuilder b(claim.getContext());
    mlir::Location loc = claim.getLoc();
    b.setInsertionPointAfter(claim);
    auto address = reinterpret_cast<intptr_t>(claimers.data());
    mlir::Value number = mlir::LLVM::ConstantOp::create(b, loc, b.getI64Type(), address);
    auto pointer = mlir::LLVM::LLVMPointerType::get(b.getContext());
    mlir::Value first = mlir::LLVM::IntToPtrOp::create(b, loc, pointer, number);
    mlir::Value place =
        mlir::LLVM::GEPOp::create(b, loc, pointer, b.getI32Type(), first, claim.getRes());
    mlir::Value block = mlir::NVVM::BlockIdXOp::create(b, loc, b.getI32Type());
    mlir::LLVM::StoreOp::create(b, loc, block, place);
  });
}

/// Several blocks claim what is left behind the programs that they begin with, and each of them
/// once finds that there is none.
TEST(Rows, AreClaimed) {
  constexpr int32_t multiprocessors = 3, programs = 16 * multiprocessors + 1, nobody = -1;
  for (auto [columns, stages] : {std::pair(16400, 2), {32768, 1}}) {
    SCOPED_TRACE(columns);
    simulator::Experiment experiment(recordClaims, multiprocessors);
    for (auto order : {simulator::Order::Forwards, simulator::Order::Backwards}) {
      experiment.order = order;
      claimers.assign(2 * programs, nobody);
      expectSame({columns, "bf16", 1, programs, false}, programs);
      int64_t claims = programs - stages * multiprocessors + multiprocessors;
      EXPECT_EQ(std::ranges::count(claimers, nobody), 2 * programs - claims);
      EXPECT_EQ(claimers[size_t(claims)], nobody);
      for (int32_t block = 0; block < multiprocessors; ++block)
        EXPECT_GT(std::ranges::count(claimers, block), 2);
    }
    EXPECT_EQ(experiment.fault(), "");
  }
}

/// A block for which there is no program ends, and what it would keep is not on its way then.
TEST(Rows, MayBeFewerThanBlocks) {
  constexpr int64_t multiprocessors = 2, programs = 33;
  auto moveBlocks = [](mlir::ModuleOp module) {
    module.walk([&](mlir::NVVM::BlockIdXOp number) {
      mlir::OpBuilder b(number);
      b.setInsertionPointAfter(number);
      mlir::Value factor =
          mlir::LLVM::ConstantOp::create(b, number.getLoc(), b.getI32Type(), programs);
      auto moved = mlir::LLVM::MulOp::create(b, number.getLoc(), number.getRes(), factor);
      number.getRes().replaceAllUsesExcept(moved, moved);
    });
  };
  simulator::Experiment experiment(moveBlocks, multiprocessors);
  CompiledKernel kernel(rowKernel({16400, "f16", 1, programs, false}, softmax));
  std::vector<HostTensor> inputs;
  for (const char *spec : {"33x16400xf16=random:1", "33x16400xf16=random:2", "16400xf32=random:3"})
    inputs.push_back(*readInput(*parseInputSpec(spec)));
  EXPECT_EQ(kernel.run(inputs).size(), 1u);
  EXPECT_EQ(experiment.fault(), "");
}

/// Programs of 512 elements of a buffer whose size is `size`, from element `first` on.
std::string linearKernel(const std::string &size, int64_t first, const char *type) {
  return fmt::format(R"(
    tile.kernel @k(in %x: !tile.buffer<[{0}], {2}>, out %y: !tile.buffer<[{0}], {2}>,
                   out %positive: !tile.buffer<[{0}], i1>) {3} grid [{0} ceildiv 512] {{
      %p = tile.program_id 0
      %count = arith.constant 512 : index
      %from = arith.constant {1} : index
      %zero = arith.constant 0.0 : {2}
      %begin = arith.muli %p, %count : index
      %at = arith.addi %begin, %from : index
      %v = tile.load %x[%at] pad %zero : {2} : !tile.buffer<[{0}], {2}> -> tensor<512x{2}>
      %twice = arith.addf %v, %v : tensor<512x{2}>
      %zeros = tile.full %zero : {2} -> tensor<512x{2}>
      %is = arith.cmpf ogt, %v, %zeros : tensor<512x{2}>
      tile.store %twice, %y[%begin] : tensor<512x{2}>, !tile.buffer<[{0}], {2}>
      tile.store %is, %positive[%begin] : tensor<512xi1>, !tile.buffer<[{0}], i1>
    }})",
                     size, first, type, size == "N" ? "symbols [N]" : "");
}

TEST(Rows, EndWhereTheirBufferEnds) {
  for (int64_t size : {512, 1000, 1003, 1024})
    for (int64_t first : {0, 4, 3, 512})
      for (const char *type : {"f16", "f32", "f64"})
        for (bool isKnown : {true, false}) {
          SCOPED_TRACE(fmt::format("{} of {} from {}", size, type, first));
          CompiledKernel(linearKernel(isKnown ? std::to_string(size) : "N", first, type))
              .expectSame({fmt::format("{}x{}=random:1", size, type)});
        }
}

} // namespace
} // namespace tw::target
