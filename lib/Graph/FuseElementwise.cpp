// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-fuse-elementwise (Passes.td, which says why it stands beside tile-fuse, and where the boundary
// is: operators become one expression here, kernels one kernel there).
#include "Graph/Passes.h"
#include "IR/Graph/Contraction.h"
#include "IR/Graph/Decisions.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "Graph/Passes.h.inc"

namespace {

/// A body so long that merging more into it gains nothing: what it shares is small beside what it
/// computes.
constexpr int64_t longBody = 64;

/// True when the body does nothing but move, widen or select constants: as cheap as a load.
bool isFree(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<arith::ConstantOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, linalg::IndexOp>(
        inner);
  });
}

/// True when every point of the consumer's iteration space reads another element.
bool readsEachElementOnce(linalg::GenericOp consumer, OpOperand *operand) {
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  return map.isProjectedPermutation() && map.getNumResults() == map.getNumDims();
}

bool readsDestination(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) { return op.payloadUsesValueFromOperand(&init); });
}

/// True when the merged operation knows how often each loop runs without the producer's
/// destination: from the consumer's other operands and from what the producer reads.
bool sizesEveryLoop(linalg::GenericOp producer, linalg::GenericOp consumer, OpOperand *operand) {
  AffineMap read = consumer.getMatchingIndexingMap(operand);
  AffineMap written = producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get()));
  AffineMap toProducerLoops = inversePermutation(written);
  if (!toProducerLoops)
    return false;
  SmallVector<AffineMap> maps;
  for (OpOperand &other : consumer->getOpOperands())
    if (&other != operand)
      maps.push_back(consumer.getMatchingIndexingMap(&other));
  for (OpOperand *input : producer.getDpsInputOperands())
    maps.push_back(producer.getMatchingIndexingMap(input).compose(toProducerLoops).compose(read));
  return bool(inversePermutation(concatAffineMaps(maps, consumer.getContext())));
}

/// A reduction over what is one constant folds to one that does not read its destination, and
/// leaves that undefined where it has no elements.
bool makesConstantReduction(linalg::GenericOp producer, linalg::GenericOp consumer) {
  return consumer.getNumReductionLoops() > 0 && llvm::all_of(producer.getInputs(), [](Value input) {
           return input.getDefiningOp<linalg::FillOp>();
         });
}

bool canFuse(linalg::GenericOp producer, linalg::GenericOp consumer, OpOperand *operand) {
  return !readsDestination(producer) && !makesConstantReduction(producer, consumer) &&
         sizesEveryLoop(producer, consumer, operand);
}

/// Whether dimensions of what it reads stand in another order in the result.
bool reorders(linalg::GenericOp op) {
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto isInOrder = [&](OpOperand *input) {
    auto place = written.getResults().begin();
    for (AffineExpr position : op.getMatchingIndexingMap(input).getResults()) {
      place = std::find(place, written.getResults().end(), position);
      if (place == written.getResults().end())
        return false;
    }
    return true;
  };
  return !llvm::all_of(op.getDpsInputOperands(), isInOrder);
}

/// Why merging would repeat work, or make an expression too long; empty where it does neither.
std::string whyNotWorth(linalg::GenericOp producer, linalg::GenericOp consumer,
                        OpOperand *operand) {
  if (isFree(producer))
    return reorders(producer) && graph::sumsOverWindows(consumer)
               ? "each tap of a window would read against the order in memory"
               : "";
  int64_t length =
      producer.getBody()->getOperations().size() + consumer.getBody()->getOperations().size();
  if (!producer->hasOneUse())
    return "it would be computed again for each of its readers";
  if (length > longBody)
    return "the expression would become too long";
  return readsEachElementOnce(consumer, operand) ? "" : "each element would be computed again";
}

bool worthFusing(OpOperand *operand, graph::Decisions &decisions) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || !canFuse(producer, consumer, operand))
    return false;
  Location operators[] = {producer.getLoc(), consumer.getLoc()};
  // What is merged into one reader of several is computed again.
  auto kind = producer->hasOneUse() ? graph::DecisionKind::Fuse : graph::DecisionKind::Recompute;
  std::string why = whyNotWorth(producer, consumer, operand);
  // A product stays one: whether its kernel computes an operand is tile-fuse's question.
  bool isOpen = why.empty() || !graph::matchContraction(consumer);
  auto wanted = isOpen ? decisions.wanted(kind, operators) : std::nullopt;
  bool isTaken = wanted.value_or(why.empty());
  decisions.note(kind, operators, isTaken, why.empty() ? graph::unwanted : why);
  return isTaken;
}

/// MLIR's pattern of this kind does not tell listeners which value is now which.
struct FuseProducer : OpRewritePattern<linalg::GenericOp> {
  FuseProducer(MLIRContext *context, graph::Decisions &decisions)
      : OpRewritePattern(context), decisions(decisions) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    // MLIR keeps a producer's result beside the consumer's until this is known to be dead; what the
    // operation is shows only then.
    if (op->getNumResults() > 1 && llvm::any_of(op->getResults(), std::mem_fn(&Value::use_empty)))
      return rewriter.notifyMatchFailure(op, "results that nobody uses are dropped first");
    for (OpOperand &operand : op->getOpOperands()) {
      if (!linalg::areElementwiseOpsFusable(&operand) || !worthFusing(&operand, decisions))
        continue;
      Operation *producer = operand.get().getDefiningOp();
      auto fused = linalg::fuseElementwiseOps(rewriter, &operand);
      if (failed(fused))
        return rewriter.notifyMatchFailure(op, "fusion failed");
      graph::setValues(fused->fusedOp, {});
      for (auto [old, now] : fused->replacements) {
        graph::keepValues(old, now);
        rewriter.replaceUsesWithIf(
            old, now, [&](OpOperand &use) { return use.get().getDefiningOp() != producer; });
      }
      rewriter.eraseOp(op);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no producer is worth merging");
  }

  graph::Decisions &decisions;
};

struct FuseElementwise : impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    graph::Decisions decisions(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseProducer>(&getContext(), decisions);
    // What comes with MLIR's own: constants and fills that are read by generic operations.
    linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *) { return false; });
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     GreedyRewriteConfig().setListener(graph::valueKeeper()))))
      signalPassFailure();
    if (isa<ModuleOp>(getOperation()))
      decisions.store();
  }
};

} // namespace

} // namespace tw
