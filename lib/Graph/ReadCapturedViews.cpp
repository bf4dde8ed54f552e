// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A body looks elements up in the tensor itself, not in a slice of it or in what only adds or drops
// dimensions of size one:
//
//   %s = tensor.extract_slice %x[0, 3] [128, 1] [1, 1] : tensor<128x26xi64> to tensor<128x1xi64>
//   %v = tensor.collapse_shape %s [[0, 1]] : tensor<128x1xi64> into tensor<128xi64>
//   linalg.generic { ... tensor.extract %v[%i] ... }
// becomes
//   linalg.generic { ... tensor.extract %x[%i, %c3] ... }
//
// What a body captures is an argument of its kernel, in memory: the slice would be a copy, by a
// kernel of its own.
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "Graph/Rows.h"
#include "Graph/UnitReshapes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
namespace {

SmallVector<Value> indicesInSource(tensor::ExtractSliceOp slice, ValueRange indices, OpBuilder &b) {
  Location loc = slice.getLoc();
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<Value> found;
  for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
    Value first = getValueOrCreateConstantIndexOp(b, loc, offset);
    if (dropped[dim]) {
      found.push_back(first);
      continue;
    }
    Value index = indices.front();
    indices = indices.drop_front();
    if (!isConstantIntValue(slice.getMixedStrides()[dim], 1))
      index = b.createOrFold<arith::MulIOp>(
          loc, index, getValueOrCreateConstantIndexOp(b, loc, slice.getMixedStrides()[dim]));
    if (!isConstantIntValue(offset, 0))
      index = b.createOrFold<arith::AddIOp>(loc, index, first);
    found.push_back(index);
  }
  return found;
}

SmallVector<Value> indicesInSource(tensor::ExpandShapeOp expand, ValueRange indices, OpBuilder &) {
  SmallVector<Value> found;
  for (const ReassociationIndices &group : expand.getReassociationIndices())
    found.push_back(indices[carrierOf(expand.getResultType(), group)]);
  return found;
}

SmallVector<Value> indicesInSource(tensor::CollapseShapeOp collapse, ValueRange indices,
                                   OpBuilder &b) {
  Value zero = arith::ConstantIndexOp::create(b, collapse.getLoc(), 0);
  SmallVector<Value> found(collapse.getSrcType().getRank(), zero);
  for (auto [index, group] : llvm::zip_equal(indices, collapse.getReassociationIndices()))
    found[carrierOf(collapse.getSrcType(), group)] = index;
  return found;
}

bool isPlainView(tensor::ExtractSliceOp) { return true; }
bool isPlainView(tensor::ExpandShapeOp expand) { return addsOnlyUnits(expand); }
bool isPlainView(tensor::CollapseShapeOp collapse) { return dropsOnlyUnits(collapse); }

/// Whether `op` is in the body of what becomes a kernel, maybe in a loop there.
bool isInBody(Operation *op) {
  while ((op = op->getParentOp()))
    if (isCompute(op))
      return true;
  return false;
}

template <typename View>
struct ReadThrough : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp extract,
                                PatternRewriter &rewriter) const override {
    auto view = extract.getTensor().getDefiningOp<View>();
    if (!view || !isPlainView(view))
      return rewriter.notifyMatchFailure(extract, "it does not read such a view");
    if (!isInBody(extract) || isInBody(view))
      return rewriter.notifyMatchFailure(extract, "the view is not captured by a body");
    SmallVector<Value> indices = indicesInSource(view, extract.getIndices(), rewriter);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(extract, view->getOperand(0), indices);
    return success();
  }
};

struct ReadCapturedViews : PassWrapper<ReadCapturedViews, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReadCapturedViews)
  StringRef getArgument() const override { return "tw-read-captured-views"; }
  StringRef getDescription() const override {
    return "Let bodies look elements up in tensors instead of in slices of them";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadThrough<tensor::ExtractSliceOp>, ReadThrough<tensor::ExpandShapeOp>,
                 ReadThrough<tensor::CollapseShapeOp>>(&getContext());
    auto readsView = [](tensor::ExtractOp extract) {
      Operation *def = extract.getTensor().getDefiningOp();
      return def && isView(def);
    };
    if (failed(rewriteOps<tensor::ExtractOp>(getOperation(), std::move(patterns), readsView)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createReadCapturedViews() { return std::make_unique<ReadCapturedViews>(); }

} // namespace tw
