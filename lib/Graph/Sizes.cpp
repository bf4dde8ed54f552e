// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/Sizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw {

static Value asValue(OpFoldResult size, OpBuilder &b, Location loc) {
  return getValueOrCreateConstantIndexOp(b, loc, size);
}

static OpFoldResult collapsedSize(tensor::CollapseShapeOp op, int64_t dim, OpBuilder &b) {
  Location loc = op.getLoc();
  Value product;
  ReassociationIndices parts = op.getReassociationIndices()[dim];
  for (int64_t part : parts) {
    Value factor = asValue(resolvedSize(op.getSrc(), part, b), b, loc);
    product = product ? arith::MulIOp::create(b, loc, product, factor) : factor;
  }
  return product ? OpFoldResult(product) : b.getIndexAttr(1);
}

static OpFoldResult concatenatedSize(tensor::ConcatOp op, int64_t dim, OpBuilder &b) {
  if (dim != int64_t(op.getDim()))
    return resolvedSize(op.getInputs()[0], dim, b);
  Value sum = arith::ConstantIndexOp::create(b, op.getLoc(), 0);
  for (Value input : op.getInputs())
    sum = arith::AddIOp::create(b, op.getLoc(), sum,
                                asValue(resolvedSize(input, dim, b), b, op.getLoc()));
  return sum;
}

static OpFoldResult paddedSize(tensor::PadOp op, int64_t dim, OpBuilder &b) {
  Location loc = op.getLoc();
  Value size = asValue(resolvedSize(op.getSource(), dim, b), b, loc);
  size = arith::AddIOp::create(b, loc, size, asValue(op.getMixedLowPad()[dim], b, loc));
  return arith::AddIOp::create(b, loc, size, asValue(op.getMixedHighPad()[dim], b, loc))
      .getResult();
}

/// The size of dimension `dim` of a slice, whose unit dimensions may have been dropped.
static OpFoldResult slicedSize(tensor::ExtractSliceOp op, int64_t dim) {
  auto dropped = op.getDroppedDims();
  for (auto [i, size] : llvm::enumerate(op.getMixedSizes()))
    if (!dropped.test(i) && dim-- == 0)
      return size;
  return {};
}

/// The value a loop starts with for what it carries as, or returns as, `tensor`: loops keep the
/// sizes of the tensors they carry. Null for other values.
static Value loopInit(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? loop.getTiedLoopInit(argument)->get() : Value();
  }
  auto loop = tensor.getDefiningOp<scf::ForOp>();
  return loop ? loop.getInitArgs()[cast<OpResult>(tensor).getResultNumber()] : Value();
}

OpFoldResult resolvedSize(Value tensor, int64_t dim, OpBuilder &b) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  Operation *op = tensor.getDefiningOp();
  if (Value init = loopInit(tensor))
    return resolvedSize(init, dim, b);
  if (auto dps = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return resolvedSize(dps.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim, b);
  OpFoldResult size;
  if (op)
    size = TypeSwitch<Operation *, OpFoldResult>(op)
               .Case([&](tensor::EmptyOp e) { return e.getMixedSizes()[dim]; })
               .Case([&](tensor::CastOp c) { return resolvedSize(c.getSource(), dim, b); })
               .Case([&](tensor::ExpandShapeOp e) { return e.getMixedOutputShape()[dim]; })
               .Case([&](tensor::CollapseShapeOp c) { return collapsedSize(c, dim, b); })
               .Case([&](tensor::ConcatOp c) { return concatenatedSize(c, dim, b); })
               .Case([&](tensor::PadOp p) { return paddedSize(p, dim, b); })
               .Case([&](tensor::ExtractSliceOp s) { return slicedSize(s, dim); })
               .Default([](Operation *) { return OpFoldResult(); });
  return size ? size : tensor::DimOp::create(b, tensor.getLoc(), tensor, dim).getResult();
}

SmallVector<OpFoldResult> resolvedSizes(Value tensor, OpBuilder &b) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); d < rank; ++d)
    sizes.push_back(resolvedSize(tensor, d, b));
  return sizes;
}

} // namespace tw
