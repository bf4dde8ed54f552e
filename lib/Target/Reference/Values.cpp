// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel's scalars and the sizes of its tensors, computed on demand before the loops.
#include "Graph/Sizes.h"
#include "IR/Coded.h"
#include "Target/Reference/Emitter.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::target::reference {

FailureOr<Value> Emitter::scalar(Value value) {
  if (auto it = scalars.find(value); it != scalars.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return emitCoded(value.getLoc(), Code::TARGET_2)
           << "the reference target cannot reach a value of type " << value.getType();
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  if (failed(evaluate(op)))
    return failure();
  return scalars[value];
}

FailureOr<Ix> Emitter::index(OpFoldResult value) {
  if (auto constant = getConstantIntValue(value))
    return Ix(*constant);
  FailureOr<Value> dynamic = scalar(cast<Value>(value));
  return succeeded(dynamic) ? Ix(*dynamic) : FailureOr<Ix>();
}

FailureOr<Indices> Emitter::indices(ArrayRef<OpFoldResult> values) {
  return collect<Indices>(values, [&](OpFoldResult value) { return index(value); });
}

FailureOr<Ix> Emitter::size(const Extent &extent) {
  auto [tensor, dim] = extent;
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return Ix(type.getDimSize(dim));
  if (auto known = knownSizes.find({tensor, dim}); known != knownSizes.end())
    return known->second;
  OpBuilder kernel(tensor.getContext());
  kernel.setInsertionPoint(tensor.getParentBlock()->getTerminator());
  OpFoldResult resolved = resolvedSize(tensor, dim, kernel);
  auto query = dyn_cast<Value>(resolved) ? cast<Value>(resolved).getDefiningOp<tensor::DimOp>()
                                         : tensor::DimOp();
  if (query && query.getSource() == tensor)
    return emitCoded(tensor.getLoc(), Code::TARGET_2)
           << "the reference target cannot tell the size of dimension " << dim << " of a "
           << tensor.getType();
  FailureOr<Ix> computed = index(resolved);
  if (succeeded(computed))
    knownSizes.try_emplace({tensor, dim}, *computed);
  return computed;
}

FailureOr<Indices> Emitter::sizes(ArrayRef<Extent> extents) {
  return collect<Indices>(extents, [&](const Extent &extent) { return size(extent); });
}

SmallVector<Extent> Emitter::extentsOf(Value tensor) {
  auto rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return llvm::map_to_vector(llvm::seq(rank), [&](int64_t d) { return Extent{tensor, d}; });
}

} // namespace tw::target::reference
