// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/Rows.h"
#include "IR/Graph/Contraction.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw {

bool isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp>(op);
}

/// An insertion into a tensor that a loop carries is a copy of the slice alone, which the host
/// program does in place; a kernel would write the whole tensor in every iteration.
static bool fillsCarriedTensor(tensor::InsertSliceOp op) {
  auto carried = dyn_cast<BlockArgument>(op.getDest());
  return carried && isa<scf::ForOp>(carried.getOwner()->getParentOp());
}

bool isCompute(Operation *op) {
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return !fillsCarriedTensor(insert);
  return isa<linalg::LinalgOp, graph::ConvOp, graph::AttentionInterface, graph::ScanOp,
             graph::SortOp, graph::ScatterOp>(op);
}

bool isContraction(Operation *op) {
  if (isa<graph::ConvOp, graph::AttentionInterface>(op))
    return true;
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  return linalg && graph::matchContraction(linalg);
}

/// The iteration dimensions of the leading parallel dimensions of `op`'s results.
static SmallVector<unsigned> rowDims(linalg::LinalgOp op) {
  auto iterators = op.getIteratorTypesArray();
  SmallVector<unsigned> dims;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    SmallVector<unsigned> own;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || iterators[dim.getPosition()] != utils::IteratorType::parallel)
        break;
      own.push_back(dim.getPosition());
    }
    if (i == 0)
      dims = own;
    size_t common = 0;
    while (common < dims.size() && common < own.size() && dims[common] == own[common])
      ++common;
    dims.resize(common);
  }
  return dims;
}

/// Whether `size` is what dimension `dim` of a tensor was made with.
static bool isSizeOf(OpFoldResult size, Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return getConstantIntValue(size) == type.getDimSize(dim);
  auto given = dyn_cast<Value>(size);
  if (auto own = given ? given.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
      own && own.getSource() == tensor && own.getConstantIndex() == dim)
    return true;
  Operation *op = tensor.getDefiningOp();
  if (auto destination = dyn_cast_if_present<DestinationStyleOpInterface>(op))
    return isSizeOf(size, destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  auto empty = dyn_cast_if_present<tensor::EmptyOp>(op);
  return empty && empty.getMixedSizes()[dim] == size;
}

/// Leading dimensions a slice takes whole: offset 0, stride 1 and all of `full`.
template <typename SliceOp>
static int64_t wholeDims(SliceOp op, Value full, RankedTensorType part) {
  auto type = cast<RankedTensorType>(full.getType());
  if (type.getRank() != part.getRank())
    return 0;
  auto isConst = [](OpFoldResult x, int64_t value) { return getConstantIntValue(x) == value; };
  int64_t d = 0;
  for (; d < type.getRank(); ++d)
    if (!isSizeOf(op.getMixedSizes()[d], full, d) || !isConst(op.getMixedOffsets()[d], 0) ||
        !isConst(op.getMixedStrides()[d], 1))
      break;
  return d;
}

static int64_t singletonGroups(ArrayRef<ReassociationIndices> groups) {
  int64_t count = 0;
  while (count < int64_t(groups.size()) && groups[count].size() == 1)
    ++count;
  return count;
}

/// Leading axes of the output that are not along a value.
static int64_t rowsOf(graph::AttentionOp op) {
  AffineMap output = op.resultMap(0);
  int64_t count = 0;
  while (!output.getResult(count).isFunctionOfDim(op.widthDim()))
    ++count;
  return op->getNumResults() == 1 ? count : 0;
}

int64_t numLeadingParallelDims(Operation *op) {
  return TypeSwitch<Operation *, int64_t>(op)
      .Case([](linalg::LinalgOp o) { return int64_t(rowDims(o).size()); })
      .Case([](graph::ConvOp o) { return o.isResultLast() ? 1 + o.getSpatialRank() : 2; })
      .Case([](graph::AttentionOp o) { return rowsOf(o); })
      .Case([](graph::AttentionGradientOp) { return 0; })
      .Case([](graph::ScanOp o) { return int64_t(o.getDim()); })
      .Case([](graph::SortOp o) { return int64_t(o.getDim()); })
      .Case([](graph::ScatterOp) { return 0; })
      .Case([](tensor::InsertSliceOp o) { return wholeDims(o, o.getDest(), o.getSourceType()); })
      .Case([](tensor::ExtractSliceOp o) { return wholeDims(o, o.getSource(), o.getType()); })
      .Case([](tensor::ExpandShapeOp o) { return singletonGroups(o.getReassociationIndices()); })
      .Case([](tensor::CollapseShapeOp o) { return singletonGroups(o.getReassociationIndices()); })
      .Case([](tensor::CastOp o) { return cast<RankedTensorType>(o.getType()).getRank(); })
      .Default([](Operation *) { return 0; });
}

static int64_t sharedRows(linalg::LinalgOp op, OpOperand &operand) {
  SmallVector<unsigned> dims = rowDims(op);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  int64_t shared = 0;
  for (; shared < int64_t(dims.size()) && shared < map.getNumResults(); ++shared) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(shared));
    if (!dim || dim.getPosition() != dims[shared])
      break;
  }
  return shared;
}

int64_t sharedRows(OpOperand &operand) {
  return TypeSwitch<Operation *, int64_t>(operand.getOwner())
      .Case([&](linalg::LinalgOp o) { return sharedRows(o, operand); })
      .Case([&](graph::ConvOp o) {
        return operand.get() == o.getInit()    ? numLeadingParallelDims(o)
               : operand.get() == o.getInput() ? 1
                                               : 0;
      })
      .Case([&](graph::AttentionOp o) {
        return llvm::is_contained(o.getOuts(), operand.get()) ? numLeadingParallelDims(o) : 0;
      })
      .Default([](Operation *op) { return numLeadingParallelDims(op); });
}

int64_t rowElements(Value value, int64_t rows) {
  constexpr int64_t guess = 1024, limit = int64_t(1) << 40;
  int64_t elements = 1;
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t d = rows; d < type.getRank(); ++d)
    elements = std::min(limit, elements * (type.isDynamicDim(d) ? guess : type.getDimSize(d)));
  return elements;
}

SmallVector<Value> capturedTensors(Operation *op) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> tensors;
  for (Value value : captured)
    if (isa<TensorType>(value.getType()))
      tensors.push_back(value);
  return tensors;
}

} // namespace tw
