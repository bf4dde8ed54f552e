// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel's scalars and the sizes of its tensors, computed on demand before the loop over rows.
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "Target/Reference/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::reference {

FailureOr<SmallVector<Value>> Emitter::evaluate(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> value =
        isa<TensorType>(operand.getType()) ? FailureOr<Value>(Value()) : scalar(operand);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  FailureOr<SmallVector<Value>> results = scalarOp(op, operands, {});
  if (succeeded(results))
    for (auto [result, value] : llvm::zip(op->getResults(), *results))
      scalars[result] = value;
  return results;
}

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
  if (failed(dynamic))
    return failure();
  return Ix(*dynamic);
}

FailureOr<Ix> Emitter::size(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dim))
    return Ix(type.getDimSize(dim));
  Indices &known = knownSizes[value];
  if (known.empty())
    known.resize(type.getRank(), Ix(ShapedType::kDynamic));
  if (!known[dim].is(ShapedType::kDynamic))
    return known[dim];
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  FailureOr<Ix> computed = computeSize(value, dim);
  if (succeeded(computed))
    knownSizes[value][dim] = *computed;
  return computed;
}

FailureOr<Indices> Emitter::sizes(Value value) {
  Indices result;
  for (int64_t d = 0; d < cast<RankedTensorType>(value.getType()).getRank(); ++d) {
    FailureOr<Ix> one = size(value, d);
    if (failed(one))
      return failure();
    result.push_back(*one);
  }
  return result;
}

/// The dimension of a slice's source that its result's dimension `dim` is.
static int64_t sourceDim(tensor::ExtractSliceOp op, int64_t dim) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (int64_t d = 0;; ++d)
    if (!dropped.test(d) && dim-- == 0)
      return d;
}

/// Which of a type's dynamic dimensions `dim` is.
static unsigned dynamicPosition(Type type, int64_t dim) {
  return llvm::count_if(cast<RankedTensorType>(type).getShape().take_front(dim),
                        ShapedType::isDynamic);
}

static FailureOr<Ix> sumOf(Emitter &e, ArrayRef<FailureOr<Ix>> terms) {
  Ix sum = 0;
  for (const FailureOr<Ix> &term : terms) {
    if (failed(term))
      return failure();
    sum = e.ix().add(sum, *term);
  }
  return sum;
}

FailureOr<Ix> Emitter::computeSize(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return failure();
  using Result = FailureOr<Ix>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](DestinationStyleOpInterface o) {
        return size(o.getTiedOpOperand(cast<OpResult>(value))->get(), dim);
      })
      .Case<tensor::EmptyOp>([&](auto o) { return index(o.getMixedSizes()[dim]); })
      .Case([&](tensor::GenerateOp o) {
        return index(Value(o.getDynamicExtents()[dynamicPosition(o.getType(), dim)]));
      })
      .Case([&](tensor::SplatOp o) {
        return index(Value(o.getDynamicSizes()[dynamicPosition(o.getType(), dim)]));
      })
      .Case([&](tensor::ExpandShapeOp o) { return index(o.getMixedOutputShape()[dim]); })
      .Case([&](tensor::CollapseShapeOp o) -> Result {
        Ix all = 1;
        ReassociationIndices parts = o.getReassociationIndices()[dim];
        for (int64_t d : parts) {
          Result one = size(o.getSrc(), d);
          if (failed(one))
            return one;
          all = ix().mul(all, *one);
        }
        return all;
      })
      .Case([&](tensor::CastOp o) { return size(o.getSource(), dim); })
      .Case([&](tensor::ExtractSliceOp o) { return index(o.getMixedSizes()[sourceDim(o, dim)]); })
      .Case([&](tensor::InsertSliceOp o) { return size(o.getDest(), dim); })
      .Case([&](tensor::PadOp o) {
        return sumOf(*this, {size(o.getSource(), dim), index(o.getMixedLowPad()[dim]),
                             index(o.getMixedHighPad()[dim])});
      })
      .Case([&](tensor::ConcatOp o) -> Result {
        if (int64_t(o.getDim()) != dim)
          return size(o.getInputs()[0], dim);
        SmallVector<Result> parts;
        for (Value input : o.getInputs())
          parts.push_back(size(input, dim));
        return sumOf(*this, parts);
      })
      .Case([&](tensor::ReshapeOp o) -> Result {
        if (auto elements = o.getShape().getDefiningOp<tensor::FromElementsOp>())
          return index(Value(elements.getElements()[dim]));
        const Buffer &shape = buffer(o.getShape());
        return Ix(convert(load(shape, linear(shape, Ix(dim))), b.getI64Type()));
      })
      .Default([&](Operation *o) -> Result {
        return emitCoded(o->getLoc(), Code::TARGET_2)
               << "the reference target cannot tell the size of dimension " << dim << " of "
               << o->getName().getStringRef();
      });
}

} // namespace tw::target::reference
