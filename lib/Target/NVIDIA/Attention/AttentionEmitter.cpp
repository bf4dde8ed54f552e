// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Attention/AttentionEmitter.h"
#include "Target/NVIDIA/Product/Emission/RowReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t depthOfInstruction = 16, rowsOfGroup = 64;
/// How simulated code tells apart which sums are read (Instructions::sum).
static constexpr int64_t scoreSums = 1, outputSums = 2;

AttentionMaps mapsOf(const Attention &attention, const AttentionPlan &plan) {
  const AttentionPart &part = attention.parts[0];
  AttentionMaps maps;
  maps.all = {mapOf(attention.queries, plan.queries), mapOf(part.keys, plan.keys),
              mapOf(part.values, plan.values)};
  maps.stores = piecesOf(attention.stores, std::min(attention.tileRows, pieceRows), attention.width,
                         plan.store, maps.all);
  return maps;
}

AttentionEmitter::AttentionEmitter(Emitter &e, const Attention &attention,
                                   const AttentionPlan &plan, const AttentionMaps &plannedMaps,
                                   Value shared, ValueRange maps, BlockPrograms programs)
    : WarpGroupsEmitter(e, shared, maps, std::move(programs), plan.warpGroups),
      attention(attention), plan(plan), plannedMaps(plannedMaps), queries(at, plan.queryRing),
      keys(at, plan.keyRing), values(at, plan.valueRing), terms(paddedTerms(attention.terms)),
      fragment(std::max(attention.width, terms), 1, attention.tileRows) {}

void AttentionEmitter::initBarriers() {
  for (const StageRing *ring : {&queries, &keys, &values})
    ring->initBarriers(plan.warpGroups);
}

SmallVector<Value> AttentionEmitter::State::flat() const {
  SmallVector<Value> all(rows);
  all.append(weights);
  all.append(sums);
  all.append({addsToSums, next.stage, next.parity, last.stage, last.parity});
  return all;
}

AttentionEmitter::State AttentionEmitter::State::with(ValueRange flat) const {
  auto take = [&](size_t count) {
    SmallVector<Value> some(flat.take_front(count));
    flat = flat.drop_front(count);
    return some;
  };
  State state;
  state.rows = take(rows.size());
  state.weights = take(weights.size());
  state.sums = take(sums.size());
  state.addsToSums = flat[0];
  state.next = {flat[1], flat[2]};
  state.last = {flat[3], flat[4]};
  return state;
}

//===--- the loading warps -----------------------------------------------===//

/// Begins trip `number` of a part: its scalars.
void AttentionEmitter::setTrip(const AttentionPart &part, const Ix &number) {
  if (!part.loop)
    return;
  tile::ForOp loop = part.loop;
  e.scalars[loop.getInductionVar()] = e.ix().value(number);
  emitScalars(loop.getBody().front());
}

void AttentionEmitter::loadTrips(const AttentionPart &part, SmallVectorImpl<Value> &slot,
                                 const StageRing &ring, const OperandTile &tile, bool isKeys) {
  auto loadOne = [&](const Ix &number, ValueRange now) -> SmallVector<Value> {
    setTrip(part, number);
    StageRing::Slot current{now[0], now[1]};
    Value barrier = ring.fill(current, tile.bytes());
    loadOperand(isKeys ? part.keys : part.values, tile, maps[isKeys ? 1 : 2],
                ring.offset(current.stage), barrier);
    StageRing::Slot next = ring.advance(current);
    return {next.stage, next.parity};
  };
  tile::ForOp loop = part.loop;
  if (!loop) {
    slot = loadOne(0, slot);
    return;
  }
  auto trips = scf::ForOp::create(b, loc, e.scalar(loop.getBegin()), e.scalar(loop.getEnd()),
                                  e.scalar(loop.getStep()), slot);
  Emitter::Scope scope(e);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(trips.getBody());
  scf::YieldOp::create(b, loc, loadOne(Ix(trips.getInductionVar()), trips.getRegionIterArgs()));
  slot.assign(trips.getResults().begin(), trips.getResults().end());
}

/// Those of as many programs as stand side by side.
void AttentionEmitter::loadQueriesBeside(const StageRing::Slot &slot) {
  Value one = at.i32(plan.queries.loadedBytes()),
        all = at.i32(plan.warpGroups * plan.queries.loadedBytes());
  Value barrier = queries.fill(slot, at.select(isDealt, one, all));
  Ix first = e.programIds.back();
  auto loadOne = [&](int64_t query) {
    Emitter::Scope scope(e);
    e.programIds.back() = e.ix().add(first, query);
    emitScalars(e.kernel.getBody().front());
    loadOperand(attention.queries, plan.queries, maps[0],
                at.add(queries.offset(slot.stage), query * plan.queryBytes()), barrier);
  };
  loadOne(0);
  at.when(at.bitXor(isDealt, at.bit(true)), [&] {
    for (int64_t query = 1; query < plan.warpGroups; ++query)
      loadOne(query);
  });
  e.programIds.back() = first;
}

void AttentionEmitter::loadQueries(const StageRing::Slot &slot) {
  if (plan.dealsTrips)
    return loadQueriesBeside(slot);
  Value barrier = queries.fill(slot, plan.queries.loadedBytes());
  loadOperand(attention.queries, plan.queries, maps[0], queries.offset(slot.stage), barrier);
}

/// All of a program of one trip, by a thread that multiplies.
void AttentionEmitter::loadProgram(const StageRing::Slot &query, const StageRing::Slot &key) {
  Value isFirst = arith::AndIOp::create(b, loc, group.isLeader, at.equal(group.number, 0));
  at.when(isFirst, [&] {
    loadQueries(query);
    for (bool isKeys : {true, false}) {
      SmallVector<Value> slot = {key.stage, key.parity};
      loadTrips(attention.parts[0], slot, isKeys ? keys : values, isKeys ? plan.keys : plan.values,
                isKeys);
    }
  });
}

/// The first warp loads queries and keys, the second one values, which are wanted later.
void AttentionEmitter::load(int64_t warp) {
  Value zero = at.i32(0);
  SmallVector<Value> first(warp == 0 ? 4 : 2, zero);
  overPrograms(first, [&](ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> slot(carried.take_front(2)), result;
    if (warp == 0) {
      StageRing::Slot own{carried[2], carried[3]};
      loadQueries(own);
      StageRing::Slot next = queries.advance(own);
      result = {next.stage, next.parity};
    }
    for (const AttentionPart &part : attention.parts)
      loadTrips(part, slot, warp == 0 ? keys : values, warp == 0 ? plan.keys : plan.values,
                warp == 0);
    slot.append(result);
    return slot;
  });
}

//===--- products --------------------------------------------------------===//

/// Begins the scores of the warp group's rows.
Value AttentionEmitter::multiplyKeys(Value queryStage, Value stage) {
  Value rows = plan.dealsTrips ? at.mul(querySlot, plan.queryBytes())
                               : at.mul(group.number, plan.queries.offsetOf(rowsOfGroup, 0));
  Value a = at.descriptor(at.add(queries.offset(queryStage), rows), plan.queries.descriptor());
  Value other = at.descriptor(keys.offset(stage), plan.keys.descriptor());
  Value scores = LLVM::UndefOp::create(b, loc, at.sumsType(terms));
  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  for (int64_t k = 0; k < attention.depth; k += depthOfInstruction)
    scores = at.multiply({attention.element, terms, plan.queries.isSumInnermost,
                          plan.keys.isSumInnermost, k > 0, scoreSums},
                         movedBy(a, plan.queries.offsetOf(0, k)),
                         movedBy(other, plan.keys.offsetOf(0, k)), scores);
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  return scores;
}

/// Begins the products of the weights with their values; `takeSums`, once they have been waited
/// for.
Value AttentionEmitter::multiplyValues(const State &state) {
  values.waitUntilFull(state.last);
  Value other = at.descriptor(values.offset(state.last.stage), plan.values.descriptor());
  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  Value sums = at.sumsOf(state.sums);
  for (int64_t k = 0; k < terms; k += depthOfInstruction)
    sums = at.multiplyRegisters(
        {attention.element, attention.width, outputSums, k == 0 ? state.addsToSums : Value()},
        ArrayRef(state.weights).slice(size_t(k / 4), 4), movedBy(other, plan.values.offsetOf(0, k)),
        sums);
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  return sums;
}

void AttentionEmitter::takeSums(State &state, Value sums) {
  for (auto [number, sum] : llvm::enumerate(state.sums))
    sum = at.sum(sums, int64_t(number), outputSums);
  state.addsToSums = at.i32(1);
}

//===--- trips -----------------------------------------------------------===//

/// The weights of the first trip, which is one of the first loop that runs at all.
void AttentionEmitter::weighFirst(size_t number, Value scores, State &state) {
  const AttentionPart &part = attention.parts[number];
  tile::ForOp loop = part.loop;
  if (number == attention.firstRuns) {
    if (!loop) // the kernel goes on with what is known of this trip
      return weigh(part, scores, state);
    Emitter::Scope scope(e);
    setTrip(part, firstTripOf(loop));
    return weigh(part, scores, state);
  }
  Value runs = e.ix().less(e.index(loop.getBegin()), e.index(loop.getEnd()));
  SmallVector<Type> types(state.rows.size(), b.getF32Type());
  types.append(size_t(terms / 4), b.getI32Type());
  auto choice = scf::IfOp::create(b, loc, types, runs, true);
  size_t rows = state.rows.size();
  for (bool isThis : {true, false}) {
    Emitter::Scope scope(e);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isThis ? choice.thenBlock() : choice.elseBlock());
    State own = state;
    if (isThis) {
      setTrip(part, e.index(loop.getBegin()));
      weigh(part, scores, own);
    } else {
      weighFirst(number + 1, scores, own);
    }
    own.rows.append(own.weights);
    scf::YieldOp::create(b, loc, own.rows);
  }
  state.rows.assign(choice.getResults().begin(), choice.getResults().begin() + int64_t(rows));
  state.weights.assign(choice.getResults().begin() + int64_t(rows), choice.getResults().end());
}

AttentionEmitter::State AttentionEmitter::firstTrip(Value queryStage, StageRing::Slot slot) {
  State state;
  if (plan.dealsTrips)
    slot = keys.advanceBy(slot, firstTripNumber);
  state.last = slot;
  state.next = next(slot);
  state.addsToSums = at.i32(0);
  state.sums.assign(size_t(attention.width / 2), LLVM::UndefOp::create(b, loc, b.getF32Type()));
  const AttentionPart &part = attention.parts[0];
  tile::ForOp loop = part.loop;
  if (loop)
    evaluateRows(part, loop.getInitial(), state);
  std::optional<Emitter::Scope> scope; // without a loop the kernel goes on with what is known here
  if (loop && attention.firstRuns == 0) {
    scope.emplace(e);
    setTrip(part, firstTripOf(loop));
  }
  if (attention.firstRuns == 0)
    readMasks(part);
  keys.waitUntilFull(slot);
  Value scores = multiplyKeys(queryStage, slot.stage);
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 0);
  keys.release(slot.stage, group.isLeader, users());
  weighFirst(0, scores, state);
  return state;
}

/// One more trip: its scores are multiplied, and the weights of the one before it with their
/// values, which goes on while this one's weights are computed. Warp groups begin their products
/// one after the other, so that one multiplies while others compute weights.
void AttentionEmitter::trip(const AttentionPart &part, Value sumsBefore, Value queryStage,
                            State &state) {
  readMasks(part);
  if (!plan.dealsTrips)
    keys.waitUntilFull(state.next);
  if (plan.takesTurns)
    takeTurn();
  // Where others have the trips between, a stage may come round twice since this warp group looked
  // at it, and parity tells phases next to each other apart only: whoever had its turn before has
  // seen the one before.
  if (plan.dealsTrips)
    keys.waitUntilFull(state.next);
  Value scores = multiplyKeys(queryStage, state.next.stage);
  Value sums = multiplyValues(state);
  if (plan.takesTurns)
    passTurn();
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 1);
  keys.release(state.next.stage, group.isLeader, users());
  weigh(part, scores, state);
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 0);
  takeSums(state, sums);
  values.release(state.last.stage, group.isLeader, users());
  scaleSums(part, sumsBefore, state);
  state.last = state.next;
  state.next = next(state.next);
}

/// The trips of a part but the first one of all.
void AttentionEmitter::loop(size_t number, Value queryStage, State &state) {
  const AttentionPart &part = attention.parts[number];
  tile::ForOp loop = part.loop;
  if (!loop) {
    if (number > 0)
      trip(part, attention.parts[number - 1].sumsAfter(), queryStage, state);
    return;
  }
  IndexBuilder ix = e.ix();
  Ix begin = e.index(loop.getBegin()), step = e.index(loop.getStep()), first = begin;
  if (plan.dealsTrips) {
    Value stride = arith::ExtUIOp::create(b, loc, b.getI64Type(), tripStride);
    step = ix.mul(step, stride);
    first = ix.add(firstTripOf(loop), step);
  } else if (number == 0) {
    first = ix.add(begin, step);
  } else if (number <= attention.firstRuns) { // unless a loop before has had the first one
    tile::ForOp before = attention.parts[0].loop;
    first = ix.select(ix.less(e.index(before.getBegin()), begin), begin, ix.add(begin, step));
  } else {
    reduceBefore(loop);
    evaluateRows(part, loop.getInitial(), state);
  }
  auto trips = scf::ForOp::create(b, loc, ix.value(first), e.scalar(loop.getEnd()), ix.value(step),
                                  state.flat());
  {
    Emitter::Scope scope(e);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(trips.getBody());
    State own = state.with(trips.getRegionIterArgs());
    setTrip(part, Ix(trips.getInductionVar()));
    trip(part, part.carriedSums(), queryStage, own);
    scf::YieldOp::create(b, loc, own.flat());
  }
  state = state.with(trips.getResults());
  if (number >= attention.firstRuns && !plan.dealsTrips && !mayHaveNoTrip())
    setResults(number, state);
}

/// All products of a program, or of the trips of it that the warp group has.
AttentionEmitter::State AttentionEmitter::allTrips(const StageRing::Slot &query,
                                                   const StageRing::Slot &key) {
  State state = firstTrip(query.stage, key);
  for (size_t part = 0; part < attention.parts.size(); ++part)
    loop(part, query.stage, state);
  if (plan.dealsTrips)
    evenTurns();
  queries.release(query.stage, group.isLeader);
  Value sums = multiplyValues(state);
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 0);
  takeSums(state, sums);
  values.release(state.last.stage, group.isLeader, users());
  return state;
}

/// The same where there may be no trip: what the loop begins with, then. Where the ring of keys is
/// behind it, and what is carried, is all that is known of the state.
AttentionEmitter::State AttentionEmitter::anyTrips(const StageRing::Slot &query,
                                                   const StageRing::Slot &key) {
  const AttentionPart &part = attention.parts[0];
  tile::ForOp loop = part.loop;
  State none;
  evaluateRows(part, loop.getInitial(), none);
  none.sums.assign(size_t(attention.width / 2), e.constant(b.getF32Type(), 0));
  none.next = key;
  auto flat = [](const State &state) {
    SmallVector<Value> all(state.rows);
    all.append(state.sums);
    all.append({state.next.stage, state.next.parity});
    return all;
  };
  Value runs = e.ix().less(firstTripOf(loop), e.index(loop.getEnd()));
  auto choice =
      scf::IfOp::create(b, loc, TypeRange(ValueRange(flat(none))), runs, /*withElse=*/true);
  for (bool hasTrips : {true, false}) {
    Emitter::Scope scope(e);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(hasTrips ? choice.thenBlock() : choice.elseBlock());
    if (!hasTrips)
      queries.release(query.stage, group.isLeader);
    scf::YieldOp::create(b, loc, flat(hasTrips ? allTrips(query, key) : none));
  }
  ValueRange results = choice.getResults();
  State state;
  llvm::append_range(state.rows, results.take_front(none.rows.size()));
  llvm::append_range(state.sums, results.drop_front(none.rows.size()).drop_back(2));
  state.next = {results.drop_back(1).back(), results.back()};
  if (!plan.dealsTrips)
    setResults(0, state);
  return state;
}

/// What a loop carries but sums is known then; sums along rows are still in parts in `state`.
void AttentionEmitter::setResults(size_t number, State &state) {
  const AttentionPart &part = attention.parts[number];
  tile::ForOp loop = part.loop;
  State whole = state;
  size_t next = 0;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    for (size_t row = 0; i != part.sums && row < 2; ++row, ++next)
      if (number == attention.firstRuns && partialRows.contains(i))
        whole.rows[next] = combineLanes(b, loc, tile::ReduceKind::Sum, whole.rows[next]);
  setRows(part, loop.getResults(), whole.rows);
}

/// The elements of what is stored can be computed now.
void AttentionEmitter::finish(const State &state) {
  reduceBefore(nullptr);
  Value output = attention.parts.back().sumsAfter();
  setSums(output, state.sums);
}

LogicalResult AttentionEmitter::multiplyAll() {
  if (plan.dealsTrips)
    group.rowGroup = at.i32(0);
  fragment.findCoordinates(e, group);
  findTermColumns();
  findPartialRows();
  Epilogue epilogue(e, at, group, fragment, attention.width, plan.store, maps);
  LogicalResult done = success();
  if (plan.takesTurns) // the first turn is the first group's
    at.when(at.equal(group.number, plan.warpGroups - 1), [&] { passTurn(); });
  SmallVector<Value> first(4, at.i32(0));
  overPrograms(first, [&](ValueRange carried) -> SmallVector<Value> {
    StageRing::Slot own{carried[0], carried[1]};
    if (!plan.hasLoaders)
      loadProgram(own, {carried[2], carried[3]});
    queries.waitUntilFull(own);
    reduced = e.kernel.getBody().front().begin();
    StageRing::Slot key{carried[2], carried[3]};
    State state = mayHaveNoTrip() ? anyTrips(own, key) : allTrips(own, key);
    auto store = [&] {
      if (plan.isTriggerLate)
        letNextLaunchBegin();
      finish(state);
      done = epilogue.emit(attention.stores, plannedMaps.stores);
    };
    own = queries.advance(own);
    if (!plan.dealsTrips) {
      store();
      return {own.stage, own.parity, state.next.stage, state.next.parity};
    }
    combineGroups(state);
    Value isOwn =
        arith::OrIOp::create(b, loc, at.bitXor(isDealt, at.bit(true)), at.equal(group.number, 0));
    at.when(isOwn, [&] {
      Emitter::Scope scope(e);
      store();
    });
    StageRing::Slot following = keys.skip(key, tripCount());
    return {own.stage, own.parity, following.stage, following.parity};
  });
  if (plan.takesTurns)
    at.when(at.equal(group.number, 0), [&] { takeTurn(); });
  return failure(failed(done) || hasFailed);
}

} // namespace tw::target::nvidia
