// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Dot/BlockEpilogue.h"

using namespace mlir;

namespace tw::target::cpu {

/// More rows than these are a loop.
static constexpr int64_t mostUnrolledRows = 4;

BlockEpilogue::BlockEpilogue(Emitter &e, tile::DotOp op, const DotStep &plan, const Memory &sums)
    : e(e), plan(plan), step(plan.epilogue.front()), sums(sums) {
  IndexBuilder ix = e.ix();
  for (Operation *around = op->getParentOp(); around != step.op->getParentOp();
       around = around->getParentOp()) {
    auto loop = cast<tile::ForOp>(around);
    if (loop.constantTripCount() == 1)
      continue;
    Ix next = ix.add(e.index(loop.getInductionVar()), e.index(loop.getStep()));
    Ix beforeEnd = ix.sub(e.index(loop.getEnd()), 1);
    isLastTrip = e.both(isLastTrip, ix.less(beforeEnd, next));
  }
}

LogicalResult BlockEpilogue::store(const Part &part, Value condition) {
  Value holds = e.both(isLastTrip, condition);
  OpBuilder::InsertionGuard guard(e.b);
  if (holds) {
    auto choice = scf::IfOp::create(e.b, e.loc, holds, /*withElseRegion=*/false);
    e.b.setInsertionPointToStart(choice.thenBlock());
  }
  Emitter::Scope scope(e);
  for (Value name : plan.sums)
    e.memory[name] = sums;
  llvm::SaveAndRestore lanes(e.lanes, step.strips.lanes);
  llvm::SaveAndRestore prefetches(e.prefetches, ArrayRef(step.prefetches));
  llvm::SaveAndRestore lookAheads(e.lookAheads, ArrayRef(step.lookAheads));
  if (part.rows > mostUnrolledRows) {
    SmallVector<Value> none;
    return e.loop(part.row, e.ix().add(part.row, part.rows), 1, none,
                  [&](const Ix &row) { return storeRow(row, part.column, part.columns); });
  }
  for (int64_t i = 0; i < part.rows; ++i)
    if (failed(storeRow(e.ix().add(part.row, i), part.column, part.columns)))
      return failure();
  return success();
}

LogicalResult BlockEpilogue::storeRow(const Ix &row, const Ix &column, int64_t columns) {
  const auto &store = std::get<StoreStep>(step.detail);
  for (int64_t at = 0; at < columns; at += step.strips.lanes)
    if (failed(e.storeAt(store, {{row, e.ix().add(column, at)}, /*lane=*/1})))
      return failure();
  return success();
}

} // namespace tw::target::cpu
