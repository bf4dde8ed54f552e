// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, scalars and single elements in memory.
#include "IR/Coded.h"
#include "Target/Common/Operations/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::nvidia {

Indices Emitter::sizes(ArrayRef<Size> sizes) {
  return llvm::map_to_vector<4>(sizes, [&](const Size &one) { return size(one); });
}

Indices Emitter::extents(Value tile) {
  return sizes(tile::extentsOf(cast<RankedTensorType>(tile.getType())));
}

Indices Emitter::rowMajor(IndexBuilder ix, ArrayRef<Ix> sizes) {
  Indices strides(sizes.size(), Ix(1));
  for (int64_t d = int64_t(sizes.size()) - 2; d >= 0; --d)
    strides[d] = ix.mul(strides[d + 1], sizes[d + 1]);
  return strides;
}

Value Emitter::constant(Type type, double number) { return emitNumber(b, loc, type, number); }

Value Emitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Type Emitter::memoryType(Type type) {
  return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : scalarType(type);
}

Value Emitter::address(Value base, Type element, const Ix &index) {
  if (index.is(0))
    return base;
  return LLVM::GEPOp::create(b, loc, base.getType(), memoryType(element), base,
                             ArrayRef<LLVM::GEPArg>{ix().value(index)});
}

Value Emitter::fromMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, constant(b.getI8Type(), 0));
}

Value Emitter::toMemory(Value value, Type element) {
  return element.isInteger(1) ? arith::ExtUIOp::create(b, loc, b.getI8Type(), value) : value;
}

Value Emitter::loadFrom(Value base, Type element, const Ix &index) {
  Value value = LLVM::LoadOp::create(b, loc, memoryType(element), address(base, element, index));
  return fromMemory(value, element);
}

void Emitter::storeTo(Value value, Value base, Type element, const Ix &index) {
  LLVM::StoreOp::create(b, loc, toMemory(value, element), address(base, element, index));
}

LogicalResult Emitter::refuse(Operation *op, const Twine &why) {
  return emitCoded(op->getLoc(), Code::TARGET_2) << op->getName() << ": " << why;
}

} // namespace tw::target::nvidia
