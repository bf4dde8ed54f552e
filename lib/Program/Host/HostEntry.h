// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host side of a program: @main of the dispatch level becomes the one exported function,
// `tilewright_program` (runtime/ProgramABI.h).
//
//   %r = tw.dispatch @k3(%x) outs(%e)   ->   buffers[0] = x; buffers[1] = arena + 4096;
//                                            launch(call, k3, buffers, scalars, 64, 1, ...)
//
// It is emitted twice: as `tw_sizes`, which follows only the scalars and stores the sizes of
// outputs and buffers, and as `tw_run`, which calls the kernels.
#pragma once
#include "IR/Graph/Graph.h"
#include "Program/Host/Storage.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw {

/// What the metadata says about the memory of a program, found while its entry is emitted.
struct HostMemory {
  bool isStatic = true;
  std::vector<Temporary> buffers;
  std::vector<int64_t> offsets; // static programs
  int64_t arenaBytes = 0, boundBytes = 0, workspaceBytes = 0;
};

/// A tensor that a kernel is called with.
struct HostBuffer {
  mlir::RankedTensorType type;
  std::vector<int64_t> slots; // for each dimension the scalar that is its size, or -1
  bool isResult = false;
  std::vector<graph::ValueAttr> values; // of the source, which it is
};

/// One call of a kernel, in the order of the metadata's "dispatches".
struct HostDispatch {
  std::string kernel, source;
  std::vector<HostBuffer> buffers; // in the order in which the kernel is given them
  graph::DispatchOp call;
  int64_t step = 0; // as lifetimes of buffers count
};

struct HostProgram {
  HostMemory memory;
  std::vector<bool> writtenInPlace; // by result of @main: it is made where an input of it was
  std::vector<HostDispatch> dispatches;
  bool hasValues = false; // of the source, with numbers: then the metadata has them, and buffers
  // Of a program for another device than the CPU.
  std::vector<std::string> deviceKernels;               // by their numbers in launches
  std::vector<std::vector<std::string>> failureRecords; // the messages of each
  bool usesHost = false;                                // has dispatches that run on the host
  int64_t hostReads = 0; // places at which the host waits for a value
};

using KernelTable = llvm::StringMap<target::KernelInfo>;

/// Adds the entry for `main` to `into`, which already holds the kernels of `kernels`.
/// `weightOffsets` gives each tw.weight's place in the payload. `isForDevice`: tensors are in the
/// memory of a device (docs/devices.md). Fails with a coded diagnostic
/// when `main` holds something that only a kernel can do, or a size that depends on data.
mlir::FailureOr<HostProgram>
emitHostEntry(mlir::func::FuncOp main, mlir::ModuleOp into, const KernelTable &kernels,
              const llvm::DenseMap<mlir::Operation *, int64_t> &weightOffsets, bool isForDevice);

} // namespace tw
