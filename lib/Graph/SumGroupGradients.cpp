// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-sum-group-gradients (Passes.td).
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_SUMGROUPGRADIENTS
#include "Graph/Passes.h.inc"

namespace {

/// A result, and the one sum that reads it.
struct SummedResult {
  unsigned number;
  linalg::GenericOp sum, rounding; // rounding: null where the sum is of the gradient's own type
  AffineMap map;                   // of the sum, in the dimensions of the attention
  llvm::SmallBitVector summed;     // among those dimensions
};

/// Whether it adds the elements of one input, widened or not, to 0.
bool isSum(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1)
    return false;
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  Block *body = op.getBody();
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) || !add ||
      !llvm::is_contained(add->getOperands(), body->getArgument(1)))
    return false;
  Value added = add.getLhs() == body->getArgument(1) ? add.getRhs() : add.getLhs();
  auto widened = added.getDefiningOp<arith::ExtFOp>();
  return (widened ? widened.getIn() : added) == body->getArgument(0) &&
         llvm::range_size(body->without_terminator()) == (widened ? 2 : 1);
}

/// The one reader of a sum, if it only rounds the elements to `element`; it may add axes.
linalg::GenericOp roundingOf(linalg::GenericOp sum, Type element) {
  Value whole = sum.getResult(0);
  auto op =
      whole.hasOneUse() ? dyn_cast<linalg::GenericOp>(*whole.user_begin()) : linalg::GenericOp();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1)
    return {};
  auto round = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::TruncFOp>();
  bool isOne = round && round.getIn() == op.getBody()->getArgument(0) &&
               llvm::hasSingleElement(op.getBody()->without_terminator());
  return isOne && round.getType() == element ? op : linalg::GenericOp();
}

std::optional<SummedResult> summedResult(graph::AttentionGradientOp op, unsigned number) {
  OpResult result = op->getResult(number);
  auto sum =
      result.hasOneUse() ? dyn_cast<linalg::GenericOp>(*result.user_begin()) : linalg::GenericOp();
  if (!sum || !isSum(sum))
    return std::nullopt;
  AffineMap read = sum.getIndexingMapsArray()[0], written = sum.getIndexingMapsArray()[1],
            own = op.resultMap(number);
  if (!read.isPermutation() || !written.isProjectedPermutation())
    return std::nullopt;
  SummedResult found{number, sum, {}, {}, llvm::SmallBitVector(own.getNumDims())};
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  if (cast<RankedTensorType>(sum.getResult(0).getType()).getElementType() != element) {
    found.rounding = roundingOf(sum, element);
    if (!found.rounding)
      return std::nullopt;
  }
  SmallVector<AffineExpr> axes;
  for (AffineExpr loop : written.getResults())
    axes.push_back(own.getResult(*read.getResultPosition(loop)));
  found.map = AffineMap::get(own.getNumDims(), 0, axes, op.getContext());
  for (unsigned dim = 0; dim < own.getNumDims(); ++dim)
    found.summed[dim] = own.isFunctionOfDim(dim) && !found.map.isFunctionOfDim(dim);
  bool isOfBatch = found.summed.find_last() < int(op.batchDims());
  return isOfBatch ? std::optional(found) : std::nullopt;
}

/// Of key and value, which have to be summed along the same dimensions.
SmallVector<SummedResult> summedResults(graph::AttentionGradientOp op) {
  SmallVector<SummedResult> all;
  for (auto [number, input] : llvm::enumerate(op.inputs())) {
    if (input == graph::AttentionInput::Query)
      continue;
    auto found = summedResult(op, number);
    if (!found || (!all.empty() && all.front().summed != found->summed))
      return {};
    all.push_back(*found);
  }
  return all;
}

/// Hands `gradient` to those that read the sum; what rounded it copies it now.
void replaceSum(SummedResult &one, Value gradient) {
  Value former = one.sum.getResult(0);
  if (linalg::GenericOp copy = one.rounding) {
    Operation *round = copy.getBody()->getTerminator()->getOperand(0).getDefiningOp();
    copy.getBody()->getArgument(0).setType(round->getResult(0).getType());
    round->getResult(0).replaceAllUsesWith(copy.getBody()->getArgument(0));
    round->erase();
  } else {
    graph::keepValues(former, gradient);
  }
  former.replaceAllUsesWith(gradient);
  one.sum.erase();
}

void sumInside(graph::AttentionGradientOp op) {
  SmallVector<SummedResult> all = summedResults(op);
  if (all.empty())
    return;
  OpBuilder b(op);
  auto isReplaced = [&](unsigned number) {
    return llvm::any_of(all, [&](const SummedResult &one) { return one.number == number; });
  };
  auto made = cast<graph::AttentionGradientOp>(b.clone(*op));
  graph::setValues(made, llvm::filter_to_vector(graph::valuesOf(op), [&](graph::ValueAttr value) {
                     return !isReplaced(unsigned(value.getResult()));
                   }));
  b.setInsertionPoint(made);
  for (SummedResult &one : all) {
    Value former = one.sum.getResult(0);
    Type element = cast<RankedTensorType>(op.getOuts()[one.number].getType()).getElementType();
    auto type = cast<RankedTensorType>(former.getType()).clone(element);
    SmallVector<OpFoldResult> own = resolvedSizes(op.getOuts()[one.number], b), sizes;
    for (AffineExpr axis : one.map.getResults())
      sizes.push_back(own[*op.resultMap(one.number).getResultPosition(axis)]);
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), sizes, type.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(b, op.getLoc(), type, empty);
    made.getOutsMutable()[one.number].set(empty);
    made.setMap(op.numMapped() + one.number, one.map);
    made->getResult(one.number).setType(type);
    replaceSum(one, made->getResult(one.number));
  }
  for (auto [before, after] : llvm::zip(op.getResults(), made.getResults()))
    if (!before.use_empty())
      before.replaceAllUsesWith(after);
  op.erase();
}

struct SumGroupGradients : impl::SumGroupGradientsBase<SumGroupGradients> {
  void runOnOperation() override {
    SmallVector<graph::AttentionGradientOp> all;
    getOperation()->walk([&](graph::AttentionGradientOp op) { all.push_back(op); });
    for (graph::AttentionGradientOp op : all)
      sumInside(op);
  }
};

} // namespace

} // namespace tw
