// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of `lanes` elements, and their way from and to memory.
#include "Target/CPU/Emission/Emitter.h"
#include "Target/Common/Operations/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tw::target::cpu {

Type Emitter::typeOf(Type element, bool isVector) const {
  Type scalar = scalarType(element);
  return isVector && lanes > 1 ? Type(VectorType::get(int64_t(lanes), scalar)) : scalar;
}

Value Emitter::splat(Value scalar) { return target::splat(b, loc, scalar, lanes); }

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

static bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

static Value fromMemory(Emitter &e, Value value, Type element) {
  if (isHalf(element))
    return arith::BitcastOp::create(e.b, e.loc, e.typeOf(element, isa<VectorType>(value.getType())),
                                    value);
  if (!element.isInteger(1))
    return value;
  Value zero = e.constant(e.b.getI8Type(), 0);
  if (isa<VectorType>(value.getType()))
    zero = e.splat(zero);
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, value, zero);
}

static Value toMemoryType(Emitter &e, Value value, Type element) {
  bool isVector = isa<VectorType>(value.getType());
  if (isHalf(element))
    return arith::BitcastOp::create(e.b, e.loc, e.typeOf(e.b.getI16Type(), isVector), value);
  if (!element.isInteger(1))
    return value;
  return arith::ExtUIOp::create(e.b, e.loc, e.typeOf(e.b.getI8Type(), isVector), value);
}

/// What `then` gives where `condition` holds, else `other`.
static Value choose(Emitter &e, Value condition, Value other, llvm::function_ref<Value()> then) {
  auto choice = scf::IfOp::create(e.b, e.loc, TypeRange{other.getType()}, condition, true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(e.b, e.loc, then());
  e.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(e.b, e.loc, other);
  return choice.getResult(0);
}

/// Calls `body` with each lane's number and its address; lanes that are off get one to spare. The
/// addresses are chosen as a vector: of choices lane by lane LLVM makes branches.
static void overLanes(Emitter &e, Value base, Type stored, Value places, Value mask,
                      llvm::function_ref<void(unsigned lane, Value address)> body) {
  Value spare = e.splat(e.spareMemory());
  Value all = addressOf(e, base, stored, places);
  all = LLVM::SelectOp::create(e.b, e.loc, mask, all, spare);
  for (unsigned lane = 0; lane < e.lanes; ++lane) {
    body(lane, vector::ExtractOp::create(e.b, e.loc, all, lane));
  }
}

Value Emitter::spareMemory() {
  if (!spare) {
    OpBuilder::InsertionGuard guard(b);
    b.restoreInsertionPoint(entry);
    spare = LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                   b.getI64Type(), ix().value(1), 8);
    entry = b.saveInsertionPoint();
  }
  return spare;
}

Value Emitter::scalarizedLoad(Value base, Type stored, Value places, Value mask, Value pad) {
  Type type = typeOf(stored, true);
  Value all = ub::PoisonOp::create(b, loc, type);
  overLanes(*this, base, stored, places, mask, [&](unsigned lane, Value address) {
    Value one = LLVM::LoadOp::create(b, loc, stored, address, bytesOf(stored));
    all = vector::InsertOp::create(b, loc, one, all, lane);
  });
  return arith::SelectOp::create(b, loc, mask, all, pad);
}

Value Emitter::loadFrom(Value base, Type element, const Ix &index, bool isVector, int64_t step,
                        Value mask, Value pad) {
  Type stored = memoryType(element);
  if (!isVector || lanes == 1)
    return loadOne(base, element, index, mask, pad);
  if (step == 1)
    return loadVector(base, element, index, mask, pad);
  Value at = ix().value(index);
  if (Value strided = loadStrided(base, stored, index, step, mask)) {
    if (mask)
      strided = arith::SelectOp::create(b, loc, asVector(mask), strided,
                                        asVector(toMemoryType(*this, pad, element)));
    return fromMemory(*this, strided, element);
  }
  Value places = arith::AddIOp::create(b, loc, splat(at), laneOffsets(step));
  return gatherFrom(base, element, places, mask, pad);
}

Value Emitter::loadOne(Value base, Type element, const Ix &index, Value mask, Value pad) {
  Type stored = memoryType(element);
  Value at = ix().value(index);
  auto load = [&]() -> Value {
    return LLVM::LoadOp::create(b, loc, stored, addressOf(*this, base, stored, at),
                                bytesOf(element));
  };
  Value read = mask ? choose(*this, mask, toMemoryType(*this, pad, element), load) : load();
  return fromMemory(*this, read, element);
}

Value Emitter::loadVector(Value base, Type element, const Ix &index, Value mask, Value pad) {
  Type stored = memoryType(element), type = typeOf(stored, true);
  unsigned bytes = bytesOf(element);
  Value at = ix().value(index), address = addressOf(*this, base, stored, at);
  auto load = [&]() -> Value { return LLVM::LoadOp::create(b, loc, type, address, bytes); };
  if (!mask)
    return fromMemory(*this, load(), element);
  if (!hasNativeMasking(cpu, bytes) && constantLanes(mask)) {
    SmallVector<int64_t> offsets = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    if (Value near = loadNear(base, element, index, offsets, mask, pad))
      return near;
  }
  pad = asVector(toMemoryType(*this, pad, element));
  Value value;
  if (!isa<VectorType>(mask.getType()) && !hasNativeMasking(cpu, bytes))
    value = choose(*this, mask, pad, load);
  else if (hasNativeMasking(cpu, bytes))
    value = LLVM::MaskedLoadOp::create(b, loc, type, address, asVector(mask), pad,
                                       b.getI32IntegerAttr(bytes), UnitAttr());
  else
    value = scalarizedLoad(base, stored, arith::AddIOp::create(b, loc, splat(at), laneOffsets(1)),
                           asVector(mask), pad);
  return fromMemory(*this, value, element);
}

Value Emitter::loadNear(Value base, Type element, const Ix &index, ArrayRef<int64_t> offsets,
                        Value mask, Value pad) {
  Type stored = memoryType(element);
  Value read = loadPattern(base, stored, index, offsets, mask);
  auto counts = mask ? constantLanes(mask) : SmallVector<bool>(lanes, true);
  if (!read && counts) { // far apart: single loads are as good as a gather
    SmallVector<Value> each;
    for (auto [offset, isOn] : llvm::zip(offsets, *counts))
      each.push_back(isOn ? ix().value(offset) : Value());
    read = loadEach(base, element, index, each);
    return mask && pad ? Value(arith::SelectOp::create(b, loc, asVector(mask), read, asVector(pad)))
                       : read;
  }
  if (read && mask && pad)
    read = arith::SelectOp::create(b, loc, asVector(mask), read,
                                   asVector(toMemoryType(*this, pad, element)));
  return read ? fromMemory(*this, read, element) : Value();
}

Value Emitter::fromLanes(Type type, ArrayRef<Value> each) {
  Type wide = VectorType::get(int64_t(lanes), type);
  Value all = ub::PoisonOp::create(b, loc, wide);
  for (auto [lane, value] : llvm::enumerate(each))
    if (value)
      all = vector::InsertOp::create(b, loc, value, all, lane);
  return all;
}

Value Emitter::loadEach(Value base, Type element, const Ix &index, ArrayRef<Value> each) {
  Type stored = memoryType(element);
  SmallVector<Value> loaded;
  for (Value offset : each) {
    loaded.emplace_back();
    if (!offset)
      continue;
    Value at = ix().value(ix().add(index, Ix::of(offset)));
    loaded.back() =
        LLVM::LoadOp::create(b, loc, stored, addressOf(*this, base, stored, at), bytesOf(element));
  }
  return fromMemory(*this, fromLanes(stored, loaded), element);
}

Value Emitter::gatherFrom(Value base, Type element, Value indices, Value mask, Value pad) {
  Type stored = memoryType(element);
  if (mask && !(cpu.vectorBytes >= 64 && bytesOf(element) >= 4)) {
    pad = asVector(toMemoryType(*this, pad, element));
    Value value = scalarizedLoad(base, stored, indices, asVector(mask), pad);
    return fromMemory(*this, value, element);
  }
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
                      Value mask, bool isNonTemporal) {
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
    unsigned alignment = isNonTemporal ? lanes * bytes : bytes;
    LLVM::StoreOp::create(b, loc, value, addressOf(*this, base, stored, at), alignment,
                          /*isVolatile=*/false, isNonTemporal);
  } else if (laneStride.is(1) && hasNativeMasking(cpu, bytes)) {
    LLVM::MaskedStoreOp::create(b, loc, value, addressOf(*this, base, stored, at), mask,
                                b.getI32IntegerAttr(bytes));
  } else {
    Value offsets = arith::MulIOp::create(b, loc, laneOffsets(1), splat(ix().value(laneStride)));
    Value places = arith::AddIOp::create(b, loc, splat(at), offsets);
    if (mask && cpu.vectorBytes < 64) {
      overLanes(*this, base, stored, places, mask, [&](unsigned lane, Value address) {
        Value one = vector::ExtractOp::create(b, loc, value, lane);
        LLVM::StoreOp::create(b, loc, one, address, bytes);
      });
      return;
    }
    if (!mask)
      mask = splat(constant(b.getI1Type(), 1));
    LLVM::masked_scatter::create(b, loc, value, addressOf(*this, base, stored, places), mask,
                                 b.getI32IntegerAttr(bytes));
  }
}

} // namespace tw::target::cpu
