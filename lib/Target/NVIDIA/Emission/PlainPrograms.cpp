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

LogicalResult PlainPrograms::emitProgram(const Ix &number, const Indices &grid) {
  setProgram(e, number, grid);
  return e.block(e.kernel.getBody().front());
}

/// Those that the block runs; the body ends with what goes on to the next one.
LogicalResult PlainPrograms::overPrograms(ValueRange carried,
                                          llvm::function_ref<LogicalResult(scf::ForOp)> body) {
  auto programs = scf::ForOp::create(b, loc, first, count, step, carried);
  e.entry = OpBuilder::InsertPoint(programs->getBlock(), Block::iterator(programs));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(programs.getBody());
  return body(programs);
}

/// Each program waits for its own loads, and reads them where they lie.
LogicalResult PlainPrograms::emitFromShared(const BulkLoads &loads, const Indices &grid) {
  loads.initBarriers();
  Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  return overPrograms(none, [&](scf::ForOp programs) -> LogicalResult {
    Value turn = programs.getRegionIterArg(0);
    setProgram(e, programs.getInductionVar(), grid);
    loads.byOneThread({}, [&] { loads.begin(turn); });
    loads.take(turn);
    if (failed(e.block(e.kernel.getBody().front())))
      return failure();
    e.barrier();
    Value one = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
    scf::YieldOp::create(b, loc, ValueRange{arith::AddIOp::create(b, loc, turn, one)});
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
                  : emitFromShared(loads, grid);
  } else {
    done = overPrograms({}, [&](scf::ForOp programs) {
      LogicalResult emitted = emitProgram(programs.getInductionVar(), grid);
      e.barrier(); // the next program uses the same scratch
      return emitted;
    });
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(ofWorkspace);
  ofWorkspace.getRhsMutable().assign(e.ix().value(HostSide::bytesOfProgram(e, e.requests)));
  ofShared.getRhsMutable().assign(e.ix().value(e.mostSharedBytes));
  return done;
}

} // namespace tw::target::nvidia
