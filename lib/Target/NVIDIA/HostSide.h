// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands on the host beside the kernels of a device, and what both sides know: the arguments.
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Product/LaunchConditions.h"
#include "Target/NVIDIA/Product/TensorMaps.h"
#include "Target/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/ProgramABI.h"

namespace tw::target::nvidia {

/// An output that something is in before any program runs: one value, or what input number `from`
/// holds.
struct Filled {
  int64_t buffer; // its number among the buffers
  mlir::TypedAttr init;
  int64_t from = -1;
};

/// The arguments of a kernel, of 64 bits each: its buffers, the record of failures if it has
/// checks, sizes and scalars, the workspace.
struct Signature {
  explicit Signature(tile::KernelOp kernel);

  unsigned tensors() const { return unsigned(buffers.size()); }
  bool mayFail() const { return hasChecks; }
  int64_t scalars() const;
  int64_t count() const { return int64_t(tensors()) + mayFail() + scalars() + 1; }
  std::vector<std::vector<unsigned>> passedSizes() const;
  llvm::SmallVector<mlir::Type> types(mlir::OpBuilder &b) const;

  /// Makes the arguments of a kernel known to an emitter.
  void bind(Emitter &e, mlir::ValueRange arguments) const;
  /// The sizes and scalars, one 64-bit word each, and the symbols that follow from them.
  void bindScalars(Emitter &e, llvm::function_ref<mlir::Value(int64_t)> word) const;
  static Indices grid(Emitter &e);

  static llvm::SmallVector<Filled> fills(tile::KernelOp kernel);
  static int64_t inputs(tile::KernelOp kernel);

  llvm::SmallVector<mlir::Value> buffers, numbers; // arguments of the tile.kernel
  bool hasChecks = false;
};

/// How a kernel is launched, as far as it does not depend on sizes.
struct LaunchPlan {
  int64_t threads = 0, sharedBytes = 0, fillThreads = 0;
  int64_t programsBeside = 1;                                  // in a block, at one time
  std::vector<std::pair<std::vector<Size>, int64_t>> requests; // workspace of a program
  int64_t blocksOfMultiprocessor = 0; // that run all programs; 0: a block runs one
  bool claims = false;       // blocks claim programs by a counter, the first word of the workspace
  std::vector<MapPlan> maps; // of the launch
  LaunchConditions conditions;
};

/// Words of a tw_tensor_map.
inline constexpr int64_t mapWords = int64_t(sizeof(tw_tensor_map) / sizeof(uint64_t));

/// Emits k_info, k_launch and k_fill_launch; where the launch has conditions, k_plain_launch for
/// what is launched instead. Of the two, one has no blocks.
class HostSide {
public:
  HostSide(tile::KernelOp kernel, const Signature &signature, mlir::ModuleOp into,
           const GpuArchitecture &architecture, const LaunchPlan &plan, const LaunchPlan &plain);
  void emit(KernelInfo &info);

  /// What one program at a time needs of the workspace.
  static Ix bytesOfProgram(Emitter &e,
                           llvm::ArrayRef<std::pair<std::vector<Size>, int64_t>> requests);
  /// What a counter of the launch takes before that, so that it stays as aligned.
  static constexpr int64_t counterBytes = 64;

private:
  mlir::LLVM::LLVMFuncOp function(const std::string &name, unsigned arguments);
  void bindWords(Emitter &e, mlir::Value words);
  Ix blocks(Emitter &e, const LaunchPlan &of);
  Ix workspaceBytes(Emitter &e, const LaunchPlan &of);
  mlir::Value scalarAtLaunch(Emitter &e, mlir::Value scalar);
  mlir::Value conditionsHold(Emitter &e);
  void emitInfo(KernelInfo &info);
  enum class Kind { Kernel, Plain, Fill };
  void emitLaunch(const std::string &name, Kind kind);
  Ix blocksOfLaunch(Emitter &e, Kind kind);
  Ix threadsToFill(Emitter &e);
  void emitMap(Emitter &e, const MapPlan &map, mlir::Value buffers, mlir::Value words,
               int64_t first);

  tile::KernelOp kernel;
  const Signature &signature;
  mlir::ModuleOp into;
  const GpuArchitecture &architecture;
  const LaunchPlan &plan, &plain;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Type i64, i32, pointer;
};

} // namespace tw::target::nvidia
