// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.dim of a computed tensor becomes the size the tensor was made with, until only dimensions
// of function arguments (and of what loops carry) are asked for:
//
//   %e = tensor.empty(%n) : tensor<?xf32>
//   %r = linalg.generic ... outs(%e)            ->   uses of %d become %n
//   %d = tensor.dim %r, %c0
//
// So equal sizes are one value, dispatches do not depend on tensors for sizes alone, and dead
// computations can go.
#include "Graph/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw {
namespace {

OpFoldResult collapsedSize(tensor::CollapseShapeOp op, int64_t dim, OpBuilder &b) {
  OpFoldResult size = b.getIndexAttr(1);
  for (int64_t part : op.getReassociationIndices()[dim]) {
    Value factor = tensor::getMixedSize(b, op.getLoc(), op.getSrc(), part).dyn_cast<Value>();
    if (!factor)
      factor = arith::ConstantIndexOp::create(b, op.getLoc(), op.getSrcType().getDimSize(part));
    Value sofar = getValueOrCreateConstantIndexOp(b, op.getLoc(), size);
    size = arith::MulIOp::create(b, op.getLoc(), sofar, factor).getResult();
  }
  return size;
}

OpFoldResult concatenatedSize(tensor::ConcatOp op, int64_t dim, OpBuilder &b) {
  if (dim != int64_t(op.getDim()))
    return tensor::getMixedSize(b, op.getLoc(), op.getInputs()[0], dim);
  Value sum = arith::ConstantIndexOp::create(b, op.getLoc(), 0);
  for (Value input : op.getInputs()) {
    OpFoldResult size = tensor::getMixedSize(b, op.getLoc(), input, dim);
    sum = arith::AddIOp::create(b, op.getLoc(), sum,
                                getValueOrCreateConstantIndexOp(b, op.getLoc(), size));
  }
  return sum;
}

OpFoldResult paddedSize(tensor::PadOp op, int64_t dim, OpBuilder &b) {
  Location loc = op.getLoc();
  auto value = [&](OpFoldResult x) { return getValueOrCreateConstantIndexOp(b, loc, x); };
  Value size = value(tensor::getMixedSize(b, loc, op.getSource(), dim));
  size = arith::AddIOp::create(b, loc, size, value(op.getMixedLowPad()[dim]));
  return arith::AddIOp::create(b, loc, size, value(op.getMixedHighPad()[dim])).getResult();
}

/// Size `dim` of `tensor` in terms of what it was made from; empty when it must be asked for.
OpFoldResult sizeOf(Value tensor, int64_t dim, OpBuilder &b) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return {};
  auto ofSource = [&](Value source) { return tensor::getMixedSize(b, op->getLoc(), source, dim); };
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return ofSource(dps.getTiedOpOperand(cast<OpResult>(tensor))->get());
  return TypeSwitch<Operation *, OpFoldResult>(op)
      .Case([&](tensor::EmptyOp e) { return e.getMixedSizes()[dim]; })
      .Case([&](tensor::CastOp c) { return ofSource(c.getSource()); })
      .Case([&](tensor::InsertSliceOp i) { return ofSource(i.getDest()); })
      .Case([&](tensor::ExpandShapeOp e) { return e.getMixedOutputShape()[dim]; })
      .Case([&](tensor::CollapseShapeOp c) { return collapsedSize(c, dim, b); })
      .Case([&](tensor::ConcatOp c) { return concatenatedSize(c, dim, b); })
      .Case([&](tensor::PadOp p) { return paddedSize(p, dim, b); })
      .Case([&](tensor::ExtractSliceOp s) -> OpFoldResult {
        auto dropped = s.getDroppedDims();
        for (auto [i, size] : llvm::enumerate(s.getMixedSizes()))
          if (!dropped.test(i) && dim-- == 0)
            return size;
        return {};
      })
      .Default([](Operation *) { return OpFoldResult(); });
}

struct ResolveDims : PassWrapper<ResolveDims, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ResolveDims)
  StringRef getArgument() const override { return "tw-resolve-dims"; }
  StringRef getDescription() const override { return "Express sizes by the entry's symbols"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    SmallVector<tensor::DimOp> work;
    getOperation()->walk([&](tensor::DimOp op) { work.push_back(op); });
    // New tensor.dim ops nearer to the arguments join the list until none can be resolved.
    while (!work.empty()) {
      tensor::DimOp op = work.pop_back_val();
      std::optional<int64_t> dim = op.getConstantIndex();
      if (!dim)
        continue;
      OpBuilder b(op);
      OpFoldResult size = op.getSource().getType().isDynamicDim(*dim)
                              ? sizeOf(op.getSource(), *dim, b)
                              : OpFoldResult(b.getIndexAttr(op.getSource().getType().getDimSize(*dim)));
      if (!size)
        continue;
      Value value = getValueOrCreateConstantIndexOp(b, op.getLoc(), size);
      collectNewDims(value, work);
      op.replaceAllUsesWith(value);
      op.erase();
    }
  }

  /// The tensor.dim ops among the operations just made for `value`.
  static void collectNewDims(Value value, SmallVector<tensor::DimOp> &work) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      if (!llvm::is_contained(work, dim))
        work.push_back(dim);
    } else if (isa<arith::AddIOp, arith::MulIOp>(op)) {
      for (Value operand : op->getOperands())
        collectNewDims(operand, work);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createResolveDims() { return std::make_unique<ResolveDims>(); }

} // namespace tw
