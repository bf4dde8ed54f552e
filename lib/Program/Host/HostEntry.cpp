// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Host/HostEntry.h"
#include "IR/Coded.h"
#include "IR/Graph/Values.h"
#include "Program/Host/HostEmitter.h"
#include "runtime/Planner.h"
#include "runtime/ProgramABI.h"
#include <cstddef>

using namespace mlir;

namespace tw {

static bool isStaticType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

/// True when every size is known now: of inputs, outputs, temporaries and workspaces.
static bool isStatic(func::FuncOp main, const StoragePlan &plan, const KernelTable &kernels) {
  FunctionType type = main.getFunctionType();
  return llvm::all_of(type.getInputs(), isStaticType) &&
         llvm::all_of(type.getResults(), isStaticType) &&
         llvm::all_of(plan.temporaries, [](const Temporary &t) { return t.bytes.has_value(); }) &&
         llvm::all_of(kernels,
                      [](const auto &kernel) { return kernel.second.workspaceBytes.has_value(); });
}

static int64_t aligned(int64_t bytes) {
  return (bytes + TW_ALIGNMENT - 1) / TW_ALIGNMENT * TW_ALIGNMENT;
}

/// The workspace of a kernel that runs serially, or on a device, is a temporary of its step; that
/// of parallel ones belongs to the workers, and the runtime provides that of kernels which run on
/// the host for a device.
static void placeWorkspaces(func::FuncOp main, StoragePlan &plan, const KernelTable &kernels,
                            HostMemory &memory, bool isForDevice) {
  main.walk([&](graph::DispatchOp op) {
    const target::KernelInfo &info = kernels.find(op.getKernel())->second;
    std::optional<int64_t> bytes = info.workspaceBytes;
    if ((bytes && *bytes == 0) || (isForDevice && !info.device))
      return;
    if (info.device || (info.iterations && *info.iterations == 1))
      plan.addStaging(op, -1, bytes);
    else if (bytes)
      memory.workspaceBytes = std::max(memory.workspaceBytes, aligned(*bytes));
  });
}

static LogicalResult planStatic(func::FuncOp main, HostMemory &memory) {
  std::vector<PlanBuffer> buffers;
  for (const Temporary &t : memory.buffers)
    buffers.push_back({t.begin, t.end, *t.bytes});
  auto plan = planMemory(buffers);
  if (!plan)
    return emitCoded(main.getLoc(), Code::PROGRAM_3)
           << "the temporaries of the model need more memory than any machine has";
  memory.offsets = plan->offsets;
  memory.arenaBytes = plan->peak;
  memory.boundBytes = plan->bound;
  return success();
}

/// tilewright_program: sets what phase SIZES accumulates to zero, and calls the phase asked for.
static void emitPhases(HostBuilder &h, size_t buffers) {
  h.function(TW_PROGRAM_SYMBOL, h.i32, {h.ptr}, /*exported=*/true);
  Value call = h.b.getInsertionBlock()->getArgument(0);
  Value phase = h.load(h.i32, h.offset(call, offsetof(tw_call, phase)));
  Value run =
      LLVM::ICmpOp::create(h.b, h.loc, LLVM::ICmpPredicate::eq, phase, h.constant32(TW_PHASE_RUN));
  Block *running = h.block(), *sizing = h.block();
  h.branchIf(run, running, sizing);
  h.b.setInsertionPointToStart(running);
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{h.call("tw_run", {call})});
  h.b.setInsertionPointToStart(sizing);
  Value sizes = h.load(h.ptr, h.offset(call, offsetof(tw_call, buffer_sizes)));
  LLVM::MemsetOp::create(h.b, h.loc, sizes, LLVM::ConstantOp::create(h.b, h.loc, h.i8, 0),
                         h.constant(int64_t(buffers) * 8), /*isVolatile=*/false);
  h.store(h.constant(0), h.load(h.ptr, h.offset(call, offsetof(tw_call, workspace_bytes))));
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{h.call("tw_sizes", {call})});
}

FailureOr<HostProgram> emitHostEntry(func::FuncOp main, ModuleOp into, const KernelTable &kernels,
                                     const DenseMap<Operation *, int64_t> &weightOffsets,
                                     bool isForDevice) {
  SharedPairs pairs;
  for (const auto &kernel : kernels)
    pairs[kernel.first()] = kernel.second.inPlace;
  StoragePlan plan(main, pairs);
  plan.reportMutations();
  HostProgram program;
  program.hasValues = graph::hasValues(main);
  for (unsigned result = 0; result < main.getNumResults(); ++result)
    program.writtenInPlace.push_back(plan.isWrittenInPlace(result));
  HostMemory &memory = program.memory;
  placeWorkspaces(main, plan, kernels, memory, isForDevice);
  memory.buffers.assign(plan.temporaries.begin(), plan.temporaries.end());
  memory.isStatic = isStatic(main, plan, kernels);
  if (memory.isStatic && failed(planStatic(main, memory)))
    return failure();

  HostBuilder h(into, main.getLoc());
  addHostHelpers(h);
  HostInput input{main, plan, kernels, weightOffsets, program, isForDevice};
  for (bool sizing : {true, false})
    if (failed(HostEmitter(h, input, sizing).emit(sizing ? "tw_sizes" : "tw_run")))
      return failure();
  h.loc = main.getLoc();
  emitPhases(h, memory.buffers.size());
  return program;
}

} // namespace tw
