// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-drop-dead-results (Passes.td).
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_DROPDEADRESULTS
#include "Graph/Passes.h.inc"

namespace {

/// The results that are used, and those that the body needs to compute them.
llvm::SmallBitVector neededResults(linalg::GenericOp op) {
  llvm::SmallBitVector needed(op->getNumResults());
  Operation *yield = op.getBody()->getTerminator();
  llvm::SetVector<Value> behind;
  auto need = [&](unsigned result) {
    needed.set(result);
    behind.insert(yield->getOperand(result));
  };
  for (OpResult result : op->getResults())
    if (!result.use_empty())
      need(result.getResultNumber());
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isMemoryEffectFree(&inner))
      behind.insert(inner.operand_begin(), inner.operand_end());
  unsigned inputs = op.getNumDpsInputs();
  for (size_t i = 0; i < behind.size(); ++i) {
    auto argument = dyn_cast<BlockArgument>(behind[i]);
    if (argument && argument.getOwner() == op.getBody() && argument.getArgNumber() >= inputs)
      need(argument.getArgNumber() - inputs);
    if (Operation *def = behind[i].getDefiningOp(); def && op->isProperAncestor(def))
      def->walk(
          [&](Operation *inner) { behind.insert(inner->operand_begin(), inner->operand_end()); });
  }
  return needed;
}

/// True when inputs and `needed` results are enough to tell how often each loop runs.
bool sizesEveryLoop(linalg::GenericOp op, const llvm::SmallBitVector &needed) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray(), kept;
  unsigned inputs = op.getNumDpsInputs();
  for (unsigned i = 0; i < maps.size(); ++i)
    if (i < inputs || needed.test(i - inputs))
      kept.push_back(maps[i]);
  return bool(inversePermutation(concatAffineMaps(kept, op.getContext())));
}

struct DropResults : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op->use_empty())
      return rewriter.notifyMatchFailure(op, "none or all of its results are read");
    llvm::SmallBitVector needed = neededResults(op);
    if (needed.all())
      return rewriter.notifyMatchFailure(op, "every result is needed");
    if (!sizesEveryLoop(op, needed))
      return rewriter.notifyMatchFailure(op, "a result that nobody reads sizes a loop");
    unsigned inputs = op.getNumDpsInputs();
    SmallVector<Value> outs;
    SmallVector<Type> types;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray(),
                           keptMaps(ArrayRef(maps).take_front(inputs));
    for (unsigned result : needed.set_bits()) {
      outs.push_back(op.getDpsInits()[result]);
      types.push_back(op->getResult(result).getType());
      keptMaps.push_back(maps[inputs + result]);
    }
    auto kept = linalg::GenericOp::create(rewriter, op.getLoc(), types, op.getInputs(), outs,
                                          keptMaps, op.getIteratorTypesArray());
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (attribute.getName() != graph::valuesName)
        kept->setDiscardableAttr(attribute.getName(), attribute.getValue());
    moveBody(op, kept, needed, rewriter);
    unsigned next = 0;
    SmallVector<Value> results(needed.size());
    for (unsigned result : needed.set_bits())
      results[result] = kept->getResult(next++);
    rewriter.replaceOp(op, results);
    return success();
  }

  static void moveBody(linalg::GenericOp op, linalg::GenericOp kept,
                       const llvm::SmallBitVector &needed, PatternRewriter &rewriter) {
    Block *body = op.getBody();
    unsigned inputs = op.getNumDpsInputs();
    Operation *yield = body->getTerminator();
    llvm::BitVector dropped(body->getNumArguments());
    llvm::BitVector notYielded(yield->getNumOperands());
    for (unsigned result = 0; result < needed.size(); ++result)
      if (!needed.test(result)) {
        dropped.set(inputs + result);
        notYielded.set(result);
      }
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(notYielded); });
    // What only the dropped results follow from.
    SmallVector<Operation *> inside;
    for (Operation &inner : body->without_terminator())
      inside.push_back(&inner);
    for (Operation *inner : llvm::reverse(inside))
      if (isOpTriviallyDead(inner))
        rewriter.eraseOp(inner);
    body->eraseArguments(dropped);
    rewriter.inlineRegionBefore(op.getRegion(), kept.getRegion(), kept.getRegion().begin());
  }
};

/// The same for gradients of attention; those of some operands may not be asked for.
void dropGradients(graph::AttentionGradientOp op) {
  SmallVector<graph::AttentionInput> inputs = op.inputs();
  SmallVector<Value> outs, replaced;
  uint32_t kept = 0;
  SmallVector<Attribute> maps(op.getIndexingMaps().getValue().take_front(op.numMapped()));
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    if (result.use_empty())
      continue;
    kept |= uint32_t(inputs[number]);
    outs.push_back(op.getOuts()[number]);
    replaced.push_back(result);
    maps.push_back(AffineMapAttr::get(op.resultMap(number)));
  }
  if (replaced.empty() || replaced.size() == inputs.size())
    return;
  OpBuilder b(op);
  auto made = graph::AttentionGradientOp::create(
      b, op.getLoc(), TypeRange(ValueRange(outs)), op.getQuery(), op.getKey(), op.getValue(),
      op.getMask(), op.getOutputGradient(), op.getLogOfSums(), op.getDelta(), op.getScale(), outs,
      b.getArrayAttr(maps), *graph::symbolizeAttentionInput(kept), op.getCausal());
  for (auto [before, after] : llvm::zip(replaced, made.getResults())) {
    graph::keepValues(before, after);
    before.replaceAllUsesWith(after);
  }
  op.erase();
}

struct DropDeadResults : impl::DropDeadResultsBase<DropDeadResults> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropResults>(&getContext());
    if (failed(rewriteOps<linalg::GenericOp>(
            getOperation(), std::move(patterns),
            [](linalg::GenericOp op) { return op->getNumResults() > 1; })))
      signalPassFailure();
    SmallVector<graph::AttentionGradientOp> gradients;
    getOperation()->walk([&](graph::AttentionGradientOp op) { gradients.push_back(op); });
    for (graph::AttentionGradientOp op : gradients)
      dropGradients(op);
  }
};

} // namespace

} // namespace tw
