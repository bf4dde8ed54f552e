// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one element at a time: tile.scatter, atomic tile.store; and tile.check.
#include "Target/Common/Operations/Updates.h"
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using tw::tile::Update;

namespace tw::target::cpu {

void Emitter::updateElement(Value value, const Buffer &buffer, const Ix &index,
                            std::optional<Update> update, Value condition) {
  OpBuilder::InsertionGuard guard(b);
  if (condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, condition, false).thenBlock());
  if (!update || *update == Update::Any) {
    storeTo(value, buffer.base, buffer.element, index, 1, {});
    return;
  }
  Value address = LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                      memoryType(buffer.element), buffer.base,
                                      ArrayRef<LLVM::GEPArg>{ix().value(index)});
  LLVM::AtomicRMWOp::create(b, loc, atomicOf(*update, buffer.element), address, value,
                            LLVM::AtomicOrdering::monotonic);
}

LogicalResult Emitter::scatter(tile::ScatterOp op, const Step &step) {
  if (failed(place(step.before)))
    return failure();
  const Buffer buffer = buffers.find(op.getBuffer())->second;
  Scope scope(*this);
  return overElements(extents(op.getTile()), step.strips, [&](const Point &point) -> LogicalResult {
    FailureOr<Value> value = evaluate(op.getTile(), point);
    Value condition;
    if (op.getMask()) {
      FailureOr<Value> wanted = evaluate(op.getMask(), point);
      if (failed(wanted))
        return failure();
      condition = *wanted;
    }
    Ix index = 0;
    for (auto [d, tile] : llvm::enumerate(op.getPositions())) {
      FailureOr<Value> position = evaluate(tile, point);
      if (failed(position))
        return failure();
      Value at = *position;
      if (at.getType() != b.getI64Type())
        at = arith::ExtSIOp::create(b, loc, b.getI64Type(), at);
      Ix place = Ix::of(at);
      if (!isChecked(tile, buffer.sizes[d]) &&
          ranges.staysInside(place, 0, buffer.sizes[d]) != true)
        condition = both(condition, ix().inside(place, buffer.sizes[d]));
      index = ix().add(index, ix().mul(at, buffer.strides[d]));
    }
    if (failed(value))
      return failure();
    updateElement(*value, buffer, index, op.getUpdate(), condition);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// tile.check
//===----------------------------------------------------------------------===//

/// `value` if it is in [0, bound), else 0, and the failure is recorded (the first one stays).
Value Emitter::checked(Value value, const Ix &bound, Value wanted, int64_t message) {
  Type type = value.getType(), i64 = b.getI64Type();
  Value wide = type == i64 ? value : Value(arith::ExtSIOp::create(b, loc, i64, value));
  Value isGood = ix().inside(wide, bound);
  Value isBad = arith::XOrIOp::create(b, loc, isGood, constant(b.getI1Type(), 1));
  if (wanted)
    isBad = arith::AndIOp::create(b, loc, isBad, wanted);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, isBad, false).thenBlock());
    recordFailure(b, loc, failureRecord, message, wide, bound);
  }
  isGood = both(isGood, wanted);
  return arith::SelectOp::create(b, loc, isGood, value, constant(type, 0));
}

/// The same for all lanes at once: only where one is bad, the first of these is looked for.
static Value checkedLanes(Emitter &e, Value value, const Ix &bound, Value wanted, int64_t message) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type i64 = b.getI64Type(), element = getElementTypeOrSelf(value.getType());
  Value wide =
      element == i64 ? value : Value(arith::ExtSIOp::create(b, loc, e.typeOf(i64, true), value));
  Value isGood =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, wide, e.splat(e.ix().value(bound)));
  Value isBad = arith::XOrIOp::create(b, loc, isGood, e.splat(e.constant(b.getI1Type(), 1)));
  wanted = e.both(wanted, e.mask);
  isBad = e.both(isBad, wanted);
  Type bits = b.getIntegerType(e.lanes);
  Value bad = LLVM::BitcastOp::create(b, loc, bits, isBad);
  Value none = LLVM::ConstantOp::create(b, loc, bits, b.getIntegerAttr(bits, 0));
  Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bad, none);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, isAny, false).thenBlock());
    Value lane = LLVM::CountTrailingZerosOp::create(b, loc, bits, bad, /*is_zero_poison=*/true);
    recordFailure(b, loc, e.failureRecord, message,
                  LLVM::ExtractElementOp::create(b, loc, wide, lane), bound);
  }
  Value zero = e.splat(e.constant(element, 0));
  return arith::SelectOp::create(b, loc, e.both(isGood, wanted), value, zero);
}

FailureOr<Value> Emitter::checkAt(tile::CheckOp op, const Point &point) {
  auto found = llvm::find(failures, op.getMessage().str());
  int64_t message = found - failures.begin() + 1;
  if (found == failures.end())
    failures.push_back(op.getMessage().str());
  Ix bound = index(op.getBound());
  FailureOr<Value> value = evaluate(op.getValue(), point), wanted = Value();
  if (op.getMask())
    wanted = evaluate(op.getMask(), point);
  if (failed(value) || failed(wanted))
    return failure();
  bool isVector = point.lane >= 0 && lanes > 1;
  if (isVector && *wanted)
    wanted = asVector(*wanted);
  return isVector ? checkedLanes(*this, asVector(*value), bound, *wanted, message)
                  : checked(*value, bound, *wanted, message);
}

LogicalResult Emitter::check(tile::CheckOp op, const Step &step) {
  auto type = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (!type) {
    FailureOr<Value> value = checkAt(op, {});
    if (failed(value))
      return failure();
    scalars[op.getResult()] = *value;
    return success();
  }
  if (failed(place(step.before)))
    return failure();
  Memory room = allocate(tile::extentsOf(type), type.getElementType());
  {
    Scope scope(*this);
    Indices all = extents(op.getValue());
    LogicalResult done = overElements(all, step.strips, [&](const Point &point) -> LogicalResult {
      FailureOr<Value> value = checkAt(op, point);
      if (failed(value))
        return failure();
      write(room, point, *value);
      return success();
    });
    if (failed(done))
      return failure();
  }
  memory[op.getResult()] = room;
  return success();
}

} // namespace tw::target::cpu
