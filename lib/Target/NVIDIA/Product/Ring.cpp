// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ring of stages in shared memory. Each has two barriers: `full`, whose phase ends when TMA has
// brought both operands, and `empty`, whose phase ends when all warp groups have multiplied them.
#include "Target/NVIDIA/Layout/Fragments.h"
#include "Target/NVIDIA/Product/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t groupThreads = 128, barrierBytes = 8, depthOfInstruction = 16;

ProductEmitter::ProductEmitter(Emitter &e, const Product &product, const ProductPlan &plan,
                               const ProductMaps &plannedMaps, Value shared, ValueRange maps,
                               BlockPrograms programs)
    : e(e), b(e.b), loc(e.loc), product(product), plan(plan), plannedMaps(plannedMaps),
      shared(shared), maps(maps), programs(std::move(programs)), at(e.b, e.loc, shared),
      layout(wgmmaSums(product.columns)) {}

Value ProductEmitter::full(Value stage) {
  return at.add(at.mul(stage, barrierBytes), plan.barrierOffset);
}
Value ProductEmitter::empty(Value stage) {
  return at.add(at.mul(stage, barrierBytes), plan.barrierOffset + barrierBytes * plan.stages);
}

ProductEmitter::Place ProductEmitter::advance(const Place &place) {
  Value next = at.add(place.stage, 1), isLast = at.equal(next, plan.stages);
  Value flip = arith::ExtUIOp::create(b, loc, b.getI32Type(), isLast);
  return {at.select(isLast, at.i32(0), next), at.bitXor(place.parity, flip)};
}

void ProductEmitter::initBarriers() {
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    at.initBarrier(full(at.i32(stage)), 1);
    at.initBarrier(empty(at.i32(stage)), plan.warpGroups);
  }
  NVVM::FenceMbarrierInitOp::create(b, loc);
}

void ProductEmitter::setRegisters(bool isProducer) {
  auto split = registerSplit(plan.warpGroups);
  if (split)
    NVVM::SetMaxRegisterOp::create(b, loc, uint32_t(isProducer ? split->producer : split->consumer),
                                   isProducer ? NVVM::SetMaxRegisterAction::decrease
                                              : NVVM::SetMaxRegisterAction::increase);
}

/// Scalars of a block of the tile program; every thread computes those that it uses.
void ProductEmitter::emitScalars(Block &block) {
  for (Operation &op : block)
    if (Emitter::isScalar(&op))
      e.emitScalar(&op);
}

/// Runs `body(carried)`, which returns what is carried on, for each program of the block.
template <typename Body>
scf::ForOp ProductEmitter::overPrograms(ValueRange carried, Body body) {
  auto loop = scf::ForOp::create(b, loc, programs.first, programs.end, programs.step, carried);
  Emitter::Scope scope(e);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  programs.number(Ix(loop.getInductionVar()));
  emitScalars(e.kernel.getBody().front());
  SmallVector<Value> next = body(loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return loop;
}

//===--- the producer ----------------------------------------------------===//

Value tmaCoordinate(Emitter &e, Ix position) {
  constexpr int64_t most = int64_t(1) << 30; // no dimension is larger
  position = e.ix().max(e.ix().min(position, most), -most);
  return arith::TruncIOp::create(e.b, e.loc, e.b.getI32Type(), e.ix().value(position));
}

void ProductEmitter::loadOperand(const ProductOperand &operand, const OperandTile &tile, Value map,
                                 Value offset, Value barrier) {
  tile::LoadOp load = operand.load;
  unsigned inner = operand.isSumInnermost ? operand.sumDim : operand.freeDim;
  for (int64_t chunk = 0; chunk < tile.chunks; ++chunk) {
    SmallVector<Value> coordinates;
    for (auto [d, position] : llvm::enumerate(load.getPositions())) {
      int64_t moved = d == inner ? chunk * tile.chunkColumns : 0;
      coordinates.push_back(tmaCoordinate(e, e.ix().add(e.index(position), moved)));
    }
    std::reverse(coordinates.begin(), coordinates.end());
    at.loadTile(at.add(offset, chunk * tile.chunkBytes()), map, coordinates, barrier);
  }
}

void ProductEmitter::produce() {
  Value zero = at.i32(0);
  overPrograms({zero, zero}, [&](ValueRange carried) -> SmallVector<Value> {
    tile::ForOp loop = product.loop;
    Value from = e.ix().value(0), to = e.ix().value(product.trips), one = e.ix().value(1);
    auto trips = scf::ForOp::create(b, loc, from, to, one, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(trips.getBody());
    Place place{trips.getRegionIterArgs()[0], trips.getRegionIterArgs()[1]};
    e.scalars[loop.getInductionVar()] =
        e.ix().value(e.ix().add(e.index(loop.getBegin()),
                                e.ix().mul(Ix(trips.getInductionVar()), e.index(loop.getStep()))));
    emitScalars(loop.getBody().front());
    at.waitFor(empty(place.stage), at.bitXor(place.parity, at.i32(1)));
    Value barrier = full(place.stage), offset = at.mul(place.stage, plan.stageBytes);
    at.arriveExpecting(barrier, plan.a.bytes() + plan.b.bytes());
    loadOperand(product.a, plan.a, maps[0], offset, barrier);
    loadOperand(product.b, plan.b, maps[1], at.add(offset, plan.b.offset), barrier);
    Place next = advance(place);
    scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
    return {trips.getResult(0), trips.getResult(1)};
  });
}

//===--- consumers -------------------------------------------------------===//

void ProductEmitter::release(Value stage) {
  auto isOne = scf::IfOp::create(b, loc, isLeader, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(isOne.thenBlock());
  at.arrive(empty(stage));
}

/// Begins all products of a stage. `addsToSums`: else these begin with the first instruction, which
/// spares clearing them (and what ptxas makes of that: C7519).
void ProductEmitter::multiply(Value stage, SmallVectorImpl<Value> &sums, bool addsToSums) {
  Value offset = at.mul(stage, plan.stageBytes);
  int64_t ofGroup = plan.a.offsetOf(64 * plan.blocksOfGroup, 0);
  Value a = at.descriptor(at.add(offset, at.mul(group, ofGroup)), plan.a.descriptor());
  Value other = at.descriptor(at.add(offset, plan.b.offset), plan.b.descriptor());
  auto moved = [&](Value descriptor, int64_t bytes) -> Value {
    Value units = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes >> 4));
    return bytes == 0 ? descriptor : Value(arith::AddIOp::create(b, loc, descriptor, units));
  };
  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  for (int64_t k = 0; k < product.depth; k += depthOfInstruction)
    for (int64_t block = 0; block < plan.blocksOfGroup; ++block)
      sums[size_t(block)] = at.multiply({product.element, product.columns, plan.a.isSumInnermost,
                                         plan.b.isSumInnermost, addsToSums || k > 0},
                                        moved(a, plan.a.offsetOf(64 * block, k)),
                                        moved(other, plan.b.offsetOf(0, k)), sums[size_t(block)]);
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
}

/// All trips of one program; a stage is given back when the products of the next one have begun.
SmallVector<Value> ProductEmitter::sumUp(Place &place) {
  Value none = LLVM::UndefOp::create(b, loc, at.sumsType(product.columns));
  SmallVector<Value> sums(size_t(plan.blocksOfGroup), none);
  at.waitFor(full(place.stage), place.parity);
  multiply(place.stage, sums, /*addsToSums=*/false);
  Value last = place.stage;
  place = advance(place);
  if (product.trips > 1) {
    SmallVector<Value> carried = {place.stage, place.parity, last};
    carried.append(sums);
    auto loop = scf::ForOp::create(b, loc, at.i32(1), at.i32(product.trips), at.i32(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto now = loop.getRegionIterArgs();
    Place current{now[0], now[1]};
    SmallVector<Value> next(now.drop_front(3));
    at.waitFor(full(current.stage), current.parity);
    multiply(current.stage, next, /*addsToSums=*/true);
    NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 1);
    release(now[2]);
    Place following = advance(current);
    SmallVector<Value> yielded = {following.stage, following.parity, current.stage};
    yielded.append(next);
    scf::YieldOp::create(b, loc, yielded);
    place = {loop.getResult(0), loop.getResult(1)};
    last = loop.getResult(2);
    sums.assign(loop.getResults().begin() + 3, loop.getResults().end());
  }
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, 0);
  release(last);
  return sums;
}

LogicalResult ProductEmitter::consume() {
  findCoordinates();
  LogicalResult done = success();
  Value zero = at.i32(0);
  overPrograms({zero, zero}, [&](ValueRange carried) -> SmallVector<Value> {
    Place place{carried[0], carried[1]};
    SmallVector<Value> sums = sumUp(place);
    done = epilogue(sums);
    return {place.stage, place.parity};
  });
  auto isOne = scf::IfOp::create(b, loc, isLeader, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(isOne.thenBlock());
  NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, 0, UnitAttr());
  return done;
}

LogicalResult ProductEmitter::emit() {
  Value thread = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
  OpBuilder::InsertionGuard guard(b);
  auto isFirst = scf::IfOp::create(b, loc, at.equal(thread, 0), false);
  b.setInsertionPointToStart(isFirst.thenBlock());
  initBarriers();
  b.setInsertionPointAfter(isFirst);
  e.barrier();
  // The launch may begin before the one before it ends (TW_LAUNCH_OVERLAPS): all memory of others
  // is touched behind this. The next one may begin then, which waits in the same way.
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::launch_dependents);
  Value warpGroup = at.div(thread, groupThreads);
  auto roles = scf::IfOp::create(b, loc, at.equal(warpGroup, 0), true);
  b.setInsertionPointToStart(roles.thenBlock());
  setRegisters(/*isProducer=*/true);
  auto isWarp = scf::IfOp::create(b, loc, at.equal(at.div(thread, 32), 0), false);
  b.setInsertionPointToStart(isWarp.thenBlock());
  Value elected = NVVM::ElectSyncOp::create(b, loc, b.getI1Type(), Value());
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, elected, false).thenBlock());
  produce();
  b.setInsertionPointToStart(roles.elseBlock());
  setRegisters(/*isProducer=*/false);
  group = at.add(warpGroup, -1);
  inGroup = at.rem(thread, groupThreads);
  isLeader = at.equal(inGroup, 0);
  return consume();
}

} // namespace tw::target::nvidia
