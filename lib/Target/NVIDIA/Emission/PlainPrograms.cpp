// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/PlainPrograms.h"
#include "Target/NVIDIA/Emission/ClaimedPrograms.h"
#include "Target/NVIDIA/HostSide.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {

void setProgram(Emitter &e, Ix number, const Indices &grid) {
  e.programIds.assign(grid.size(), Ix(0));
  for (int64_t d = int64_t(grid.size()) - 1; d >= 0; --d) {
    if (grid[d].is(1))
      continue;
    e.programIds[d] = d == 0 ? number : e.ix().rem(number, grid[d]);
    if (d > 0)
      number = e.ix().div(number, grid[d]);
  }
}

template <typename Op>
static Ix specialRegister(Emitter &e) {
  Value word = Op::create(e.b, e.loc, e.b.getI32Type());
  return Value(arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), word));
}

void PlainPrograms::setThread() {
  Ix thread = specialRegister<NVVM::ThreadIdXOp>(e);
  if (shape.programs > 1) {
    beside = e.ix().div(thread, shape.threads);
    thread = e.ix().rem(thread, shape.threads);
  }
  e.thread = e.ix().value(thread);
  e.threads = shape.threads;
  e.isWarp = shape.programs > 1;
  auto places = [&](const Ix &blocks) { return e.ix().mul(blocks, shape.programs); };
  Ix own = e.ix().add(places(specialRegister<NVVM::BlockIdXOp>(e)), beside);
  first = e.ix().value(own);
  step = e.ix().value(places(specialRegister<NVVM::GridDimXOp>(e)));
}

/// What belongs to program `number` of `all`: its offset is number times what will be known of a
/// program at the end.
Value PlainPrograms::partOf(Value all, const Ix &number, arith::MulIOp &offset) {
  Value factor = e.ix().value(number);
  offset = arith::MulIOp::create(b, loc, factor, factor);
  return LLVM::GEPOp::create(b, loc, all.getType(), b.getI8Type(), all,
                             ArrayRef<LLVM::GEPArg>{Value(offset)});
}

LogicalResult overPrograms(Emitter &e, ValueRange carried,
                           llvm::function_ref<Value(Value)> isProgram,
                           llvm::function_ref<LogicalResult(ValueRange)> body) {
  auto loop = scf::WhileOp::create(e.b, e.loc, carried.getTypes(), carried, nullptr, nullptr);
  e.entry = OpBuilder::InsertPoint(loop->getBlock(), Block::iterator(loop));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBeforeBody());
  ValueRange before = loop.getBeforeArguments();
  scf::ConditionOp::create(e.b, e.loc, isProgram(before[0]), before);
  e.b.setInsertionPointToStart(loop.getAfterBody());
  return body(loop.getAfterArguments());
}

/// first, first + step, ...; with `loads` each waits for its own, and reads them where they lie.
LogicalResult PlainPrograms::emitPrograms(const Indices &grid, const BulkLoads *loads) {
  SmallVector<Value> carried = {first};
  if (loads) { // which turn of the block's it is
    loads->initBarriers();
    carried.push_back(arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0)));
  }
  auto isProgram = [&](Value number) { return e.ix().less(number, count); };
  return overPrograms(e, carried, isProgram, [&](ValueRange now) -> LogicalResult {
    setProgram(e, now[0], grid);
    if (loads) {
      loads->byOneThread({}, [&] { loads->begin(now[1]); });
      loads->take(now[1]);
    }
    if (failed(e.block(e.kernel.getBody().front())))
      return failure();
    e.barrier(); // the next program uses the same scratch
    SmallVector<Value> next = {arith::AddIOp::create(b, loc, now[0], step)};
    if (loads) {
      Value one = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
      next.push_back(arith::AddIOp::create(b, loc, now[1], one));
    }
    scf::YieldOp::create(b, loc, next);
    return success();
  });
}

LogicalResult PlainPrograms::emit(const Indices &grid, const std::optional<BulkPlan> &plan,
                                  int64_t sharedLimit) {
  setThread();
  count = e.ix().value(e.ix().product(grid));
  e.sharedLimit = sharedLimit / shape.programs;
  arith::MulIOp ofWorkspace, ofShared;
  bool claims = plan && plan->keeps();
  Value ofPrograms = e.address(workspace, b.getI8Type(), claims ? HostSide::counterBytes : 0);
  e.workspace = partOf(ofPrograms, first, ofWorkspace);
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  e.shared = partOf(LLVM::AddrSpaceCastOp::create(b, loc, generic, shared), beside, ofShared);
  LogicalResult done = success();
  if (plan) {
    e.sharedBytes = e.mostSharedBytes = plan->sharedBytes();
    BulkLoads loads(e, *plan, shared);
    ProgramRange programs{first, count, step};
    done = claims ? ClaimedPrograms(e, loads, grid, programs, workspace, shared).emit()
                  : emitPrograms(grid, &loads);
  } else {
    done = emitPrograms(grid, nullptr);
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(ofWorkspace);
  ofWorkspace.getRhsMutable().assign(e.ix().value(HostSide::bytesOfProgram(e, e.requests)));
  ofShared.getRhsMutable().assign(e.ix().value(e.mostSharedBytes));
  return done;
}

} // namespace tw::target::nvidia
