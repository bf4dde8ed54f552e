// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of `lanes` elements, and their way from and to memory.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::target::cpu {

Type Emitter::typeOf(Type element, bool isVector) const {
  Type scalar = scalarType(element);
  return isVector && lanes > 1 ? Type(VectorType::get(int64_t(lanes), scalar)) : scalar;
}

Value Emitter::splat(Value scalar) {
  auto type = VectorType::get(int64_t(lanes), scalar.getType());
  Attribute attribute;
  if (matchPattern(scalar, m_Constant(&attribute)))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, attribute));
  Value empty = LLVM::PoisonOp::create(b, loc, type);
  Value zero = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(0));
  Value first = LLVM::InsertElementOp::create(b, loc, type, empty, scalar, zero);
  SmallVector<int32_t> zeros(lanes, 0);
  return LLVM::ShuffleVectorOp::create(b, loc, first, first, zeros);
}

Value Emitter::laneOffsets(int64_t step) {
  SmallVector<int64_t> offsets;
  for (unsigned lane = 0; lane < lanes; ++lane)
    offsets.push_back(lane * step);
  auto type = VectorType::get(int64_t(lanes), b.getI64Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(offsets)));
}

Value Emitter::both(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  bool isVector = isa<VectorType>(a.getType()) || isa<VectorType>(c.getType());
  if (isVector) {
    a = asVector(a);
    c = asVector(c);
  }
  return arith::AndIOp::create(b, loc, a, c);
}

static Value addressOf(Emitter &e, Value base, Type element, Value index) {
  Type pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  Type type =
      isa<VectorType>(index.getType()) ? Type(VectorType::get(int64_t(e.lanes), pointer)) : pointer;
  return LLVM::GEPOp::create(e.b, e.loc, type, element, base, ArrayRef<LLVM::GEPArg>{index});
}

static Value fromMemory(Emitter &e, Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero = e.constant(e.b.getI8Type(), 0);
  if (isa<VectorType>(value.getType()))
    zero = e.splat(zero);
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, value, zero);
}

static Value toMemoryType(Emitter &e, Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  bool isVector = isa<VectorType>(value.getType());
  return arith::ExtUIOp::create(e.b, e.loc, e.typeOf(e.b.getI8Type(), isVector), value);
}

Value Emitter::loadFrom(Value base, Type element, const Ix &index, bool isVector, int64_t step,
                        Value mask, Value pad) {
  isVector = isVector && lanes > 1;
  Type stored = memoryType(element), type = typeOf(stored, isVector);
  unsigned bytes = bytesOf(element);
  Value at = ix().value(index);
  if (!isVector) {
    if (!mask)
      return fromMemory(
          *this, LLVM::LoadOp::create(b, loc, type, addressOf(*this, base, stored, at), bytes),
          element);
    auto choice = scf::IfOp::create(b, loc, TypeRange{type}, mask, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    Value read = LLVM::LoadOp::create(b, loc, type, addressOf(*this, base, stored, at), bytes);
    scf::YieldOp::create(b, loc, read);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, toMemoryType(*this, pad, element));
    b.setInsertionPointAfter(choice);
    return fromMemory(*this, choice.getResult(0), element);
  }
  if (mask) {
    mask = asVector(mask);
    pad = asVector(toMemoryType(*this, pad, element));
  }
  Value value;
  if (step == 1 && !mask) {
    value = LLVM::LoadOp::create(b, loc, type, addressOf(*this, base, stored, at), bytes);
  } else if (step == 1) {
    value = LLVM::MaskedLoadOp::create(b, loc, type, addressOf(*this, base, stored, at), mask, pad,
                                       b.getI32IntegerAttr(bytes), UnitAttr());
  } else {
    Value places = arith::AddIOp::create(b, loc, splat(at), laneOffsets(step));
    return gatherFrom(base, element, places, mask, pad);
  }
  return fromMemory(*this, value, element);
}

Value Emitter::gatherFrom(Value base, Type element, Value indices, Value mask, Value pad) {
  Type stored = memoryType(element);
  SmallVector<Value> passThrough;
  if (mask)
    passThrough.push_back(asVector(toMemoryType(*this, pad, element)));
  mask = mask ? asVector(mask) : splat(constant(b.getI1Type(), 1));
  Value value = LLVM::masked_gather::create(b, loc, typeOf(stored, true),
                                            addressOf(*this, base, stored, indices), mask,
                                            passThrough, b.getI32IntegerAttr(bytesOf(element)));
  return fromMemory(*this, value, element);
}

void Emitter::storeTo(Value value, Value base, Type element, const Ix &index, const Ix &laneStride,
                      Value mask) {
  Type stored = memoryType(element);
  unsigned bytes = bytesOf(element);
  Value at = ix().value(index);
  value = toMemoryType(*this, value, element);
  if (!isa<VectorType>(value.getType())) {
    OpBuilder::InsertionGuard guard(b);
    if (mask)
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, mask, false).thenBlock());
    LLVM::StoreOp::create(b, loc, value, addressOf(*this, base, stored, at), bytes);
    return;
  }
  if (mask)
    mask = asVector(mask);
  if (laneStride.is(1) && !mask) {
    LLVM::StoreOp::create(b, loc, value, addressOf(*this, base, stored, at), bytes);
  } else if (laneStride.is(1)) {
    LLVM::MaskedStoreOp::create(b, loc, value, addressOf(*this, base, stored, at), mask,
                                b.getI32IntegerAttr(bytes));
  } else {
    Value offsets = arith::MulIOp::create(b, loc, laneOffsets(1), splat(ix().value(laneStride)));
    Value places = arith::AddIOp::create(b, loc, splat(at), offsets);
    if (!mask)
      mask = splat(constant(b.getI1Type(), 1));
    LLVM::masked_scatter::create(b, loc, value, addressOf(*this, base, stored, places), mask,
                                 b.getI32IntegerAttr(bytes));
  }
}

} // namespace tw::target::cpu
