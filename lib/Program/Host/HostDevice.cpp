// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host entry of a program for another device than the CPU (docs/devices.md): where it would
// touch memory or call a kernel, it asks the runtime.
//
//   %r = tw.dispatch @k3(%x) outs(%e)   ->   buffers[0] = x; buffers[1] = arena + 4096;
//                                            k3_launch(buffers, scalars, workspace, &launch);
//                                            if (callbacks->launch(runtime, 7, &launch)) return 1;
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "Program/Host/HostEmitter.h"
#include "runtime/ProgramABI.h"
#include <cstddef>

using namespace mlir;

namespace tw {

static constexpr int64_t recordBytes = 3 * sizeof(int64_t);

/// Calls a function of tw_callbacks; the entry returns 1 unless it gives 0.
void HostEmitter::require(size_t callback, ArrayRef<Value> values) {
  returnUnlessZero(h.callRuntime(h.i32, call, callback, values));
}

/// An element at an address of the device, on the host.
Value HostEmitter::readOnDevice(Location loc, Type element, Value address) {
  ++in.program.hostReads;
  emitReport(loc) << "the host waits for this value, so a call cannot be one CUDA graph";
  int64_t bytes = (element.getIntOrFloatBitWidth() + 7) / 8;
  require(offsetof(tw_callbacks, read), {launchArea, address, h.constant(bytes)});
  return h.load(element, launchArea);
}

/// What launches, dispatches on the host and reads take from the stack: once for the whole entry.
void HostEmitter::reserveLaunchArea(int64_t mostBuffers) {
  int64_t mostArguments = 1;
  for (const auto &kernel : in.kernels)
    if (const auto &code = kernel.second.device)
      mostArguments = std::max(mostArguments, code->arguments);
  auto words = [&](int64_t count) -> Value {
    return LLVM::AllocaOp::create(h.b, h.loc, h.ptr, h.i64, h.constant(count));
  };
  launchArea = words(int64_t(std::max(sizeof(tw_launch), sizeof(tw_host_dispatch)) / 8));
  launchArguments = words(mostArguments);
  bufferBytes = words(mostBuffers);
}

/// The number of a kernel of the device code.
int64_t HostEmitter::deviceKernel(const std::string &name) {
  auto &all = in.program.deviceKernels;
  auto known = llvm::find(all, name);
  if (known == all.end()) {
    all.push_back(name);
    return int64_t(all.size()) - 1;
  }
  return known - all.begin();
}

/// The record of a dispatch that may fail.
int64_t HostEmitter::newFailureRecord(const target::KernelInfo &info) {
  in.program.failureRecords.push_back(info.failures);
  return int64_t(in.program.failureRecords.size()) - 1;
}

/// Launches a kernel whose buffers and scalars have been filled in.
void HostEmitter::launchOnDevice(graph::DispatchOp op, const target::KernelInfo &info) {
  if (info.mayFail()) {
    Value records = callField(offsetof(tw_call, failures));
    h.storeElement(h.offset(records, newFailureRecord(info) * recordBytes), buffers,
                   int64_t(info.passedSizes.size()));
  }
  int scratch = in.plan.staging(op, -1);
  Value workspace =
      scratch >= 0 ? temporary(scratch) : Value(LLVM::ZeroOp::create(h.b, h.loc, h.ptr));
  auto launch = [&](const std::string &name) {
    h.store(launchArguments, h.offset(launchArea, offsetof(tw_launch, arguments)));
    h.call(name + "_launch", {buffers, scalars, workspace, launchArea});
    require(offsetof(tw_callbacks, launch),
            {h.constant32(int32_t(deviceKernel(name))), launchArea});
  };
  llvm::for_each(info.device->launches, launch);
}

/// A dispatch without device code runs on the host, on copies.
void HostEmitter::runOnHost(graph::DispatchOp op, const target::KernelInfo &info) {
  in.program.usesHost = true;
  emitReport(op.getLoc()) << "runs on the host, between copies: " << op.getKernel()
                          << " has no code for the device; a call cannot be one CUDA graph";
  int64_t number = 0;
  auto put = [&](Value tensor) {
    h.storeElement(bytes(tensors[tensor], tensor.getType()), bufferBytes, number++);
  };
  for (Value input : op.getInputs())
    if (isa<RankedTensorType>(input.getType()))
      put(input);
  for (Value result : op.getResults())
    put(result);
  auto [iterations, workspace] = kernelNeeds(info);
  auto set = [&](size_t field, Value value) {
    h.store(value, h.offset(launchArea, int64_t(field)));
  };
  set(offsetof(tw_host_dispatch, kernel), h.address(info.name));
  set(offsetof(tw_host_dispatch, fill),
      info.fills ? h.address(info.name + "_fill") : Value(LLVM::ZeroOp::create(h.b, h.loc, h.ptr)));
  set(offsetof(tw_host_dispatch, buffers), buffers);
  set(offsetof(tw_host_dispatch, bytes), bufferBytes);
  set(offsetof(tw_host_dispatch, buffer_count), h.constant32(int32_t(number)));
  set(offsetof(tw_host_dispatch, result_count), h.constant32(int32_t(op.getNumResults())));
  set(offsetof(tw_host_dispatch, failure),
      h.constant32(info.mayFail() ? int32_t(newFailureRecord(info)) : -1));
  set(offsetof(tw_host_dispatch, scalars), scalars);
  set(offsetof(tw_host_dispatch, iterations), iterations);
  set(offsetof(tw_host_dispatch, grain), h.constant(info.grain));
  set(offsetof(tw_host_dispatch, workspace_bytes), workspace);
  require(offsetof(tw_callbacks, on_host), {launchArea});
}

} // namespace tw
