// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of 64 rows by several warp groups: side by side, each a program of its own, or one
// program, whose trips are dealt to them, trip t to warp group t mod n. A table says which. States
// of a program that is dealt are combined in shared memory by the first warp group, as the loop's
// `combine` says.
#include "Target/NVIDIA/Attention/AttentionEmitter.h"
#include "Target/NVIDIA/Product/Emission/RowReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t groupThreads = 128, numberBytes = 4;
/// Named barriers: all warp groups have ended their trips, and all but the first have given theirs.
static constexpr int64_t endedBarrier = 4, givenBarrier = 5;

/// A warp group that multiplies has its own one of programs side by side.
void AttentionEmitter::placeProgram(Value dealt) {
  isDealt = dealt;
  if (!plan.dealsTrips || !group.number)
    return;
  Value zero = at.i32(0);
  firstTripNumber = at.select(isDealt, group.number, zero);
  querySlot = at.select(isDealt, zero, group.number);
  tripStride = at.select(isDealt, at.i32(plan.warpGroups), at.i32(1));
  Value number = arith::ExtUIOp::create(b, loc, b.getI64Type(), querySlot);
  e.programIds.back() = e.ix().add(e.programIds.back(), number);
}

/// A stage of a trip that is dealt has one user, which gives it back as all.
Value AttentionEmitter::users() const { return plan.dealsTrips ? tripStride : Value(); }

StageRing::Slot AttentionEmitter::next(const StageRing::Slot &slot) const {
  return plan.dealsTrips ? keys.advanceBy(slot, tripStride) : keys.advance(slot);
}

/// Of a program that is dealt; i32.
Value AttentionEmitter::tripCount() {
  if (attention.knownTrips)
    return at.i32(*attention.knownTrips);
  tile::ForOp loop = attention.parts[0].loop;
  IndexBuilder ix = e.ix();
  Ix length = ix.max(ix.sub(e.index(loop.getEnd()), e.index(loop.getBegin())), 0);
  Value count = ix.value(ix.ceilDiv(length, e.index(loop.getStep())));
  return arith::TruncIOp::create(b, loc, b.getI32Type(), count);
}

Ix AttentionEmitter::firstTripOf(tile::ForOp loop) {
  Ix begin = e.index(loop.getBegin());
  if (!plan.dealsTrips)
    return begin;
  Value own = arith::ExtUIOp::create(b, loc, b.getI64Type(), firstTripNumber);
  return e.ix().add(begin, e.ix().mul(own, e.index(loop.getStep())));
}

/// Warp groups with one trip less than others pass their last turn on; in the first trips nobody
/// has one.
void AttentionEmitter::evenTurns() {
  auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(b, loc, x, y); };
  Value hasLess;
  if (attention.knownTrips) {
    int64_t more = *attention.knownTrips % plan.warpGroups;
    if (more == 0)
      return;
    hasLess = at.isBelow(more - 1, group.number);
  } else {
    Value trips = tripCount(), more = at.rem(trips, plan.warpGroups);
    Value isOthers = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, group.number, more);
    hasLess = both(both(isOthers, at.isBelow(0, more)), at.isBelow(plan.warpGroups, trips));
  }
  at.when(both(isDealt, hasLess), [&] {
    takeTurn();
    passTurn();
  });
}

/// Where number `number` of the state of warp group `from` lies, but for the first warp group's.
Value AttentionEmitter::combineOffset(int64_t from, int64_t number) const {
  tile::ForOp loop = attention.parts[0].loop;
  int64_t count = attention.width / 2 + 2 * (int64_t(loop.getNumResults()) - 1);
  int64_t first = ((from - 1) * count + number) * groupThreads * numberBytes;
  return at.add(at.mul(group.thread, numberBytes), plan.store.offset + first);
}

void AttentionEmitter::give(const State &state) {
  SmallVector<Value> all(state.rows);
  all.append(state.sums);
  Value count = at.i32(int64_t(all.size()) * groupThreads * numberBytes);
  Value moved = arith::MulIOp::create(b, loc, at.add(group.number, -1), count);
  for (auto [number, value] : llvm::enumerate(all))
    LLVM::StoreOp::create(b, loc, value,
                          at.pointer(at.add(combineOffset(1, int64_t(number)), moved)));
}

/// Combines `state` with what warp group `from` has given.
void AttentionEmitter::take(int64_t from, State &state) {
  const AttentionPart &part = attention.parts[0];
  tile::ForOp loop = part.loop;
  Block &combine = loop.getCombine().front();
  size_t count = loop.getNumResults();
  State other = state;
  int64_t number = 0;
  for (SmallVector<Value> *values : {&other.rows, &other.sums})
    for (Value &value : *values)
      value =
          LLVM::LoadOp::create(b, loc, b.getF32Type(), at.pointer(combineOffset(from, number++)));
  Emitter::Scope scope(e);
  emitScalars(combine);
  auto states = combine.getArguments();
  for (const State *one : {&state, &other}) {
    ValueRange own(states.take_front(count));
    states = states.drop_front(count);
    setRows(part, own, one->rows);
    setSums(own[part.sums], one->sums);
  }
  auto results = combine.getTerminator()->getOperands();
  evaluateRows(part, results, state);
  evaluateSums(results[part.sums], state.sums);
}

/// The first warp group has the state of all trips then; of a program that is not dealt, each its
/// own.
void AttentionEmitter::combineGroups(State &state) {
  const AttentionPart &part = attention.parts[0];
  size_t rows = state.rows.size(), number = 0;
  tile::ForOp loop = part.loop;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    for (size_t row = 0; i != part.sums && row < 2; ++row, ++number)
      if (partialRows.contains(i))
        state.rows[number] = combineLanes(b, loc, tile::ReduceKind::Sum, state.rows[number]);
  auto both = [](const State &one) {
    SmallVector<Value> all(one.rows);
    all.append(one.sums);
    return all;
  };
  SmallVector<Value> own = both(state);
  SmallVector<Type> types(own.size(), b.getF32Type());
  auto choose = [&](Value condition, auto then, auto otherwise) {
    auto choice = scf::IfOp::create(b, loc, types, condition, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loc, SmallVector<Value>(then()));
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, SmallVector<Value>(otherwise()));
    return SmallVector<Value>(choice.getResults());
  };
  auto takeAll = [&] {
    at.waitForGroups(givenBarrier, plan.warpGroups);
    State all = state;
    for (int64_t from = 1; from < plan.warpGroups; ++from)
      take(from, all);
    return both(all);
  };
  auto giveOwn = [&] {
    give(state);
    at.comeForGroups(givenBarrier, plan.warpGroups);
    return own;
  };
  auto combineDealt = [&] {
    // TMA has read what is to be stored from there; and all stages have been seen to be full.
    at.when(group.isLeader,
            [&] { NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, 0, b.getUnitAttr()); });
    at.waitForGroups(endedBarrier, plan.warpGroups);
    return choose(at.equal(group.number, 0), takeAll, giveOwn);
  };
  SmallVector<Value> combined = choose(isDealt, combineDealt, [&] { return own; });
  state.rows.assign(combined.begin(), combined.begin() + int64_t(rows));
  state.sums.assign(combined.begin() + int64_t(rows), combined.end());
  setRows(part, loop.getResults(), state.rows);
}

} // namespace tw::target::nvidia
