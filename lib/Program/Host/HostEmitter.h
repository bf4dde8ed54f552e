// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one phase of the host entry by walking @main once.
#pragma once
#include "Program/Host/HostBuilder.h"
#include "Program/Host/HostEntry.h"

namespace mlir::scf {
class ForOp;
class IfOp;
} // namespace mlir::scf
namespace mlir::tensor {
class ExtractOp;
class ExtractSliceOp;
class InsertSliceOp;
} // namespace mlir::tensor

namespace tw {
namespace graph {
class AssertOp;
class DispatchOp;
} // namespace graph

/// What both phases need to know; `program` is complete except for what phase SIZES finds out.
struct HostInput {
  mutable mlir::func::FuncOp main;
  StoragePlan &plan;
  const KernelTable &kernels;
  const llvm::DenseMap<mlir::Operation *, int64_t> &weightOffsets;
  HostProgram &program;
  bool isForDevice = false; // tensors are in another memory than the host's
};

/// A tensor while code is emitted. In phase SIZES there is no data, and sizes that depend on data
/// are null.
struct HostTensor {
  mlir::Value data;
  llvm::SmallVector<mlir::Value> sizes; // one a dimension, i64
};

class HostEmitter {
public:
  HostEmitter(HostBuilder &h, const HostInput &input, bool sizing);
  /// Adds `int32_t name(const tw_call *)`.
  mlir::LogicalResult emit(llvm::StringRef name);

private:
  // HostEmitter.cpp: values, memory and the simple operations
  void bindArguments();
  mlir::Value callField(size_t offset);
  mlir::Value memory(BufferAssignment assignment, mlir::Operation *weight = nullptr);
  mlir::Value temporary(int index);
  void need(int temporary, mlir::Value bytes);
  HostTensor newTensor(mlir::Value value, llvm::ArrayRef<mlir::Value> sizes);
  mlir::Value bytes(const HostTensor &tensor, mlir::Type type);
  llvm::SmallVector<mlir::Value> staticSizes(mlir::RankedTensorType type);
  llvm::SmallVector<mlir::Value> mixedSizes(mlir::RankedTensorType type, mlir::ValueRange dynamic);
  mlir::Value index(mlir::OpFoldResult value);
  void copyTensor(mlir::Value to, const HostTensor &from, mlir::Type type);
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  void emitReshape(mlir::Operation *op);
  void emitExtract(mlir::tensor::ExtractOp op);
  void emitExtractSlice(mlir::tensor::ExtractSliceOp op);
  void emitInsertSlice(mlir::tensor::InsertSliceOp op);
  mlir::Value sliceStart(const HostTensor &whole, mlir::RankedTensorType type,
                         llvm::ArrayRef<mlir::OpFoldResult> offsets);
  void emitAssert(graph::AssertOp op);
  void emitFailure(mlir::Value fine, mlir::Value message, mlir::Value x, mlir::Value y);
  void emitReturn(mlir::Operation *op);
  void writeOutput(unsigned number, mlir::Value value);
  void writeStates(mlir::Operation *op);

  // HostControl.cpp: branches, loops and dispatches
  void returnUnlessZero(mlir::Value result);
  void checkCancelled();
  void emitDispatch(graph::DispatchOp op);
  void fillCallArrays(graph::DispatchOp op);
  void launch(graph::DispatchOp op, const target::KernelInfo &info);
  void sizeWorkspace(graph::DispatchOp op, const target::KernelInfo &info);
  void checkFailure(const target::KernelInfo &info);
  std::pair<mlir::Value, mlir::Value> kernelNeeds(const target::KernelInfo &info);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  void carryTensors(mlir::scf::ForOp op);
  void joinBranches(mlir::ValueRange results, llvm::SmallVector<mlir::Value> (&parts)[2],
                    mlir::Block *(&ends)[2]);
  void placeYields(mlir::Operation *yield, mlir::ValueRange results);
  llvm::SmallVector<mlir::Value> scalarParts(mlir::ValueRange values);
  void bindParts(mlir::ValueRange values, mlir::ValueRange parts);
  void failSize(mlir::Location loc);

  // HostDevice.cpp: what a program for another device does instead
  void require(size_t callback, llvm::ArrayRef<mlir::Value> values);
  mlir::Value readOnDevice(mlir::Location loc, mlir::Type element, mlir::Value address);
  void reserveLaunchArea(int64_t mostBuffers);
  int64_t deviceKernel(const std::string &name);
  int64_t newFailureRecord(const target::KernelInfo &info);
  void launchOnDevice(graph::DispatchOp op, const target::KernelInfo &info);
  void runOnHost(graph::DispatchOp op, const target::KernelInfo &info);

  HostBuilder &h;
  const HostInput &in;
  bool sizing;
  mlir::Value call, arena, buffers, scalars, failure;
  mlir::Value launchArea, launchArguments, bufferBytes; // of a program for a device
  llvm::DenseMap<mlir::Value, HostTensor> tensors;
  llvm::DenseMap<mlir::Value, mlir::Value> values; // scalars; null: depends on data (SIZES only)
  bool failed = false;
  int dispatches = 0;
};

} // namespace tw
