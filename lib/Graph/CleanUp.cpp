// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's elimination of common subexpressions and its canonicalisation, as the graph runs them:
// with the numbers of values (IR/Graph/Values.h) kept, and for the former as if there were none,
// since operations with other attributes are not the same to it.
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

  void putBack() {
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

struct GraphCSE : PassWrapper<GraphCSE, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GraphCSE)
  StringRef getArgument() const override { return "tw-cse"; }
  StringRef getDescription() const override { return "Compute the same only once"; }

  void runOnOperation() override {
    Numbers numbers(getOperation());
    IRRewriter rewriter(&getContext(), &numbers);
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    numbers.putBack();
  }
};

} // namespace

std::unique_ptr<Pass> createGraphCSE() { return std::make_unique<GraphCSE>(); }

std::unique_ptr<Pass> createGraphCanonicalizer() {
  return createCanonicalizerPass(
      GreedyRewriteConfig() // as createCanonicalizerPass() has it, but for the listener
          .setUseTopDownTraversal(true)
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal)
          .setListener(graph::valueKeeper()));
}

} // namespace tw
