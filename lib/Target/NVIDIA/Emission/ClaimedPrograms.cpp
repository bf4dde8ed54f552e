// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/ClaimedPrograms.h"
#include "Target/NVIDIA/Emission/PlainPrograms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;

namespace tw::target::nvidia {

Value ClaimedPrograms::narrow(Value number) {
  return arith::TruncIOp::create(b, loc, b.getI32Type(), number);
}

void ClaimedPrograms::setProgram(Value number) {
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), number);
  nvidia::setProgram(e, Ix(wide), grid);
}

/// Whether there is a program of this number.
Value ClaimedPrograms::isProgram(Value number) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number, count);
}

/// Where the number of the block's program `turn` lies in shared memory.
Value ClaimedPrograms::placeOf(Value turn) {
  const BulkPlan &plan = loads.getPlan();
  Value place = at.mul(at.rem(turn, plan.numbers()), BulkPlan::numberBytes);
  return at.pointer(at.add(place, plan.firstNumber()));
}

/// By one thread.
void ClaimedPrograms::setNumber(Value turn, Value number) {
  LLVM::StoreOp::create(b, loc, number, placeOf(turn));
}

/// By one thread: of a program that there is.
void ClaimedPrograms::beginLoads(Value number, Value turn) {
  setProgram(number);
  loads.begin(turn);
}

/// Begins the loads of the block's first programs, and of what it keeps.
void ClaimedPrograms::beginFirst() {
  for (int64_t turn = 0; turn < stages(); ++turn) {
    Value number = turn == 0 ? first : at.add(first, at.mul(step, turn));
    loads.byOneThread(isProgram(number), [&] { beginLoads(number, at.i32(turn)); });
    loads.byOneThread({}, [&] { setNumber(at.i32(turn), number); });
  }
  loads.byOneThread(isProgram(first), [&] { loads.beginKept(); });
}

/// What the counter says, in the one thread that claims by it, if `condition` (missing: always),
/// with what it does `before`; else `otherwise`. Nothing computes with it before it is needed. It
/// wraps around where no number gets, since ptxas would gather additions of a warp's threads, and
/// wait for the sum at once.
Value ClaimedPrograms::claim(Value condition, Value otherwise, llvm::function_ref<void()> before) {
  Value claims = e.both(e.ix().equal(Ix(e.thread), 0), condition);
  auto branch = scf::IfOp::create(b, loc, otherwise.getType(), claims, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  before();
  Value most = at.i32(std::numeric_limits<int32_t>::max());
  Value counted = LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::uinc_wrap, counter, most,
                                            LLVM::AtomicOrdering::monotonic, "device");
  scf::YieldOp::create(b, loc, counted);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return branch.getResult(0);
}

/// `counted`, of the thread that claims: for what comes into the stage of this program.
LogicalResult ClaimedPrograms::emitProgram(Value number, Value turn, Value counted) {
  setProgram(number);
  loads.take(turn);
  Value later = at.add(turn, stages()), claimed = at.add(counted, at.mul(step, stages()));
  loads.byOneThread({}, [&] { setNumber(later, claimed); });
  if (failed(loads.hold())) // behind which the stage is free, and all threads know the number
    return failure();
  Value next = claim(isProgram(claimed), counted, [&] { beginLoads(claimed, later); });
  setProgram(number);
  loads.takeKept();
  if (failed(e.block(e.kernel.getBody().front())))
    return failure();
  Value behind = at.add(turn, 1);
  Value nextNumber = LLVM::LoadOp::create(b, loc, number.getType(), placeOf(behind));
  scf::YieldOp::create(b, loc, ValueRange{nextNumber, behind, next});
  return success();
}

LogicalResult ClaimedPrograms::emit() {
  loads.initBarriers();
  beginFirst();
  SmallVector<Value> carried{first, at.i32(0), claim({}, count, [] {})};
  return overPrograms(
      e, carried, [&](Value number) { return isProgram(number); },
      [&](ValueRange now) { return emitProgram(now[0], now[1], now[2]); });
}

} // namespace tw::target::nvidia
