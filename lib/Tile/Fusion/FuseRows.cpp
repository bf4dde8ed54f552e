// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-fuse-rows (Passes.td).
#include "IR/Coded.h"
#include "IR/Graph/Decisions.h"
#include "IR/Graph/Values.h"
#include "IR/KernelLength.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/Variants.h"
#include "Tile/Fusion/KernelFusion.h"
#include "Tile/Fusion/RowBlocks.h"
#include "Tile/Passes.h"
#include "Tile/Work.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include <fmt/format.h>
#include <numeric>

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_FUSEROWS
#include "Tile/Passes.h.inc"

namespace {

/// Dispatches that follow each other through the same rows.
struct Chain {
  SmallVector<graph::DispatchOp> calls;
  std::vector<RowStage> stages;
  int64_t bytesOfRow = 0;  // of all values that are passed on
  int64_t sharedBytes = 0; // of inputs that each program reads, whichever its rows are
  int64_t work = 0;        // floating-point operations
  size_t length = 0;       // operations of the kernels
};

int64_t rowsTogether(const Chain &chain) {
  int64_t rows = 1;
  for (const RowStage &stage : chain.stages)
    rows = std::lcm(rows, stage.blocks.rows);
  return rows;
}

/// 0 where it depends on data.
int64_t operationsOf(KernelOp kernel) {
  auto flops = workOf(kernel).flops;
  return flops ? flops->constant().value_or(0) : 0;
}

bool hasProducts(RowStage stage) {
  auto isProduct = [](DotOp) { return WalkResult::interrupt(); };
  return stage.kernel.getBody().walk(isProduct).wasInterrupted();
}

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

/// Of the inputs of which a program reads more than its own rows, and no other stage has stored
/// them.
int64_t sharedBytesOf(const RowStage &stage) {
  int64_t bytes = 0;
  std::string why;
  for (BlockArgument input : Operands(stage.kernel).ins) {
    auto type = cast<BufferType>(input.getType());
    Size elements = 1;
    for (const Size &size : sizesOf(type))
      elements = elements * size;
    if (!stage.isLinked(input.getArgNumber()) && !readsOwnRows(input, stage.blocks, why))
      bytes += elements.constant().value_or(0) *
               int64_t(llvm::divideCeil(type.getTileElementType().getIntOrFloatBitWidth(), 8));
  }
  return bytes;
}

struct FuseRows : impl::FuseRowsBase<FuseRows> {
  using FuseRowsBase::FuseRowsBase;

  void runOnOperation() override {
    table.emplace(getOperation());
    decisions.emplace(getOperation());
    SmallVector<graph::DispatchOp> work;
    getOperation().walk([&](graph::DispatchOp op) { work.push_back(op); });
    llvm::DenseSet<Operation *> fused;
    for (graph::DispatchOp op : work) {
      if (fused.contains(op))
        continue;
      Chain chain = chainFrom(op);
      if (chain.calls.size() < 2)
        continue;
      fused.insert_range(chain.calls);
      fuse(chain);
    }
    eraseUnusedKernels(getOperation());
    decisions->store();
  }

  /// The kernel of a dispatch whose calls all run it. Variants for many workers stay behind: blocks
  /// of rows keep these busy.
  KernelOp kernelOf(graph::DispatchOp op) {
    auto kernel = table->lookup<KernelOp>(op.getKernel());
    bool isOne = kernel && llvm::all_of(variantsOf(kernel),
                                        [](KernelOp variant) { return workersOf(variant) > 0; });
    return isOne ? kernel : KernelOp();
  }

  //===--- chains ----------------------------------------------------------===//

  /// As many dispatches as follow each other in one kernel.
  Chain chainFrom(graph::DispatchOp first) {
    Chain chain;
    std::string why;
    KernelOp kernel = kernelOf(first);
    if (mostOperations == 0)
      why = "the target runs no kernels one after the other in one";
    auto blocks = kernel && why.empty() ? rowBlocksOf(kernel, why) : std::nullopt;
    if (graph::DispatchOp next = nextOf(first); !blocks && kernel && next)
      explain(first, next, why);
    if (!blocks)
      return chain;
    chain.calls.push_back(first);
    chain.stages.push_back({kernel, *blocks});
    chain.sharedBytes = sharedBytesOf(chain.stages.front());
    chain.length = lengthOf(kernel);
    chain.work = operationsOf(kernel);
    while (graph::DispatchOp next = nextOf(chain.calls.back())) {
      if (add(chain, next, why))
        continue;
      if (!why.empty())
        refuse(chain.calls.back(), next, why);
      break;
    }
    return chain;
  }

  void refuse(graph::DispatchOp producer, graph::DispatchOp consumer, const std::string &why) {
    emitReport(consumer.getLoc()) << "not in one kernel with its producer"
                                  << nodeSuffix(producer.getLoc())
                                  << ", block of rows by block of rows: " << why;
    explain(producer, consumer, why);
  }

  /// Says why what the configuration asks for is not done; of others tile-fuse has said it.
  void explain(graph::DispatchOp producer, graph::DispatchOp consumer, const std::string &why) {
    Location operators[] = {producer.getLoc(), consumer.getLoc()};
    if (decisions->wanted(graph::DecisionKind::Fuse, operators).value_or(false))
      decisions->note(graph::DecisionKind::Fuse, operators, false, why);
  }

  /// The first dispatch that reads a result.
  static graph::DispatchOp nextOf(graph::DispatchOp call) {
    graph::DispatchOp next;
    for (Operation *user : call->getUsers())
      if (auto own = dyn_cast<graph::DispatchOp>(user);
          own && own->getBlock() == call->getBlock() && (!next || own->isBeforeInBlock(next)))
        next = own;
    return next;
  }

  /// False, with the reason in `why`; that is empty where the configuration forbids it, or kernels
  /// of other kinds follow each other.
  bool add(Chain &chain, graph::DispatchOp next, std::string &why) {
    why.clear();
    RowStage stage{kernelOf(next), {}};
    auto blocks = stage.kernel ? rowBlocksOf(stage.kernel, why) : std::nullopt;
    if (!blocks)
      return false;
    stage.blocks = *blocks;
    if (blocks->all != chain.stages.front().blocks.all)
      return why = "they have other numbers of rows", false;
    Chain longer = chain;
    bool fits = link(longer, next, stage, why) && usersFollow(chain, next, why);
    auto wanted = fits ? wantedOf(chain, next, stage) : std::nullopt;
    if (!fits || !wanted.value_or(true))
      return false;
    longer.work += operationsOf(stage.kernel);
    longer.length += lengthOf(stage.kernel);
    longer.sharedBytes += sharedBytesOf(stage);
    longer.calls.push_back(next);
    longer.stages.push_back(std::move(stage));
    if (longer.length > longestKernel)
      return why = fmt::format("together they have {} operations, more than {}", longer.length,
                               longestKernel),
             false;
    if (!wanted && !pays(longer, why))
      return false;
    chain = std::move(longer);
    return true;
  }

  bool pays(Chain &chain, std::string &why) {
    why.clear();
    if (!llvm::all_of(chain.stages, hasProducts))
      return false;
    int64_t rows = rowsTogether(chain), bytes = rows * chain.bytesOfRow,
            programs = int64_t(llvm::divideCeil(chain.stages.front().blocks.all, rows));
    if (programs < leastPrograms)
      why = fmt::format("{} rows at a time are {} programs, fewer than {}", rows, programs,
                        int64_t(leastPrograms));
    else if (chain.work > mostOperations)
      why = fmt::format("together they take {} floating-point operations, more than {}", chain.work,
                        int64_t(mostOperations));
    else if (chain.sharedBytes > mostSharedBytes)
      why = fmt::format("each program reads {} bytes that all others read, more than {}",
                        chain.sharedBytes, int64_t(mostSharedBytes));
    else if (bytes > mostBytes)
      why = fmt::format("{} rows at a time pass {} bytes on, more than {}", rows, bytes,
                        int64_t(mostBytes));
    return why.empty();
  }

  /// Finds the inputs of `next` that the chain has stored, and whether it reads its own rows of
  /// them.
  static bool link(Chain &chain, graph::DispatchOp next, RowStage &stage, std::string &why) {
    Operands inputs(stage.kernel);
    for (auto [i, input] : llvm::enumerate(next.getInputs())) {
      auto producer = input.getDefiningOp<graph::DispatchOp>();
      const auto *found = llvm::find(chain.calls, producer);
      if (found == chain.calls.end())
        continue;
      size_t number = found - chain.calls.begin();
      BlockArgument read = inputs.input(i),
                    stored = Operands(chain.stages[number].kernel)
                                 .outs[cast<OpResult>(input).getResultNumber()];
      if (read.getType() != stored.getType())
        return why = "they see the buffer in different shapes", false;
      if (!readsOwnRows(read, stage.blocks, why))
        return false;
      stage.links.push_back({read.getArgNumber(), unsigned(number), stored.getArgNumber()});
      chain.bytesOfRow += bytesOf(input.getType()) / stage.blocks.all;
    }
    return true;
  }

  /// What the configuration says of the links; one that it forbids decides.
  std::optional<bool> wantedOf(Chain &chain, graph::DispatchOp next, const RowStage &stage) {
    std::optional<bool> all;
    for (const RowStage::Link &link : stage.links)
      if (auto wanted = decisions->wanted(graph::DecisionKind::Fuse,
                                          {chain.calls[link.stage].getLoc(), next.getLoc()}))
        all = all.value_or(true) && *wanted;
    return all;
  }

  /// Whether what else reads results of the chain comes after `next`.
  static bool usersFollow(const Chain &chain, graph::DispatchOp next, std::string &why) {
    for (graph::DispatchOp call : chain.calls)
      for (Operation *user : call->getUsers())
        if (!llvm::is_contained(chain.calls, user) && user != next &&
            (user->getBlock() != next->getBlock() || user->isBeforeInBlock(next)))
          return why = "another dispatch reads a result first", false;
    return true;
  }

  //===--- one kernel ------------------------------------------------------===//

  /// As many rows as give the least number of programs, or each a part of them that fits.
  int64_t chooseRows(const Chain &chain) {
    int64_t together = rowsTogether(chain), all = chain.stages.front().blocks.all;
    for (int64_t programs = leastPrograms;; programs += leastPrograms) {
      auto rows = int64_t(llvm::alignTo(llvm::divideCeil(all, programs), together));
      if (rows == together || rows * chain.bytesOfRow <= mostBytes)
        return rows;
    }
  }

  void fuse(Chain &chain) {
    KernelOp kernel = fuseRows(chain.stages, chooseRows(chain)).release();
    graph::DispatchOp last = chain.calls.back();
    OpBuilder b(last);
    table->insert(kernel, chain.stages.front().kernel->getIterator());
    SmallVector<Value> inputs, scalars, destinations;
    SmallVector<Location> locations;
    llvm::SetVector<Attribute> configured;
    for (auto [call, stage] : llvm::zip(chain.calls, chain.stages)) {
      Operands operands(stage.kernel);
      for (auto [i, input] : llvm::enumerate(call.getInputs()))
        if (!stage.isLinked(operands.input(i).getArgNumber()))
          (i < operands.ins.size() ? inputs : scalars).push_back(input);
      llvm::append_range(destinations, call.getOuts());
      locations.push_back(call.getLoc());
      for (KernelOp variant : variantsOf(stage.kernel))
        emitReport(call.getLoc()) << "variant " << variant.getSymName()
                                  << " is left out: blocks of rows keep many workers busy";
      configured.insert_range(graph::configuredNames(call));
    }
    llvm::append_range(inputs, scalars);
    auto fused = graph::DispatchOp::create(b, b.getFusedLoc(locations),
                                           SmallVector<Type>(ValueRange(destinations).getTypes()),
                                           kernel.getSymName(), inputs, destinations);
    fused->setAttr(graph::configuredName, b.getArrayAttr(configured.getArrayRef()));
    replace(chain, fused);
  }

  void replace(Chain &chain, graph::DispatchOp fused) {
    unsigned next = 0;
    for (graph::DispatchOp call : chain.calls)
      for (Value old : call.getResults()) {
        Value now = fused.getResult(next++);
        graph::keepValues(old, now);
        old.replaceAllUsesWith(now);
      }
    for (auto [consumer, stage] : llvm::zip(chain.calls, chain.stages))
      for (const RowStage::Link &link : stage.links) {
        Location producer = chain.calls[link.stage].getLoc();
        decisions->note(graph::DecisionKind::Fuse, {producer, consumer.getLoc()}, true);
        emitReport(consumer.getLoc()) << "in one kernel with its producer" << nodeSuffix(producer)
                                      << ", block of rows by block of rows";
      }
    for (graph::DispatchOp call : llvm::reverse(chain.calls))
      call.erase();
  }

  std::optional<SymbolTable> table;
  std::optional<graph::Decisions> decisions;
};

} // namespace

} // namespace tw::tile
