// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/Ops/TorchConversion.h"
#include "mlir/IR/Builders.h"

#include "IR/Torch/TorchConversionDialect.cpp.inc"
#define GET_OP_CLASSES
#include "IR/Torch/TorchConversion.cpp.inc"

using namespace mlir;
namespace tw::torch_c {

void TorchConversionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "IR/Torch/TorchConversion.cpp.inc"
      >();
}

/// A dtype of torch and an element type that hold the same values. Signs are not kept in builtin
/// types, so si64 and ui64 both go with i64.
static bool sameElements(Type dtype, Type element) {
  if (dtype == element)
    return true;
  auto a = dyn_cast<IntegerType>(dtype), b = dyn_cast<IntegerType>(element);
  return a && b && a.getWidth() == b.getWidth() && b.isSignless();
}

static LogicalResult verifyCast(Operation *op, torch::ValueTensorType torchType, Type builtin) {
  auto refuse = [&] {
    return op->emitOpError() << "needs the same sizes and dtype on both sides, got " << torchType
                             << " and " << builtin;
  };
  auto tensor = cast<TensorType>(builtin);
  if (torchType.getDtype() && !sameElements(torchType.getDtype(), tensor.getElementType()))
    return refuse();
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  if (!ranked || !torchType.getHasSizes())
    return success();
  if (ranked.getRank() != *torchType.rank())
    return refuse();
  for (auto [size, extent] : llvm::zip_equal(torchType.getSizes(), ranked.getShape()))
    if ((size == torch::ValueTensorType::kUnknownSize) != ShapedType::isDynamic(extent) ||
        (!ShapedType::isDynamic(extent) && size != extent))
      return refuse();
  return success();
}

LogicalResult FromBuiltinTensorOp::verify() {
  return verifyCast(*this, getType(), getOperand().getType());
}
LogicalResult ToBuiltinTensorOp::verify() {
  return verifyCast(*this, getOperand().getType(), getType());
}

/// A cast of its inverse is the value it started from.
template <typename Inverse, typename Op>
static OpFoldResult foldInverse(Op op) {
  auto inverse = op.getOperand().template getDefiningOp<Inverse>();
  return inverse && inverse.getOperand().getType() == op.getType() ? inverse.getOperand()
                                                                   : OpFoldResult();
}
OpFoldResult FromBuiltinTensorOp::fold(FoldAdaptor) {
  return foldInverse<ToBuiltinTensorOp>(*this);
}
OpFoldResult ToBuiltinTensorOp::fold(FoldAdaptor) {
  return foldInverse<FromBuiltinTensorOp>(*this);
}
OpFoldResult ToI1Op::fold(FoldAdaptor) { return foldInverse<FromI1Op>(*this); }
OpFoldResult FromI1Op::fold(FoldAdaptor) { return foldInverse<ToI1Op>(*this); }
OpFoldResult ToI64Op::fold(FoldAdaptor) { return foldInverse<FromI64Op>(*this); }
OpFoldResult FromI64Op::fold(FoldAdaptor) { return foldInverse<ToI64Op>(*this); }
OpFoldResult ToF64Op::fold(FoldAdaptor) { return foldInverse<FromF64Op>(*this); }
OpFoldResult FromF64Op::fold(FoldAdaptor) { return foldInverse<ToF64Op>(*this); }

} // namespace tw::torch_c
