// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the tensor dialect that move or make elements, and the table of all emitters.
#include "IR/Graph/Graph.h"
#include "Target/Reference/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::target::reference {

EmitLoops emitLoopsOf(Operation *op) {
  static const llvm::StringMap<EmitLoops> table = {{"linalg.generic", emitGeneric},
                                                   {"tw.conv", emitConv},
                                                   {"tw.scan", emitScan},
                                                   {"tw.sort", emitSort},
                                                   {"tw.scatter", emitScatter},
                                                   {"tensor.insert_slice", emitInsertSlice},
                                                   {"tensor.generate", emitGenerate},
                                                   {"tensor.from_elements", emitFromElements},
                                                   {"tensor.splat", emitSplat},
                                                   {"tensor.pad", emitPad},
                                                   {"tensor.concat", emitConcat}};
  return table.lookup(op->getName().getStringRef());
}

LogicalResult emitInsertSlice(Operation *op, Emitter &e) {
  auto insert = cast<tensor::InsertSliceOp>(op);
  const Buffer from = e.buffer(insert.getSource());
  Buffer to = e.buffer(insert.getResult());
  Buffer part = to;
  part.strides.clear();
  part.sizes = from.sizes;
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  for (int64_t d = 0; d < insert.getDestType().getRank(); ++d) {
    FailureOr<Ix> offset = e.index(insert.getMixedOffsets()[d]);
    FailureOr<Ix> stride = e.index(insert.getMixedStrides()[d]);
    if (failed(offset) || failed(stride))
      return failure();
    part.offset = e.ix().add(part.offset, e.ix().mul(*offset, to.strides[d]));
    if (!dropped.test(d))
      part.strides.push_back(e.ix().mul(*stride, to.strides[d]));
  }
  e.copy(from, part, e.ranges(from.sizes));
  return success();
}

LogicalResult emitGenerate(Operation *op, Emitter &e) {
  const Buffer to = e.buffer(op->getResult(0));
  bool good = true;
  e.nest(e.ranges(to.sizes), [&](ArrayRef<Ix> at) {
    SmallVector<Value> arguments;
    for (const Ix &i : at)
      arguments.push_back(e.ix().value(i));
    auto element = e.body(op->getRegion(0).front(), arguments, {});
    good &= succeeded(element);
    if (succeeded(element))
      e.store((*element)[0], to, e.linear(to, at));
  });
  return success(good);
}

LogicalResult emitFromElements(Operation *op, Emitter &e) {
  const Buffer to = e.buffer(op->getResult(0));
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    FailureOr<Value> element = e.scalar(operand);
    if (failed(element))
      return failure();
    e.store(*element, to, e.ix().add(to.offset, int64_t(i)));
  }
  return success();
}

LogicalResult emitSplat(Operation *op, Emitter &e) {
  const Buffer to = e.buffer(op->getResult(0));
  FailureOr<Value> element = e.scalar(op->getOperand(0));
  if (failed(element))
    return failure();
  e.nest(
      e.ranges(to.sizes), [&](ArrayRef<Ix> at) { e.store(*element, to, e.linear(to, at)); }, true);
  return success();
}

/// First the padding everywhere, then the source over it.
LogicalResult emitPad(Operation *op, Emitter &e) {
  auto pad = cast<tensor::PadOp>(op);
  const Buffer from = e.buffer(pad.getSource()), to = e.buffer(pad.getResult());
  bool good = true;
  e.nest(e.ranges(to.sizes), [&](ArrayRef<Ix> at) {
    SmallVector<Value> arguments;
    for (const Ix &i : at)
      arguments.push_back(e.ix().value(i));
    auto element = e.body(pad.getRegion().front(), arguments, {});
    good &= succeeded(element);
    if (succeeded(element))
      e.store((*element)[0], to, e.linear(to, at));
  });
  Buffer inner = to;
  for (auto [d, low] : llvm::enumerate(pad.getMixedLowPad())) {
    FailureOr<Ix> offset = e.index(low);
    if (failed(offset))
      return failure();
    inner.offset = e.ix().add(inner.offset, e.ix().mul(*offset, to.strides[d]));
  }
  if (good)
    e.copy(from, inner, e.ranges(from.sizes));
  return success(good);
}

LogicalResult emitConcat(Operation *op, Emitter &e) {
  auto concat = cast<tensor::ConcatOp>(op);
  const Buffer to = e.buffer(concat.getResult());
  Buffer part = to;
  for (Value source : concat.getInputs()) {
    const Buffer from = e.buffer(source);
    e.copy(from, part, e.ranges(from.sizes));
    Ix step = e.ix().mul(from.sizes[concat.getDim()], to.strides[concat.getDim()]);
    part.offset = e.ix().add(part.offset, step);
  }
  return success();
}

} // namespace tw::target::reference
