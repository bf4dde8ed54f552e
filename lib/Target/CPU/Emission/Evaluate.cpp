// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a tile at a point, from the operations behind it.
#include "IR/Tile/Elementwise.h"
#include "Target/CPU/Emission/Emitter.h"
#include "Target/CPU/Emission/Shapes.h"
#include "Target/CPU/Math/Math.h"
#include "Target/CPU/Math/VectorLibm.h"
#include "Target/Common/Operations/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {

static std::vector<uintptr_t> keyOf(Value tile, const Point &point, unsigned lanes) {
  std::vector<uintptr_t> key = {reinterpret_cast<uintptr_t>(tile.getAsOpaquePointer()),
                                uintptr_t(point.lane + 1), uintptr_t(point.step), lanes};
  for (const Ix &at : point.at) {
    key.push_back(reinterpret_cast<uintptr_t>(at.dynamic().getAsOpaquePointer()));
    key.push_back(uintptr_t(at.constant().value_or(0)));
  }
  return key;
}

Value Emitter::convertFloat(Value value, Type element) {
  if (Value rounded = roundToBf16(value, element))
    return rounded;
  return target::convertFloat(b, loc, value, element);
}

Value Emitter::roundToBf16(Value value, Type element) {
  auto type = dyn_cast<VectorType>(value.getType());
  bool fits = type && type.getElementType().isF32() &&
              type.getNumElements() * int64_t(sizeof(float)) == cpu.vectorBytes;
  if (!mayRoundDenormalsToZero || !cpu.roundToBf16 || !element.isBF16() || !fits)
    return {};
  return LLVM::CallIntrinsicOp::create(b, loc, VectorType::get(type.getShape(), element),
                                       b.getStringAttr(cpu.roundToBf16), value,
                                       LLVM::FastmathFlagsAttr())
      ->getResult(0);
}

Value Emitter::elementwise(Operation *op, ArrayRef<Value> operands) {
  if (isa<arith::TruncFOp>(op))
    if (Value rounded = roundToBf16(operands[0], getElementTypeOrSelf(op->getResult(0))))
      return rounded;
  auto polynomial = [&](StringRef operation, ValueRange x) {
    return emitMath(b, loc, operation, x, cpu);
  };
  auto libm = [&](StringRef name, ValueRange x) {
    return callVectorLibm(b, loc, name, x, imports);
  };
  return emitElementwise(b, loc, op, operands, {polynomial, libm, imports});
}

FailureOr<Value> Emitter::evaluate(Value tile, const Point &point) {
  auto key = keyOf(tile, point, lanes);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  if (isCancelled(cancellation)) // of one that is long
    return failure();
  FailureOr<Value> value = compute(tile, point);
  if (succeeded(value))
    known[key] = *value;
  return value;
}

/// The number of the element at `point`, row-major.
static Ix linear(Emitter &e, const Point &point, ArrayRef<Ix> strides) {
  Ix index = 0;
  for (auto [at, stride] : llvm::zip(point.at, strides))
    index = e.ix().add(index, e.ix().mul(at, stride));
  return index;
}

/// The elements at `point`, where that is one of the registers.
static FailureOr<Value> fromRegisters(Emitter &e, Value tile, const Registers &registers,
                                      const Point &point) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t index = 0;
  for (auto [at, extent] : llvm::zip(point.at, type.getShape())) {
    if (extent != 1 && !at.isConstant())
      return failure();
    index = index * extent + (extent == 1 ? 0 : *at.constant());
  }
  bool isWhole = registers.lanes == 1 || (registers.lanes == e.lanes && point.step == 1 &&
                                          point.lane == int(type.getRank()) - 1);
  if (!isWhole || index % registers.lanes != 0)
    return failure();
  return registers.parts[index / registers.lanes];
}

Value Emitter::read(const Memory &memory, const Point &point) {
  Emitter &e = *this;
  Ix index = linear(e, point, memory.strides);
  bool isVector = point.lane >= 0 && e.lanes > 1;
  if (!isVector)
    return e.loadFrom(memory.base, memory.element, index, false, 1, {}, {});
  IndexBuilder ix = e.ix();
  Ix stride = ix.mul(memory.strides[point.lane], point.step);
  Value pad = e.mask ? e.constant(memory.element, 0) : Value();
  if (auto step = stride.constant())
    return e.loadFrom(memory.base, memory.element, index, true, *step, e.mask, pad);
  Value offsets = arith::MulIOp::create(e.b, e.loc, e.laneOffsets(1), e.splat(ix.value(stride)));
  Value at = arith::AddIOp::create(e.b, e.loc, offsets, e.splat(ix.value(index)));
  return e.gatherFrom(memory.base, memory.element, at, e.mask, pad);
}

static FailureOr<Value> iota(Emitter &e, tile::IotaOp op, const Point &point) {
  Type element = Emitter::scalarType(op.getType().getElementType());
  Ix at = e.ix().add(e.index(op.getStart()), point.at[op.getDim()]);
  Value value = e.ix().value(at);
  auto narrow = [&](Value wide, Type type) -> Value {
    return wide.getType() == type ? wide : arith::TruncIOp::create(e.b, e.loc, type, wide);
  };
  value = narrow(value, element);
  if (int(op.getDim()) != point.lane || e.lanes == 1)
    return value;
  Value offsets = narrow(e.laneOffsets(point.step), e.typeOf(element, true));
  return arith::AddIOp::create(e.b, e.loc, e.splat(value), offsets).getResult();
}

FailureOr<Value> Emitter::compute(Value tile, const Point &point) {
  if (auto found = registers.find(tile); found != registers.end()) {
    FailureOr<Value> value = fromRegisters(*this, tile, found->second, point);
    if (succeeded(value) || !memory.contains(tile))
      return value;
  }
  if (auto found = memory.find(tile); found != memory.end())
    return read(found->second, point);
  Operation *op = tile.getDefiningOp();
  if (auto source = sourcePoint(*this, op, point))
    return evaluate(op->getOperand(0), *source);
  if (tile::isElementwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      bool isTile = isa<RankedTensorType>(operand.getType());
      FailureOr<Value> value = isTile ? evaluate(operand, point) : FailureOr(scalar(operand));
      if (failed(value))
        return failure();
      operands.push_back(*value);
    }
    return elementwise(op, operands);
  }
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](tile::LoadOp o) { return load(o, point); })
      .Case([&](tile::GatherOp o) { return gather(o, point); })
      .Case([&](tile::CheckOp o) { return checkAt(o, point); })
      .Case([&](tile::FullOp o) { return FailureOr(scalar(o.getValue())); })
      .Case([&](tile::IotaOp o) { return iota(*this, o, point); })
      .Default([&](Operation *o) -> FailureOr<Value> {
        return refuse(o, "its elements cannot be computed one by one");
      });
}

} // namespace tw::target::cpu
