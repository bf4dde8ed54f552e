// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-fold-masks (Passes.td).
#include "Graph/ConstantRegion.h"
#include "Graph/Passes.h"
#include "IR/Coded.h"
#include "IR/Graph/CallWeights.h"
#include "IR/Graph/Graph.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>
#include <vector>

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_FOLDMASKS
#include "Graph/Passes.h.inc"

namespace {

constexpr int64_t mostElements = 1 << 24; // of a mask that is looked at
constexpr unsigned maskNumber = 3;        // among the maps, behind those of query, key and value

/// What a mask lets queries see: all keys, those up to their own place, or neither.
enum class MaskKind { Full, Causal, Other };

/// What the elements of a mask let be seen: those that are true, or numbers that are added to
/// scores and are 0. Nothing where one is neither 0 nor -inf.
std::optional<std::vector<bool>> seenBy(ArrayRef<std::byte> elements, Type type) {
  auto number = dyn_cast<FloatType>(type);
  size_t bytes = number ? number.getWidth() / 8 : 1;
  auto bitsOf = [&](const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); };
  uint64_t hidden = 0, negativeZero = 1;
  if (number) {
    hidden = bitsOf(APFloat::getInf(number.getFloatSemantics(), /*Negative=*/true));
    negativeZero = bitsOf(APFloat::getZero(number.getFloatSemantics(), /*Negative=*/true));
  }
  std::vector<bool> seen;
  for (size_t at = 0; at + bytes <= elements.size(); at += bytes) {
    uint64_t element = 0;
    std::memcpy(&element, elements.data() + at, bytes);
    bool isZero = element == 0 || element == negativeZero;
    if (number && !isZero && element != hidden)
      return std::nullopt;
    seen.push_back(number ? isZero : element != 0);
  }
  return seen;
}

/// Of elements in row-major order; where queries and keys run.
MaskKind kindOf(const std::vector<bool> &seen, ArrayRef<int64_t> shape,
                std::optional<unsigned> queries, std::optional<unsigned> keys) {
  auto strideOf = [&](unsigned axis) {
    int64_t stride = 1;
    for (int64_t size : shape.drop_front(axis + 1))
      stride *= size;
    return stride;
  };
  bool isAll = true, isCausal = queries && keys;
  int64_t queryStride = isCausal ? strideOf(*queries) : 1,
          keyStride = isCausal ? strideOf(*keys) : 1;
  for (int64_t at = 0; at < int64_t(seen.size()) && (isAll || isCausal); ++at) {
    bool isSeen = seen[size_t(at)];
    isAll &= isSeen;
    if (isCausal)
      isCausal = isSeen == (at / keyStride % shape[*keys] <= at / queryStride % shape[*queries]);
  }
  return isAll ? MaskKind::Full : isCausal ? MaskKind::Causal : MaskKind::Other;
}

MaskKind kindOf(graph::AttentionInterface op, ArrayRef<std::byte> elements) {
  auto type = cast<RankedTensorType>(op.getMask().getType());
  auto seen = seenBy(elements, type.getElementType());
  if (!seen || int64_t(seen->size()) != type.getNumElements())
    return MaskKind::Other;
  AffineMap map = op.mapAt(maskNumber);
  auto along = [&](unsigned dim) {
    return map.getResultPosition(getAffineDimExpr(dim, op.getContext()));
  };
  return kindOf(*seen, type.getShape(), along(op.queryDim()), along(op.keyDim()));
}

void dropMask(graph::AttentionInterface op, MaskKind kind) {
  SmallVector<Attribute> maps = llvm::to_vector(op.getIndexingMaps());
  maps.erase(maps.begin() + maskNumber);
  llvm::TypeSwitch<Operation *>(op).Case<graph::AttentionOp, graph::AttentionGradientOp>(
      [&](auto attention) {
        attention.getMaskMutable().clear();
        if (kind == MaskKind::Causal)
          attention.setCausal(true);
      });
  op.setIndexingMapsAttr(ArrayAttr::get(op.getContext(), maps));
  emitReport(op.getLoc()) << (kind == MaskKind::Full ? "its mask lets every query see all keys"
                                                     : "its mask is that of causal attention");
}

struct FoldMasks : impl::FoldMasksBase<FoldMasks> {
  explicit FoldMasks(ConstantEvaluator *evaluator) : evaluator(evaluator) {}

  void runOnOperation() override {
    llvm::MapVector<Value, SmallVector<graph::AttentionInterface>> readers;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody()) {
        ConstantRegion region(block);
        for (Operation &op : block)
          if (auto attention = dyn_cast<graph::AttentionInterface>(op);
              attention && isKnown(attention.getMask(), region))
            readers[attention.getMask()].push_back(attention);
      }
    if (readers.empty() || !evaluator)
      return;
    SmallVector<Value> masks = llvm::to_vector(llvm::make_first_range(readers));
    auto weights = evaluator->evaluate(outlineConstants(masks, getOperation()));
    if (failed(weights))
      return signalPassFailure();
    for (auto [mask, weight] : llvm::zip_equal(masks, *weights))
      fold(evaluator->elementsOf(weight), readers[mask]);
  }

  static void fold(ArrayRef<std::byte> elements, ArrayRef<graph::AttentionInterface> readers) {
    for (graph::AttentionInterface op : readers)
      if (MaskKind kind = kindOf(op, elements); kind != MaskKind::Other)
        dropMask(op, kind);
  }

  /// Whether a mask depends on nothing that only calls give.
  static bool isKnown(Value mask, const ConstantRegion &region) {
    if (!mask || !region.contains(mask))
      return false;
    auto type = cast<RankedTensorType>(mask.getType());
    if (type.getNumElements() > mostElements)
      return false;
    SetVector<Operation *> slice;
    BackwardSliceOptions all;
    all.inclusive = true;
    all.omitUsesFromAbove = false;
    (void)getBackwardSlice(mask, &slice, all);
    return llvm::none_of(slice, [](Operation *op) {
      auto weight = dyn_cast<graph::WeightOp>(op);
      return weight && graph::isGivenByCalls(weight.getSource());
    });
  }

  ConstantEvaluator *evaluator;
};

} // namespace

std::unique_ptr<Pass> createFoldMasks(ConstantEvaluator *evaluator) {
  return std::make_unique<FoldMasks>(evaluator);
}

} // namespace tw
