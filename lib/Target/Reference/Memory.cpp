// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores, the buffers in the workspace, and tensor.extract_slice and tensor.insert_slice,
// which copy element by element.
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::reference {

Type Emitter::stored(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return scalarType(element);
}

int64_t Emitter::bytesOf(Type element) { return (stored(element).getIntOrFloatBitWidth() + 7) / 8; }

static Value pointerTo(Emitter &e, Value base, Type stored, const Ix &element) {
  if (element.is(0))
    return base;
  LLVM::GEPArg index = e.ix().value(element);
  return LLVM::GEPOp::create(e.b, e.loc, base.getType(), stored, base, ArrayRef(index),
                             LLVM::GEPNoWrapFlags::inbounds);
}

static Value elementOf(Emitter &e, const Buffer &buffer, ArrayRef<Ix> at) {
  Ix element = 0;
  for (auto [size, i] : llvm::zip(buffer.sizes, at))
    element = e.ix().add(e.ix().mul(element, size), i);
  return pointerTo(e, buffer.base, Emitter::stored(buffer.element), element);
}

Value Emitter::load(const Buffer &buffer, ArrayRef<Ix> at) {
  Value value = LLVM::LoadOp::create(b, loc, stored(buffer.element), elementOf(*this, buffer, at),
                                     unsigned(bytesOf(buffer.element)));
  if (buffer.element.isInteger(1))
    return arith::TruncIOp::create(b, loc, buffer.element, value);
  return value;
}

void Emitter::store(Value value, const Buffer &buffer, ArrayRef<Ix> at) {
  if (buffer.element.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  LLVM::StoreOp::create(b, loc, value, elementOf(*this, buffer, at),
                        unsigned(bytesOf(buffer.element)));
}

void Emitter::copy(const Buffer &from, const Buffer &to) {
  nest(to.sizes, [&](ArrayRef<Ix> at) { store(load(from, at), to, at); });
}

FailureOr<Buffer> Emitter::temporary(Type element, ArrayRef<Extent> extents) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(entry);
  FailureOr<Indices> found = sizes(extents);
  if (failed(found))
    return failure();
  Buffer made{pointerTo(*this, workspace, b.getI8Type(), workspaceBytes), *found, element};
  Ix bytes = ix().alignUp(ix().mul(ix().product(*found), bytesOf(element)), 64);
  workspaceBytes = ix().add(workspaceBytes, bytes);
  temporaries.emplace_back(element, llvm::to_vector(extents));
  return made;
}

/// Copies between a slice and the whole tensor.
template <typename SliceOp>
static LogicalResult emitCopy(SliceOp op, Emitter &e, const Buffer &part, const Buffer &whole) {
  FailureOr<Indices> offsets = e.indices(op.getMixedOffsets());
  FailureOr<Indices> strides = e.indices(op.getMixedStrides());
  if (failed(offsets) || failed(strides))
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  e.nest(part.sizes, [&](ArrayRef<Ix> at) {
    Indices place = *offsets;
    for (unsigned d = 0, next = 0; d < place.size(); ++d)
      if (!dropped.test(d))
        place[d] = e.ix().add(place[d], e.ix().mul(at[next++], (*strides)[d]));
    if constexpr (std::is_same_v<SliceOp, tensor::InsertSliceOp>)
      e.store(e.load(part, at), whole, place);
    else
      e.store(e.load(whole, place), part, at);
  });
  return success();
}

LogicalResult emitExtractSlice(tensor::ExtractSliceOp op, Emitter &e) {
  return emitCopy(op, e, e.buffer(op.getResult()), e.buffer(op.getSource()));
}

LogicalResult emitInsertSlice(tensor::InsertSliceOp op, Emitter &e) {
  return emitCopy(op, e, e.buffer(op.getSource()), e.buffer(op.getResult()));
}

} // namespace tw::target::reference
