// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile-simplify rewrites. Upstream folders are asked about scalars only: of tiles they would
// make dense constants, which a kernel does not have.
#include "IR/Tile/Elementwise.h"
#include "IR/Tile/Tile.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tw::tile {
namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// The scalar that `value` is a tile of; null when it is no tile.full.
Value filledWith(Value value) {
  auto full = value.getDefiningOp<FullOp>();
  return full ? full.getValue() : Value();
}

/// Operations on scalars, and on shapes of tiles: as they fold themselves.
struct Fold : RewritePattern {
  explicit Fold(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 2, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumRegions() > 0 || matchPattern(op, m_Constant()) ||
        (isElementwise(op) && isTile(op->getResult(0))))
      return rewriter.notifyMatchFailure(op, "is not folded as such");
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(results)))
      return rewriter.notifyMatchFailure(op, "does not fold");
    if (results.empty() || dyn_cast<Value>(results[0]) == op->getResult(0))
      return rewriter.modifyOpInPlace(op, [] {}), success();
    if (auto value = dyn_cast<Value>(results[0]))
      return rewriter.replaceOp(op, value), success();
    auto constant = dyn_cast<TypedAttr>(cast<Attribute>(results[0]));
    if (!constant || constant.getType() != op->getResult(0).getType() ||
        !constant.getType().isIntOrIndexOrFloat())
      return rewriter.notifyMatchFailure(op, "folds to something that is no scalar constant");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, constant);
    return success();
  }
};

/// x + full(0) -> x: asks the operation on scalars that stands for each element.
struct FoldElements : RewritePattern {
  explicit FoldElements(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 2, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op) || !isTile(op->getResult(0)))
      return rewriter.notifyMatchFailure(op, "is not elementwise on tiles");
    Block stage; // an argument for each operand, the same one for the same
    SmallVector<Value> operands;
    SmallVector<Attribute> constants;
    for (Value operand : op->getOperands()) {
      auto earlier = llvm::find(op->getOperands(), operand);
      size_t index = earlier - op->getOperands().begin();
      operands.push_back(index < operands.size()
                             ? operands[index]
                             : stage.addArgument(getElementTypeOrSelf(operand), op->getLoc()));
      Attribute constant;
      if (Value scalar = isTile(operand) ? filledWith(operand) : operand)
        matchPattern(scalar, m_Constant(&constant));
      constants.push_back(constant);
    }
    OperationState state(op->getLoc(), op->getName(), operands,
                         getElementTypeOrSelf(op->getResult(0)), op->getAttrs());
    Operation *twin = Operation::create(state);
    SmallVector<OpFoldResult> results;
    LogicalResult folded = twin->fold(constants, results);
    twin->destroy();
    if (failed(folded) || results.empty())
      return rewriter.notifyMatchFailure(op, "does not fold element by element");
    if (auto value = dyn_cast<Value>(results[0]))
      return replaceByOperand(op, llvm::find(operands, value) - operands.begin(), rewriter);
    auto constant = dyn_cast<TypedAttr>(cast<Attribute>(results[0]));
    if (!constant || !constant.getType().isIntOrIndexOrFloat())
      return rewriter.notifyMatchFailure(op, "folds to something that is no scalar constant");
    Value scalar = arith::ConstantOp::create(rewriter, op->getLoc(), constant);
    rewriter.replaceOpWithNewOp<FullOp>(op, op->getResult(0).getType(), scalar);
    return success();
  }

private:
  static LogicalResult replaceByOperand(Operation *op, size_t index, PatternRewriter &rewriter) {
    if (index >= op->getNumOperands() ||
        op->getOperand(index).getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "folds to something that is not there");
    rewriter.replaceOp(op, op->getOperand(index));
    return success();
  }
};

/// full(a) + full(b) -> full(a + b).
struct ComputeOnce : RewritePattern {
  explicit ComputeOnce(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op) || isa<KeepOp>(op) || !isTile(op->getResult(0)))
      return rewriter.notifyMatchFailure(op, "is not elementwise on tiles and on scalars");
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands())
      scalars.push_back(isTile(operand) ? filledWith(operand) : operand);
    if (llvm::is_contained(scalars, Value()))
      return rewriter.notifyMatchFailure(op, "an operand has more than one value");
    Type type = op->getResult(0).getType();
    OperationState state(op->getLoc(), op->getName(), scalars, getElementTypeOrSelf(type),
                         op->getAttrs());
    Operation *scalar = rewriter.create(state);
    rewriter.replaceOpWithNewOp<FullOp>(op, type, scalar->getResult(0));
    return success();
  }
};

/// broadcast(full(a)) -> full(a), and so on; extract(full(a)) -> a.
template <typename Op>
struct RearrangeOfFull : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value scalar = filledWith(op.getOperand());
    if (!scalar)
      return rewriter.notifyMatchFailure(op, "the operand has more than one value");
    if (isTile(op))
      scalar = FullOp::create(rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()), scalar);
    rewriter.replaceOp(op, scalar);
    return success();
  }
};

/// A constant tile that some upstream pattern has made.
struct ConstantToFull : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto values = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!values || !values.isSplat())
      return rewriter.notifyMatchFailure(op, "is no tile of one value");
    auto scalar = cast<TypedAttr>(values.getSplatValue<Attribute>());
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), scalar);
    rewriter.replaceOpWithNewOp<FullOp>(op, op.getType(), constant);
    return success();
  }
};

/// A loop that makes no trip is its inits; one that makes one is its body.
struct ShortLoop : OpRewritePattern<ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ForOp loop, PatternRewriter &rewriter) const override {
    auto trips = loop.constantTripCount();
    if (!trips || *trips > 1)
      return rewriter.notifyMatchFailure(loop, "may make several trips");
    if (*trips == 0)
      return rewriter.replaceOp(loop, loop.getInitial()), success();
    SmallVector<Value> arguments = {loop.getBegin()};
    llvm::append_range(arguments, loop.getInitial());
    Block &body = loop.getBody().front();
    Operation *yield = body.getTerminator();
    SmallVector<Value> yielded(yield->getOperands());
    for (Value &value : yielded) // the inlined block has no arguments
      if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &body)
        value = arguments[argument.getArgNumber()];
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&body, loop, arguments);
    rewriter.replaceOp(loop, yielded);
    return success();
  }
};

} // namespace

void addSimplifications(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<Fold, FoldElements, ComputeOnce, ConstantToFull, ShortLoop,
               RearrangeOfFull<BroadcastOp>, RearrangeOfFull<KeepOp>, RearrangeOfFull<ReshapeOp>,
               RearrangeOfFull<TransposeOp>, RearrangeOfFull<SliceOp>, RearrangeOfFull<ExtractOp>>(
      context);
  arith::AddIOp::getCanonicalizationPatterns(patterns, context);
  arith::MulIOp::getCanonicalizationPatterns(patterns, context);
  scf::IfOp::getCanonicalizationPatterns(patterns, context);
}

} // namespace tw::tile
