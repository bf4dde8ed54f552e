// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the points of a tile are dealt to the threads of a block: row-major, thread t has points
// t, t + threads, t + 2 threads, ... (Layout/Fragments.h, `strided`), so that threads
// next to each other touch elements next to each other.
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tw::target::nvidia {

Point Emitter::pointAt(Ix number, ArrayRef<Ix> extents) {
  Point point(extents.size(), Ix(0));
  int64_t first = 0; // dimensions before it have extent 1
  while (first < int64_t(extents.size()) && extents[first].is(1))
    ++first;
  for (int64_t d = int64_t(extents.size()) - 1; d >= first; --d) {
    if (extents[d].is(1))
      continue;
    point[d] = d == first ? number : ix().rem(number, extents[d]);
    if (d != first)
      number = ix().div(number, extents[d]);
  }
  return point;
}

LogicalResult Emitter::overPoints(ArrayRef<Ix> extents, PointBody body) {
  Ix count = ix().product(extents);
  Scope scope(*this);
  OpBuilder::InsertionGuard guard(b);
  if (count.estimate(threads + 1) <= threads) { // one point for each thread at most
    if (!count.is(threads)) {
      Value isIn = ix().less(thread, count);
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, isIn, false).thenBlock());
    }
    return body(pointAt(thread, extents));
  }
  auto points =
      scf::ForOp::create(b, loc, thread, ix().value(count), ix().value(threads), ValueRange{});
  b.setInsertionPointToStart(points.getBody());
  return body(pointAt(points.getInductionVar(), extents));
}

LogicalResult Emitter::loop(const Ix &begin, const Ix &end, const Ix &step,
                            SmallVectorImpl<Value> &carried,
                            llvm::function_ref<LogicalResult(const Ix &)> body) {
  auto made = scf::ForOp::create(b, loc, ix().value(begin), ix().value(end), ix().value(step),
                                 ValueRange(carried));
  {
    Scope scope(*this);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    carried.assign(made.getRegionIterArgs().begin(), made.getRegionIterArgs().end());
    if (failed(body(made.getInductionVar())))
      return failure();
    if (!carried.empty())
      scf::YieldOp::create(b, loc, carried);
  }
  carried.assign(made.getResults().begin(), made.getResults().end());
  return success();
}

void Emitter::barrier() {
  // Of two in a row the first is enough.
  Block *block = b.getInsertionBlock();
  auto next = b.getInsertionPoint();
  if (next != block->begin() && isa<NVVM::Barrier0Op, NVVM::SyncWarpOp>(*std::prev(next)))
    return;
  if (!isWarp) {
    NVVM::Barrier0Op::create(b, loc);
    return;
  }
  constexpr int32_t allLanes = -1;
  NVVM::SyncWarpOp::create(b, loc,
                           arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(allLanes)));
}

} // namespace tw::target::nvidia
