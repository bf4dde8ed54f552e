// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything by which the warps of products, of attention and of rows wait for each other is
// needed, and the simulator shows it: whatever is left out of a kernel, or is done a phase too
// early, is a fault or a wrong result. A kernel is compiled once, with all changes in it, of which
// none or one is made when it runs.
#include "IO/InputSpec.h"
#include "ProductCase.h"
#include "SimulatedTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "unittests/Target/Templates/AttentionTruth.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

using namespace tw;
using namespace mlir;
using simulator::Experiment, simulator::Order;

namespace {

//===--- changes ---------------------------------------------------------===//

/// What is done to one operation.
enum class Change { Remove, OtherPhase, OneMorePending, FewerBytes };

constexpr const char *changeNames[] = {"without", "other phase of", "one more pending at",
                                       "fewer bytes at"};

bool isSynchronization(Operation *op) {
  return isa<NVVM::Barrier0Op, NVVM::SyncWarpOp, NVVM::BarrierOp, NVVM::BarrierArriveOp,
             NVVM::MBarrierInitOp, NVVM::MBarrierArriveOp, NVVM::MBarrierArriveExpectTxOp,
             NVVM::MBarrierTryWaitParityOp, NVVM::CpAsyncBulkCommitGroupOp,
             NVVM::CpAsyncBulkWaitGroupOp, NVVM::FenceProxyOp, NVVM::WgmmaFenceAlignedOp,
             NVVM::WgmmaGroupSyncAlignedOp, NVVM::WgmmaWaitGroupSyncOp>(op);
}

/// What sets an output or the counter of programs before any of them runs.
bool isFill(Operation *op) {
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  return isa<LLVM::StoreOp>(op) && function && function.getName().ends_with("_fill");
}

/// Of k; what may be launched instead (k_plain) does not run.
bool canMake(Change change, Operation *op) {
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  if (!function || function.getName().ends_with(target::plainSuffix))
    return false;
  switch (change) {
  case Change::Remove:
    return isSynchronization(op) || isFill(op);
  case Change::OtherPhase:
    return isa<NVVM::MBarrierTryWaitParityOp>(op);
  case Change::OneMorePending:
    return isa<NVVM::CpAsyncBulkWaitGroupOp, NVVM::WgmmaWaitGroupSyncOp>(op);
  case Change::FewerBytes:
    return isa<NVVM::MBarrierArriveExpectTxOp>(op);
  }
  return false;
}

/// The results of a changed copy of `op`, which is made at the builder.
SmallVector<Value> makeChanged(OpBuilder &b, Change change, Operation *original) {
  auto number = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, original->getLoc(), type, value);
  };
  if (change == Change::Remove)
    return llvm::map_to_vector(original->getResultTypes(),
                               [&](Type type) { return number(type, 0); });
  Type i32 = b.getI32Type();
  Value one = number(i32, 1), few = number(i32, 16);
  Operation *op = b.clone(*original);
  b.setInsertionPoint(op);
  if (auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op))
    wait.getPhaseMutable().assign(LLVM::XOrOp::create(b, op->getLoc(), wait.getPhase(), one));
  else if (auto stores = dyn_cast<NVVM::CpAsyncBulkWaitGroupOp>(op))
    stores.setGroup(stores.getGroup() + 1);
  else if (auto products = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op))
    products.setGroup(products.getGroup() + 1);
  else if (auto arrive = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op))
    arrive.getTxcountMutable().assign(
        LLVM::SubOp::create(b, op->getLoc(), arrive.getTxcount(), few));
  b.setInsertionPointAfter(op);
  return llvm::to_vector_of<Value>(op->getResults());
}

/// The number of the site at which kernels that run make the change.
constexpr int64_t nowhere = -1;
int64_t chosen = nowhere;

/// Makes `op` run as it is, or changed where `site` is chosen.
void offer(int64_t site, Change change, Operation *op) {
  Location loc = op->getLoc();
  Block *before = op->getBlock(), *after = before->splitBlock(op->getNextNode()),
        *original = before->splitBlock(op), *changed = new Block;
  before->getParent()->getBlocks().insert(Region::iterator(after), changed);
  for (Value result : op->getResults())
    result.replaceAllUsesWith(after->addArgument(result.getType(), loc));
  auto b = OpBuilder::atBlockEnd(original);
  LLVM::BrOp::create(b, loc, op->getResults(), after);
  b.setInsertionPointToEnd(changed);
  LLVM::BrOp::create(b, loc, makeChanged(b, change, op), after);
  b.setInsertionPointToEnd(before);
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value);
  };
  Value address = LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                           number(int64_t(reinterpret_cast<uintptr_t>(&chosen))));
  Value isChosen =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq,
                           LLVM::LoadOp::create(b, loc, b.getI64Type(), address), number(site));
  LLVM::CondBrOp::create(b, loc, isChosen, changed, original);
}

/// Offers all changes; their names.
std::vector<std::string> offerAll(ModuleOp module) {
  std::vector<std::pair<Change, Operation *>> sites;
  module.walk([&](Operation *op) {
    for (Change change :
         {Change::Remove, Change::OtherPhase, Change::OneMorePending, Change::FewerBytes})
      if (canMake(change, op))
        sites.emplace_back(change, op);
  });
  std::vector<std::string> names;
  for (auto [change, op] : sites) {
    offer(int64_t(names.size()), change, op);
    names.push_back(
        fmt::format("{} {}", changeNames[size_t(change)], op->getName().getStringRef().str()));
  }
  return names;
}

//===--- kernels ---------------------------------------------------------===//

struct Subject {
  std::string text;
  std::vector<HostTensor> inputs;
};

using Bytes = std::vector<std::vector<std::byte>>;

Bytes resultsOf(target::CompiledKernel &kernel, const Subject &subject) {
  Bytes all;
  for (const HostTensor &result : kernel.run(subject.inputs))
    all.emplace_back(result.bytes().begin(), result.bytes().end());
  return all;
}

/// Expects that each change is found with the threads in some order, but for those of `harmless`,
/// and that one is `offered`.
void expectAllFound(const Subject &subject, const std::multiset<std::string> &harmless = {},
                    const std::string &offered = "") {
  std::vector<std::string> names;
  Experiment experiment([&](ModuleOp module) { names = offerAll(module); });
  target::CompiledKernel kernel(subject.text);
  chosen = nowhere;
  Bytes right = resultsOf(kernel, subject);
  ASSERT_EQ(experiment.takeFault(), "");
  ASSERT_FALSE(names.empty());
  EXPECT_TRUE(offered.empty() || std::ranges::count(names, offered) == 1);
  std::multiset<std::string> missed;
  for (chosen = 0; chosen < int64_t(names.size()); ++chosen) {
    bool isFound = false;
    for (Order order :
         {Order::Forwards, Order::Backwards, Order::GroupsForwards, Order::GroupsBackwards}) {
      experiment.order = order;
      isFound = isFound || resultsOf(kernel, subject) != right || !experiment.takeFault().empty();
    }
    experiment.takeFault();
    if (!isFound)
      missed.insert(names[size_t(chosen)]);
  }
  EXPECT_EQ(missed, harmless);
  chosen = nowhere; // no change has left anything behind
  EXPECT_EQ(resultsOf(kernel, subject), right);
  EXPECT_EQ(experiment.fault(), "");
}

Subject attention(const kernels::Case &c, int64_t queries, int64_t keys) {
  kernels::AttentionConfiguration block;
  block.queries = queries, block.keys = keys, block.splitsKeys = c.dealtTo > 0;
  return {kernels::textOf(c, block), kernels::inputsOf(c)};
}

Subject product(const target::ProductCase &c) {
  Subject subject{target::textOf(c), {}};
  for (const std::string &spec : target::inputsOf(c))
    subject.inputs.push_back(*readInput(*parseInputSpec(spec)));
  return subject;
}

/// Sums of rows of f32, of which a program has so many, and each element less its row's.
Subject rows(int64_t count, int64_t columns, int64_t each = 1) {
  std::string text = fmt::format(R"(
    tile.kernel @k(in %x: !tile.buffer<[{0}, {1}], f32>, out %y: !tile.buffer<[{0}, {1}], f32>)
        grid [{0} ceildiv {2}] {{
      %p = tile.program_id 0
      %c0 = arith.constant 0 : index
      %each = arith.constant {2} : index
      %at = arith.muli %p, %each : index
      %row = tile.load %x[%at, %c0] : !tile.buffer<[{0}, {1}], f32> -> tensor<{2}x{1}xf32>
      %sum = tile.reduce sum %row axis 1 : tensor<{2}x{1}xf32> -> tensor<{2}xf32>
      %column = tile.reshape %sum : tensor<{2}xf32> -> tensor<{2}x1xf32>
      %sums = tile.broadcast %column : tensor<{2}x1xf32> -> tensor<{2}x{1}xf32>
      %share = arith.subf %row, %sums : tensor<{2}x{1}xf32>
      tile.store %share, %y[%at, %c0] : tensor<{2}x{1}xf32>, !tile.buffer<[{0}, {1}], f32>
    }})",
                                 count, columns, each);
  Subject subject{text, {}};
  std::string input = fmt::format("{}x{}xf32=random:1", count, columns);
  subject.inputs.push_back(*readInput(*parseInputSpec(input)));
  return subject;
}

/// Elements of twice so many rows less their row's sum, times what all rows share.
Subject scaledRows(int64_t count, int64_t columns) {
  std::string text = fmt::format(R"(
    tile.kernel @k(in %x: !tile.buffer<[2, {0}, {1}], f16>, in %w: !tile.buffer<[{1}], f32>,
                   out %y: !tile.buffer<[2, {0}, {1}], f32>) grid [2, {0}] {{
      %p = tile.program_id 0
      %q = tile.program_id 1
      %c0 = arith.constant 0 : index
      %narrow = tile.load %x[%p, %q, %c0] : !tile.buffer<[2, {0}, {1}], f16> -> tensor<1x1x{1}xf16>
      %row = arith.extf %narrow : tensor<1x1x{1}xf16> to tensor<1x1x{1}xf32>
      %sum = tile.reduce sum %row axis 2 : tensor<1x1x{1}xf32> -> tensor<1x1xf32>
      %column = tile.reshape %sum : tensor<1x1xf32> -> tensor<1x1x1xf32>
      %sums = tile.broadcast %column : tensor<1x1x1xf32> -> tensor<1x1x{1}xf32>
      %apart = arith.subf %row, %sums : tensor<1x1x{1}xf32>
      %shared = tile.load %w[%c0] : !tile.buffer<[{1}], f32> -> tensor<{1}xf32>
      %scale = tile.reshape %shared : tensor<{1}xf32> -> tensor<1x1x{1}xf32>
      %scaled = arith.mulf %apart, %scale : tensor<1x1x{1}xf32>
      tile.store %scaled, %y[%p, %q, %c0] : tensor<1x1x{1}xf32>, !tile.buffer<[2, {0}, {1}], f32>
    }})",
                                 count, columns);
  Subject subject{text, {}};
  for (const std::string &input : {fmt::format("2x{}x{}xf16=random:1", count, columns),
                                   fmt::format("{}xf32=random:2", columns)})
    subject.inputs.push_back(*readInput(*parseInputSpec(input)));
  return subject;
}

TEST(Faults, OfRowsTakenInTurns) {
  // One stage for the rows of the program after, and two; what is stored before is the counter.
  expectAllFound(scaledRows(8, 32768), {}, "without llvm.store");
  expectAllFound(scaledRows(9, 20480), {}, "without llvm.store");
}

TEST(Faults, OfRowsInSharedMemory) {
  // A block has one program: nothing comes behind the last barrier.
  expectAllFound(rows(4, 20480), {"without nvvm.barrier0"});
  expectAllFound(rows(4, 10240, 2), {"without nvvm.barrier0"});
}

TEST(Faults, OfProducts) {
  // Four programs, four trips each, in a ring of as many stages as fit.
  expectAllFound(product({.rows = 128, .columns = 64, .depth = 16, .m = 256, .n = 128, .k = 64}));
  expectAllFound(product(
      {.rows = 64, .columns = 64, .depth = 16, .m = 192, .n = 64, .k = 72, .unknown = "MK"}));
  // Results that threads copy from shared memory. Before they write the next ones there, all of a
  // warp group have come to the products of the next program, so that the simulator misses nothing;
  // and at the end nothing is on its way by TMA.
  expectAllFound(product({.rows = 64,
                          .columns = 64,
                          .depth = 16,
                          .m = 192,
                          .n = 124,
                          .k = 64,
                          .isTransposedB = true}),
                 {"one more pending at nvvm.cp.async.bulk.wait_group", "without nvvm.barrier",
                  "without nvvm.cp.async.bulk.wait_group"});
  // Three programs by two warp groups in turns.
  expectAllFound(product(
      {.rows = 64, .columns = 64, .depth = 16, .m = 192, .n = 64, .k = 64, .pingPongStages = 2}));
}

TEST(Faults, OfProductsWhoseLeftOperandIsComputed) {
  expectAllFound(product({.rows = 64,
                          .columns = 64,
                          .depth = 16,
                          .m = 192,
                          .n = 64,
                          .k = 72,
                          .unknown = "MK",
                          .computedFrom = "f32"}));
}

TEST(Faults, OfAttention) {
  // Three programs of two warp groups, three trips.
  expectAllFound(
      attention({{.b = 3, .l = 128, .s = 96, .e = 16, .f = 16, .dtype = kernel::f16}}, 128, 32));
}

TEST(Faults, OfAttentionWhoseKeysAreDealt) {
  // Programs side by side and dealt ones in turns. With more trips than stages, queries are used
  // when keys of the program after have been.
  for (int64_t stages : {2, 3})
    expectAllFound(
        attention({{.b = 2, .l = 192, .s = 160, .e = 16, .f = 16, .dtype = kernel::f16}, 2, stages},
                  64, 32),
        {"without nvvm.mbarrier.try_wait.parity"});
  // Only dealt ones, of few queries, too: two or three trips for each warp group. What combines
  // them waits for results to go out already, where other programs do before theirs.
  for (int64_t queries : {64, 16})
    expectAllFound(
        attention({{.b = 3, .l = queries, .s = 224, .e = 16, .f = 16, .dtype = kernel::f16}, 3, 4},
                  queries, 32),
        {"without nvvm.mbarrier.try_wait.parity", "without nvvm.cp.async.bulk.wait_group",
         "one more pending at nvvm.cp.async.bulk.wait_group"});
}

TEST(Faults, OfAttentionOfOneTrip) {
  // The thread that loads waits until queries are used, which implies that keys are.
  expectAllFound(
      attention({{.b = 12, .l = 128, .s = 40, .e = 16, .f = 16, .dtype = kernel::f16}}, 128, 40),
      {"without nvvm.mbarrier.try_wait.parity"});
}

TEST(Faults, OfAttentionWithATail) {
  expectAllFound(
      attention({{.b = 4, .l = 64, .s = 72, .e = 16, .f = 16, .dtype = kernel::f16}}, 64, 32));
}

TEST(Faults, OfMaskedAttention) {
  expectAllFound(attention(
      {{.b = 3, .l = 64, .s = 96, .e = 16, .f = 16, .mask = Mask::Added, .dtype = kernel::bf16}},
      64, 32));
}

TEST(Faults, OfCausalAttention) {
  // Blocks follow a table of work.
  expectAllFound(attention(
      {{.b = 3, .l = 256, .s = 256, .e = 16, .f = 16, .isCausal = true, .dtype = kernel::f16}}, 128,
      64));
}

} // namespace
