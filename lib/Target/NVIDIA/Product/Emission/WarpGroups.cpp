// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Emission/WarpGroups.h"
#include "Target/NVIDIA/Layout/Fragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t groupThreads = 128, groupRows = 64;
/// Named barriers of turns; the epilogue's are before them.
static constexpr int64_t firstTurnBarrier = 8;

//===--- fragments -------------------------------------------------------===//

/// What the digits of a number move along `dim`.
static Ix moved(Emitter &e, Ix number, ArrayRef<Digit> digits, int dim) {
  Ix at = 0;
  for (const Digit &digit : digits) {
    if (digit.dim == dim)
      at = e.ix().add(at, e.ix().mul(e.ix().rem(number, digit.size), digit.stride));
    number = e.ix().div(number, digit.size);
  }
  return at;
}

void SumsFragment::findCoordinates(Emitter &e, const WarpGroup &group) {
  Layout layout = wgmmaSums(widest);
  auto wide = [&](Value x) { return arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), x); };
  Ix thread = Value(wide(group.thread)), ofGroup = Value(wide(group.rowGroup));
  Ix row = moved(e, thread, layout.threadDigits(), 0),
     column = moved(e, thread, layout.threadDigits(), 1);
  row = e.ix().add(row, e.ix().mul(ofGroup, groupRows * blocks));
  rows.resize(size_t(blocks));
  inTile.resize(size_t(blocks));
  for (int64_t number = 0; number < layout.registers(); ++number) {
    Coordinates offset = layout.offsetOfRegister(number);
    offsets.push_back({offset[0], offset[1]});
    for (int64_t block = 0; block < blocks; ++block)
      if (!rows[size_t(block)].contains(offset[0]))
        placeRow(e, block, offset[0], e.ix().add(row, block * groupRows + offset[0]));
    if (!columns.contains(offset[1])) { // with the register of the next column
      SmallVector<Ix> pair = e.neighboursFrom(e.ix().add(column, offset[1]), 2);
      columns[offset[1]] = pair[0];
      columns[offset[1] + 1] = pair[1];
    }
  }
}

void SumsFragment::placeRow(Emitter &e, int64_t block, int64_t offset, Ix row) {
  int64_t most = groupRows * blocks;
  if (tileRows && *tileRows < most) {
    inTile[size_t(block)][offset] = e.ix().less(row, *tileRows);
    row = e.ix().min(row, *tileRows - 1);
  }
  rows[size_t(block)][offset] = row;
}

Value SumsFragment::hasRow(int64_t block, int64_t number) const {
  const auto &known = inTile[size_t(block)];
  auto found = known.find(offsets[size_t(number)].first);
  return found == known.end() ? Value() : found->second;
}

Ix SumsFragment::row(int64_t block, int64_t number) const {
  return rows[size_t(block)].at(offsets[size_t(number)].first);
}
Ix SumsFragment::column(int64_t number) const { return columns.at(offsets[size_t(number)].second); }

//===--- the block -------------------------------------------------------===//

void WarpGroupsEmitter::setRegisters(bool isLoading) {
  if (auto split = registerSplit(warpGroups))
    NVVM::SetMaxRegisterOp::create(b, loc, uint32_t(isLoading ? split->producer : split->consumer),
                                   isLoading ? NVVM::SetMaxRegisterAction::decrease
                                             : NVVM::SetMaxRegisterAction::increase);
}

void WarpGroupsEmitter::emitScalars(Block &block) {
  for (Operation &op : block)
    if (Emitter::isScalar(&op))
      e.emitScalar(&op);
}

Value tmaCoordinate(Emitter &e, Ix position) {
  constexpr int64_t most = int64_t(1) << 30; // no dimension is larger
  position = e.ix().max(e.ix().min(position, most), -most);
  return arith::TruncIOp::create(e.b, e.loc, e.b.getI32Type(), e.ix().value(position));
}

void WarpGroupsEmitter::loadOperand(const ProductOperand &operand, const OperandTile &tile,
                                    Value map, Value offset, Value barrier) {
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

void WarpGroupsEmitter::takeTurn() { at.waitForGroup(at.add(group.number, firstTurnBarrier)); }

void WarpGroupsEmitter::passTurn() {
  at.comeForGroup(at.add(at.rem(at.add(group.number, 1), warpGroups), firstTurnBarrier));
}

Value WarpGroupsEmitter::movedBy(Value descriptor, int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  Value units = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes >> 4));
  return arith::AddIOp::create(b, loc, descriptor, units);
}

void WarpGroupsEmitter::letNextLaunchBegin() {
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::launch_dependents);
}

LogicalResult WarpGroupsEmitter::emit() {
  Value thread = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
  OpBuilder::InsertionGuard guard(b);
  at.when(at.equal(thread, 0), [&] {
    for (Value map : maps)
      at.prefetchMap(map);
    initBarriers();
    NVVM::FenceMbarrierInitOp::create(b, loc);
  });
  e.barrier();
  // The launch may begin before the one before it ends (TW_LAUNCH_OVERLAPS): all memory of others
  // is touched behind this. The next one may begin then, or later, which waits in the same way.
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
  if (!isTriggerLate())
    letNextLaunchBegin();
  Value warpGroup = at.div(thread, groupThreads), inGroup = at.rem(thread, groupThreads);
  if (loadingWarps() == 0)
    return multiplyAs({warpGroup, warpGroup, inGroup, at.equal(inGroup, 0)});
  auto roles = scf::IfOp::create(b, loc, at.equal(warpGroup, 0), true);
  b.setInsertionPointToStart(roles.thenBlock());
  setRegisters(/*isLoading=*/true);
  for (int64_t warp = 0; warp < loadingWarps(); ++warp)
    at.when(at.equal(at.div(thread, 32), warp), [&] {
      Value elected = NVVM::ElectSyncOp::create(b, loc, b.getI1Type(), Value());
      at.when(elected, [&] { load(warp); });
    });
  b.setInsertionPointToStart(roles.elseBlock());
  setRegisters(/*isLoading=*/false);
  Value number = at.add(warpGroup, -1);
  return multiplyAs({number, number, inGroup, at.equal(inGroup, 0)});
}

LogicalResult WarpGroupsEmitter::multiplyAs(const WarpGroup &own) {
  group = own;
  if (failed(multiplyAll()))
    return failure();
  // What TMA stores has to be read before the block's memory ends; it is written before the launch
  // does.
  at.when(group.isLeader,
          [&] { NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, 0, b.getUnitAttr()); });
  return success();
}

} // namespace tw::target::nvidia
