// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Emission/ProductEmitter.h"
#include "Target/NVIDIA/Product/Emission/RowReduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

ProductEmitter::ProductEmitter(Emitter &e, const Product &product, const ProductPlan &plan,
                               const ProductMaps &plannedMaps, Value shared, ValueRange maps,
                               BlockPrograms programs)
    : WarpGroupsEmitter(e, shared, maps, std::move(programs), plan.warpGroups), product(product),
      plan(plan), plannedMaps(plannedMaps), ring(at, plan.ring),
      fragment(product.isLeftComputed ? std::max(product.columns, product.depth) : product.columns,
               plan.blocksOfGroup, product.tileRows) {}

/// How often the loop runs: at least once.
Ix ProductEmitter::trips() {
  if (product.trips)
    return *product.trips;
  tile::ForOp loop = product.loop;
  return e.ix().ceilDiv(e.ix().sub(e.index(loop.getEnd()), e.index(loop.getBegin())),
                        e.index(loop.getStep()));
}

Value ProductEmitter::tripsAsI32() {
  return arith::TruncIOp::create(b, loc, b.getI32Type(), e.ix().value(trips()));
}

//===--- the loading warp ------------------------------------------------===//

/// Begins to load both operands of a trip, whose scalars are known; gives the next slot.
StageRing::Slot ProductEmitter::loadTrip(const StageRing::Slot &slot) {
  Value barrier = ring.fill(slot, plan.a.loadedBytes() + plan.b.loadedBytes());
  Value offset = ring.offset(slot.stage);
  loadOperand(product.a, plan.a, maps[0], offset, barrier);
  loadOperand(product.b, plan.b, maps[1], at.add(offset, plan.b.offset), barrier);
  return ring.advance(slot);
}

void ProductEmitter::load(int64_t) {
  Value zero = at.i32(0);
  overPrograms({zero, zero}, [&](ValueRange carried) -> SmallVector<Value> {
    tile::ForOp loop = product.loop;
    if (!loop) {
      StageRing::Slot next = loadTrip({carried[0], carried[1]});
      return {next.stage, next.parity};
    }
    Value from = e.ix().value(0), to = e.ix().value(trips()), one = e.ix().value(1);
    auto all = scf::ForOp::create(b, loc, from, to, one, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(all.getBody());
    setTrip(Ix(all.getInductionVar()));
    StageRing::Slot next = loadTrip({all.getRegionIterArgs()[0], all.getRegionIterArgs()[1]});
    scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
    return {all.getResult(0), all.getResult(1)};
  });
}

//===--- the warp groups that multiply -----------------------------------===//

/// Begins all products of a stage. `addsToSums`: else these begin with the first instruction, which
/// spares clearing them (and what ptxas makes of that: C7519).
void ProductEmitter::multiply(Value stage, SmallVectorImpl<Value> &sums, bool addsToSums) {
  Value offset = ring.offset(stage);
  int64_t ofGroup = plan.a.offsetOf(64 * plan.blocksOfGroup, 0);
  Value a = at.descriptor(at.add(offset, at.mul(group.rowGroup, ofGroup)), plan.a.descriptor());
  Value other = at.descriptor(at.add(offset, plan.b.offset), plan.b.descriptor());
  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  for (int64_t k = 0; k < product.depth; k += instructionBytes / plan.a.elementBytes)
    for (int64_t block = 0; block < plan.blocksOfGroup; ++block)
      sums[size_t(block)] = at.multiply({product.element, product.columns, plan.a.isSumInnermost,
                                         plan.b.isSumInnermost, addsToSums || k > 0},
                                        movedBy(a, plan.a.offsetOf(64 * block, k)),
                                        movedBy(other, plan.b.offsetOf(0, k)), sums[size_t(block)]);
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
}

/// All trips but the first one. `last`: the stage whose products are not waited for yet.
void ProductEmitter::laterTrips(StageRing::Slot &slot, Value &last, SmallVectorImpl<Value> &sums,
                                Trip trip) {
  if (product.trips == 1)
    return;
  Value count = tripsAsI32();
  SmallVector<Value> carried = {slot.stage, slot.parity, last};
  carried.append(sums.begin(), sums.end());
  auto loop = scf::ForOp::create(b, loc, at.i32(1), count, at.i32(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto now = loop.getRegionIterArgs();
  StageRing::Slot current{now[0], now[1]};
  SmallVector<Value> next(now.drop_front(3));
  trip(loop.getInductionVar(), current, now[2], next);
  StageRing::Slot following = ring.advance(current);
  SmallVector<Value> yielded = {following.stage, following.parity, current.stage};
  yielded.append(next);
  scf::YieldOp::create(b, loc, yielded);
  slot = {loop.getResult(0), loop.getResult(1)};
  last = loop.getResult(2);
  sums.assign(loop.getResults().begin() + 3, loop.getResults().end());
}

/// All trips of one program; a stage is given back when the products of the next one have begun.
SmallVector<Value> ProductEmitter::sumUp(StageRing::Slot &slot) {
  Value none = LLVM::UndefOp::create(b, loc, at.sumsType(product.columns));
  SmallVector<Value> sums(size_t(plan.blocksOfGroup), none);
  if (plan.isPingPong) // before looking at a stage: parity tells phases next to each other apart
                       // only
    takeTurn();
  ring.waitUntilFull(slot);
  multiply(slot.stage, sums, /*addsToSums=*/false);
  Value last = slot.stage;
  slot = ring.advance(slot);
  laterTrips(
      slot, last, sums,
      [&](Value, const StageRing::Slot &current, Value before, SmallVectorImpl<Value> &next) {
        ring.waitUntilFull(current);
        multiply(current.stage, next, /*addsToSums=*/true);
        NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 1);
        ring.release(before, group.isLeader);
      });
  if (plan.isPingPong)
    passTurn();
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 0);
  ring.release(last, group.isLeader);
  return sums;
}

void ProductEmitter::setElements(ValueRange sums) {
  for (auto [block, all] : llvm::enumerate(sums))
    for (int64_t number = 0; number < product.columns / 2; ++number)
      e.setElement(product.sums(), {fragment.row(int64_t(block), number), fragment.column(number)},
                   at.sum(all, number));
}

/// Of all columns of the block, for each row that the thread has.
LogicalResult ProductEmitter::reduce(tile::ReduceOp op) {
  constexpr size_t chains = 4;
  auto axis = size_t(op.getAxis());
  auto type = op.getOperand().getType();
  for (int64_t block = 0; block < plan.blocksOfGroup; ++block)
    for (int64_t row : {0, 1}) {
      SmallVector<Value> values;
      Point point(size_t(type.getRank()), Ix(0));
      for (auto [d, extent] : llvm::enumerate(type.getShape()))
        if (extent != 1)
          point[d] = fragment.row(block, 2 * row);
      for (int64_t number = 2 * row; number < product.columns / 2; number += number % 2 ? 3 : 1) {
        point[axis] = fragment.column(number);
        FailureOr<Value> value = e.evaluate(op.getOperand(), point);
        if (failed(value))
          return failure();
        values.push_back(*value);
      }
      Value all = combinedInChains(b, loc, op.getKind(), values, chains);
      point.erase(point.begin() + int64_t(axis));
      e.setElement(op.getResult(), point, combineLanes(b, loc, op.getKind(), all));
    }
  return success();
}

/// Every other program of the block is the warp group's, with all rows; gives the slot of the
/// first one's stages.
StageRing::Slot ProductEmitter::takeOwnPrograms() {
  Value zero = at.i32(0), count;
  {
    Emitter::Scope scope(e);
    programs.number(Ix(programs.first)); // sizes, the same in all programs
    emitScalars(e.kernel.getBody().front());
    count = tripsAsI32();
  }
  Value before = arith::MulIOp::create(b, loc, count, group.number);
  group.rowGroup = zero;
  Value number = arith::ExtUIOp::create(b, loc, b.getI64Type(), group.number);
  programs.first = e.ix().value(e.ix().add(programs.first, e.ix().mul(number, programs.step)));
  programs.step = e.ix().value(e.ix().mul(programs.step, plan.warpGroups));
  at.when(at.equal(group.number, plan.warpGroups - 1), [&] { passTurn(); });
  return ring.skip({zero, zero}, before);
}

/// The last turn that was passed on is taken by the warp group that has no program more.
void ProductEmitter::endTurns(const BlockPrograms &all) {
  Ix count = e.ix().ceilDiv(e.ix().sub(all.end, all.first), all.step);
  Value next = e.ix().value(e.ix().rem(count, plan.warpGroups));
  Value isNext = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, group.number,
                                       arith::TruncIOp::create(b, loc, b.getI32Type(), next));
  at.when(isNext, [&] { takeTurn(); });
}

LogicalResult ProductEmitter::multiplyAll() {
  BlockPrograms all = programs;
  Value zero = at.i32(0);
  StageRing::Slot first{zero, zero};
  if (plan.isPingPong)
    first = takeOwnPrograms();
  fragment.findCoordinates(e, group);
  Epilogue epilogue(e, at, group, fragment, product.columns, plan.store, maps);
  LogicalResult done = success();
  overPrograms({first.stage, first.parity}, [&](ValueRange carried) -> SmallVector<Value> {
    StageRing::Slot slot{carried[0], carried[1]};
    setElements(product.isLeftComputed ? sumUpComputed(slot) : sumUp(slot));
    for (tile::ReduceOp op : product.reductions)
      hasFailed |= failed(reduce(op));
    done = epilogue.emit(product.stores, plannedMaps.stores);
    if (plan.isPingPong) // the other one's stages
      slot = ring.skip(slot, tripsAsI32());
    return {slot.stage, slot.parity};
  });
  if (plan.isPingPong)
    endTurns(all);
  return failure(failed(done) || hasFailed);
}

} // namespace tw::target::nvidia
