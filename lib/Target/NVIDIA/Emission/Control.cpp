// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.for and scf.if. All threads run the same trips and branches, for scalars are the same in all
// of them. Tiles that go around a loop, or out of a branch, have scratch of their own.
#include "Target/Common/Operations/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

/// The values that cross the edge of a region.
class Carrier {
public:
  Carrier(Emitter &e, TypeRange types) : e(e) {
    for (Type type : types) {
      auto tile = dyn_cast<RankedTensorType>(type);
      slots.push_back({tile
                           ? std::optional(e.allocate(tile::extentsOf(tile), tile.getElementType()))
                           : std::nullopt});
      if (!tile)
        scalarTypes.push_back(scalarType(type));
    }
  }

  SmallVector<Type> scalarTypes;

  /// Hands over `values`: tiles are copied to their scratch, scalars are returned. A tile may
  /// depend on what is in any scratch, so all are computed before one is overwritten.
  LogicalResult take(ValueRange values, SmallVectorImpl<Value> &numbers) {
    SmallVector<std::pair<Scratch, Value>> copies;
    for (auto [value, slot] : llvm::zip(values, slots)) {
      if (!slot) {
        numbers.push_back(e.scalar(value));
        continue;
      }
      auto own = e.materialized.find(value);
      if (own != e.materialized.end() && own->second.base == slot->base)
        continue; // it is there already
      if (own == e.materialized.end() || isSlot(own->second)) {
        Scratch scratch = e.scratchFor(value);
        if (failed(e.fill(scratch, value)))
          return failure();
        copies.push_back({*slot, value});
        moved.push_back({value, scratch});
        continue;
      }
      copies.push_back({*slot, value});
    }
    for (auto &[value, scratch] : moved)
      e.materialized[value] = scratch;
    moved.clear();
    for (auto &[scratch, value] : copies)
      if (failed(e.fill(scratch, value)))
        return failure();
    return success();
  }

  /// The same where nothing depends on what is in scratch: before a loop, and in branches.
  LogicalResult takeFirst(ValueRange values, SmallVectorImpl<Value> &numbers) {
    for (auto [value, slot] : llvm::zip(values, slots))
      if (!slot)
        numbers.push_back(e.scalar(value));
      else if (failed(e.fill(*slot, value)))
        return failure();
    return success();
  }

  /// `values` are what was handed over.
  void give(ValueRange values, ValueRange numbers) {
    size_t next = 0;
    for (auto [value, slot] : llvm::zip(values, slots))
      if (slot)
        e.materialized[value] = *slot;
      else
        e.scalars[value] = numbers[next++];
  }

private:
  bool isSlot(const Scratch &scratch) const {
    return llvm::any_of(slots,
                        [&](const auto &slot) { return slot && slot->base == scratch.base; });
  }

  Emitter &e;
  SmallVector<std::optional<Scratch>> slots;
  SmallVector<std::pair<Value, Scratch>> moved;
};

} // namespace

LogicalResult Emitter::forLoop(tile::ForOp op) {
  Carrier carrier(*this, op.getResultTypes());
  SmallVector<Value> carried;
  if (failed(carrier.takeFirst(op.getInitial(), carried)))
    return failure();
  Ix begin = index(op.getBegin()), by = index(op.getStep());
  Ix trips = emitTripCount(b, op, begin, index(op.getEnd()), by);
  auto body = [&](const Ix &trip) -> LogicalResult {
    scalars[op.getInductionVar()] = ix().value(ix().add(begin, ix().mul(trip, by)));
    carrier.give(op.getCarried(), carried);
    SmallVector<Value> next;
    Block &from = op.getBody().front();
    if (failed(block(from)) || failed(carrier.take(from.getTerminator()->getOperands(), next)))
      return failure();
    barrier(); // the next trip uses the same scratch
    carried = next;
    return success();
  };
  if (failed(loop(0, trips, 1, carried, body)))
    return failure();
  carrier.give(op.getResults(), carried);
  return success();
}

LogicalResult Emitter::branch(scf::IfOp op) {
  Carrier carrier(*this, op.getResultTypes());
  bool hasElse = !op.getElseRegion().empty();
  auto made = scf::IfOp::create(b, loc, carrier.scalarTypes, scalar(op.getCondition()), hasElse);
  OpBuilder::InsertionGuard guard(b);
  for (bool isThen : {true, false}) {
    if (!isThen && !hasElse)
      break;
    Scope scope(*this);
    b.setInsertionPointToStart(isThen ? made.thenBlock() : made.elseBlock());
    Block &from = isThen ? *op.thenBlock() : *op.elseBlock();
    SmallVector<Value> numbers;
    if (failed(block(from)) ||
        failed(carrier.takeFirst(from.getTerminator()->getOperands(), numbers)))
      return failure();
    barrier();
    if (!numbers.empty())
      scf::YieldOp::create(b, loc, numbers);
  }
  carrier.give(op.getResults(), made.getResults());
  return success();
}

} // namespace tw::target::nvidia
