// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.for and scf.if. Carried tiles are in registers where they fit, else in memory, where each
// trip's result is written over the state it began with.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Carries out what is planned for values that cross the edge of a region (Plan/HandOvers.h).
class Carrier {
public:
  /// `plan`: of any values that are handed over.
  Carrier(Emitter &e, TypeRange types, const HandOver &plan) : e(e) {
    for (auto [type, own] : llvm::zip(types, plan)) {
      auto tile = dyn_cast<RankedTensorType>(type);
      std::optional<unsigned> lanes;
      if (own.form == HandedOver::Form::Registers)
        lanes = own.strips.lanes;
      std::optional<Memory> room;
      if (tile && !lanes)
        room = e.allocate(tile::extentsOf(tile), tile.getElementType());
      slots.push_back({type, lanes, room});
    }
  }

  SmallVector<Type> types() const {
    SmallVector<Type> types;
    for (const Slot &slot : slots) {
      auto tile = dyn_cast<RankedTensorType>(slot.type);
      if (!tile) {
        types.push_back(Emitter::scalarType(slot.type));
      } else if (slot.lanes) {
        Type element = Emitter::scalarType(tile.getElementType());
        Type part =
            *slot.lanes > 1 ? Type(VectorType::get(int64_t(*slot.lanes), element)) : element;
        types.append(tile.getNumElements() / *slot.lanes, part);
      }
    }
    return types;
  }

  /// Hands over `values`, which are known here.
  LogicalResult take(ValueRange values, const HandOver &plan, SmallVectorImpl<Value> &flat) {
    for (auto [value, slot, own] : llvm::zip(values, slots, plan))
      if (failed(takeOne(value, slot, own, flat)))
        return failure();
    for (auto [value, own] : llvm::zip(values, plan))
      if (own.move && failed(moveAway(value, *own.move)))
        return failure();
    for (auto [value, slot, own] : llvm::zip(values, slots, plan))
      if (own.copy && failed(e.fill(*slot.room, value, *own.copy)))
        return failure();
    return success();
  }

  /// `values` have what was handed over.
  void give(ValueRange values, ArrayRef<Value> flat) {
    size_t next = 0;
    for (auto [value, slot] : llvm::zip(values, slots)) {
      auto tile = dyn_cast<RankedTensorType>(slot.type);
      if (!tile) {
        e.scalars[value] = flat[next++];
      } else if (slot.room) {
        e.memory[value] = *slot.room;
      } else {
        size_t count = tile.getNumElements() / *slot.lanes;
        e.registers[value] = {*slot.lanes, llvm::to_vector(flat.slice(next, count))};
        next += count;
      }
    }
  }

private:
  struct Slot {
    Type type;
    std::optional<unsigned> lanes;
    std::optional<Memory> room;
  };

  LogicalResult takeOne(Value value, const Slot &slot, const HandedOver &plan,
                        SmallVectorImpl<Value> &flat) {
    switch (plan.form) {
    case HandedOver::Form::Scalar:
      flat.push_back(e.scalar(value));
      return success();
    case HandedOver::Form::Registers:
      return parts(value, plan, flat);
    case HandedOver::Form::Memory:
      return e.place(plan.before);
    case HandedOver::Form::InPlace:
      if (failed(e.fill(*slot.room, value, plan.fill)))
        return failure();
      e.memory[value] = *slot.room;
      return success();
    }
    return failure();
  }

  LogicalResult moveAway(Value value, const Fill &fill) {
    auto type = cast<RankedTensorType>(value.getType());
    Memory room = e.allocate(tile::extentsOf(type), type.getElementType());
    if (failed(e.fill(room, value, fill)))
      return failure();
    e.memory[value] = room;
    return success();
  }

  LogicalResult parts(Value tile, const HandedOver &plan, SmallVectorImpl<Value> &flat) {
    if (failed(e.place(plan.before)))
      return failure();
    return e.overElements(e.extents(tile), plan.strips, [&](const Point &point) -> LogicalResult {
      FailureOr<Value> value = e.evaluate(tile, point);
      if (succeeded(value))
        flat.push_back(plan.strips.lanes > 1 ? e.asVector(*value) : *value);
      return success(succeeded(value));
    });
  }

  Emitter &e;
  SmallVector<Slot> slots;
};

} // namespace

LogicalResult Emitter::forLoop(tile::ForOp op, const LoopStep &step) {
  Carrier carrier(*this, op.getResultTypes(), step.initial);
  SmallVector<Value> carried;
  if (failed(carrier.take(op.getInitial(), step.initial, carried)))
    return failure();
  Ix begin = index(op.getBegin()), by = index(op.getStep());
  Ix trips = emitTripCount(b, op, begin, index(op.getEnd()), by);
  SmallVector<Type> types = carrier.types();
  auto body = [&](const Ix &trip) -> LogicalResult {
    Scope scope(*this);
    scalars[op.getInductionVar()] = ix().value(ix().add(begin, ix().mul(trip, by)));
    carrier.give(op.getCarried(), carried);
    SmallVector<Value> next;
    auto yield = op.getBody().front().getTerminator();
    LogicalResult emitted = block(step.blocks.front(), types, next,
                                  [&](const HandOver &results, SmallVectorImpl<Value> &flat) {
                                    return carrier.take(yield->getOperands(), results, flat);
                                  });
    carried = next;
    return emitted;
  };
  if (failed(loop(0, trips, 1, carried, body)))
    return failure();
  carrier.give(op.getResults(), carried);
  return success();
}

LogicalResult Emitter::branch(scf::IfOp op, const BranchStep &step) {
  Carrier carrier(*this, op.getResultTypes(), step.blocks.front().versions.front().results);
  SmallVector<Type> types = carrier.types();
  bool hasElse = !op.getElseRegion().empty();
  auto made = scf::IfOp::create(b, loc, types, scalar(op.getCondition()), hasElse);
  OpBuilder::InsertionGuard guard(b);
  for (bool isThen : {true, false}) {
    if (!isThen && !hasElse)
      break;
    Scope scope(*this);
    b.setInsertionPointToStart(isThen ? made.thenBlock() : made.elseBlock());
    Block &from = isThen ? *op.thenBlock() : *op.elseBlock();
    SmallVector<Value> flat;
    if (failed(block(step.blocks[isThen ? 0 : 1], types, flat,
                     [&](const HandOver &results, SmallVectorImpl<Value> &values) {
                       return carrier.take(from.getTerminator()->getOperands(), results, values);
                     })))
      return failure();
    if (!types.empty())
      scf::YieldOp::create(b, loc, flat);
  }
  SmallVector<Value> results(made.getResults());
  carrier.give(op.getResults(), results);
  return success();
}

} // namespace tw::target::cpu
