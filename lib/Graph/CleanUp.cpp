// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-cse (Passes.td), and MLIR's canonicalisation with the numbers of values kept.
#include "Graph/Passes.h"
#include "IR/Graph/Values.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_GRAPHCSE
#include "Graph/Passes.h.inc"

namespace {

/// Holds what is known of operations while they have no attribute that says it.
struct Numbers : RewriterBase::Listener {
  explicit Numbers(Operation *root) {
    root->walk([&](Operation *op) {
      for (auto &[list, values] :
           {std::pair(graph::valuesName, &values), {graph::innerName, &inner}})
        if (auto known = graph::valuesOf(op, list); !known.empty()) {
          (*values)[op] = known;
          graph::setValues(op, {}, list);
        }
    });
  }

  void notifyOperationReplaced(Operation *op, ValueRange now) override {
    if (auto known = values.find(op); known != values.end() && !now.empty())
      merged.push_back({now[0].getDefiningOp(), known->second});
  }
  void notifyOperationErased(Operation *op) override {
    values.erase(op);
    inner.erase(op);
    llvm::erase_if(merged, [&](auto &kept) { return kept.first == op; });
  }

  void restore() {
    for (auto &[kept, more] : merged)
      for (graph::ValueAttr value : more)
        if (auto &known = values[kept]; !llvm::is_contained(known, value))
          known.push_back(value);
    for (auto &[op, known] : values)
      graph::setValues(op, known);
    for (auto &[op, known] : inner)
      graph::setValues(op, known, graph::innerName);
  }

  llvm::MapVector<Operation *, SmallVector<graph::ValueAttr>> values, inner;
  SmallVector<std::pair<Operation *, SmallVector<graph::ValueAttr>>> merged;
};

struct GraphCSE : impl::GraphCSEBase<GraphCSE> {
  void runOnOperation() override {
    Numbers numbers(getOperation());
    IRRewriter rewriter(&getContext(), &numbers);
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    numbers.restore();
  }
};

} // namespace

std::unique_ptr<Pass> createGraphCanonicalizer() {
  return createCanonicalizerPass(
      GreedyRewriteConfig() // as createCanonicalizerPass() has it, but for the listener
          .setUseTopDownTraversal(true)
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal)
          .setListener(graph::valueKeeper()));
}

} // namespace tw
