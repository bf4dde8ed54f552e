// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views: other sizes and strides on the elements of a buffer.
#include "Target/Reference/Operations.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::target::reference {

bool isViewOperation(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractSliceOp,
             tensor::ReshapeOp>(op);
}

/// The first group of dimensions that lies where the source is dense.
static unsigned firstDenseGroup(ArrayRef<ReassociationIndices> groups, const Buffer &source) {
  unsigned group = groups.size();
  while (group > 0 && source.isDense(groups[group - 1].front()))
    --group;
  return group;
}

/// The strides of a group of dimensions that a dimension of stride `stride` was split into.
static Indices expandedStrides(Emitter &e, const Buffer &source, const Indices &sizes,
                               ArrayRef<ReassociationIndices> groups) {
  Indices strides(sizes.size(), Ix(1));
  for (auto [dim, group] : llvm::enumerate(groups)) {
    Ix stride = source.strides[dim];
    for (int64_t d : llvm::reverse(group)) {
      strides[d] = stride;
      stride = e.ix().mul(stride, sizes[d]);
    }
  }
  return strides;
}

/// The stride of a dimension that `group` was merged into: that of its last dimension, or of the
/// last one that is not of size 1.
static Ix mergedStride(const Buffer &source, ArrayRef<int64_t> group) {
  for (int64_t d : llvm::reverse(group))
    if (!source.sizes[d].is(1))
      return source.strides[d];
  return source.strides[group.back()];
}

/// Whether the dimensions of `group` follow each other without gaps, as far as is known here.
static bool isDense(const Buffer &source, ArrayRef<int64_t> group) {
  if (source.isDense(group.front()))
    return true;
  int64_t inner = -1;
  for (int64_t d : llvm::reverse(group)) {
    if (source.sizes[d].is(1))
      continue;
    if (inner >= 0 && (!source.sizes[inner].isConstant() || !source.strides[inner].isConstant() ||
                       !source.strides[d].is(*source.sizes[inner].constant() *
                                             *source.strides[inner].constant())))
      return false;
    inner = d;
  }
  return true;
}

/// The view; nothing where merged dimensions have gaps between them (Prepare.cpp copies those).
static std::optional<Buffer> collapsed(tensor::CollapseShapeOp op, const Buffer &source,
                                       const Indices &sizes) {
  Buffer view = source;
  view.denseFrom = firstDenseGroup(op.getReassociationIndices(), source);
  view.sizes = sizes;
  view.strides.clear();
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    if (!isDense(source, group))
      return std::nullopt;
    view.strides.push_back(mergedStride(source, group));
  }
  return view;
}

static LogicalResult slice(Emitter &e, tensor::ExtractSliceOp op, Buffer &view) {
  const Buffer &source = e.buffer(op.getSource());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  view.strides.clear();
  view.denseFrom = op.getType().getRank();
  for (int64_t d = 0; d < op.getSourceType().getRank(); ++d) {
    FailureOr<Ix> offset = e.index(op.getMixedOffsets()[d]);
    FailureOr<Ix> stride = e.index(op.getMixedStrides()[d]);
    if (failed(offset) || failed(stride))
      return failure();
    view.offset = e.ix().add(view.offset, e.ix().mul(*offset, source.strides[d]));
    if (!dropped.test(d))
      view.strides.push_back(e.ix().mul(*stride, source.strides[d]));
  }
  return success();
}

LogicalResult emitView(Operation *op, Emitter &e) {
  Value result = op->getResult(0);
  FailureOr<Indices> sizes = e.sizes(result);
  if (failed(sizes))
    return failure();
  const Buffer &source = e.buffer(op->getOperand(0));
  Buffer view = source;
  view.sizes = *sizes;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    auto groups = expand.getReassociationIndices();
    view.strides = expandedStrides(e, source, *sizes, groups);
    view.denseFrom = source.denseFrom < groups.size() ? groups[source.denseFrom].front()
                     : source.denseFrom               ? sizes->size()
                                                      : 0;
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    if (collapse.getReassociationIndices().empty())
      view.strides.clear();
    else if (auto merged = collapsed(collapse, source, *sizes))
      view = *merged;
    else
      return op->emitError("collapses dimensions that are not contiguous");
  } else if (isa<tensor::ReshapeOp>(op)) {
    view.strides = rowMajor(e.ix(), *sizes);
  } else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (failed(slice(e, extract, view)))
      return failure();
  }
  e.buffers[result] = view;
  return success();
}

} // namespace tw::target::reference
