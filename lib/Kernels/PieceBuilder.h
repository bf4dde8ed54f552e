// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One piece while it is put together: its dimensions, its buffers and how the function's tensors
// become them.
#pragma once
#include "Kernels/Describe.h"
#include "Kernels/JoinDims.h"

namespace tw::kernels {

/// The element type of a tensor or a scalar; index counts as i64.
std::optional<kernel::DType> dtypeOf(mlir::Type type);

/// Puts the buffers of a loop program, and their tensors, in the order of calls, and takes out what
/// nothing runs along.
void tidy(Piece &piece);

class PieceBuilder {
public:
  PieceBuilder(const JoinedDims &joined, const LoopNests &nests) : joined(&joined), nests(&nests) {}

  /// The number of the step; loads of the same are one.
  int add(Step step);
  const Step &step(int number) const { return program.steps[number]; }
  kernel::DType dtypeOf(const Access &access) const { return program.buffers[access.buffer].dtype; }

  /// How a tensor in memory is read, or written; nothing if one dimension is walked along twice.
  std::optional<Access> accessOfMemory(const OperandWalk &walk, kernel::DType dtype,
                                       bool isOutput = false);
  /// A tensor in memory as it is, for reading single elements.
  int bufferOfTensor(mlir::Value tensor, kernel::DType dtype);
  /// How a value that an operation of the dispatch computes is read or written in the dimensions in
  /// which it is computed; or, `temporary` its number, what stands between pieces and is as large.
  Access accessOfValue(mlir::Value value, kernel::DType dtype, bool isOutput = false,
                       int temporary = -1);
  /// A program has one element of a dimension.
  void takeSingly(int dim);
  /// Whether that is so for one of these.
  bool takesSingly(const std::vector<int> &dims) const;
  /// The dimensions that a step's result extends along.
  std::vector<int> extent(int step) const { return extentsOf(program.steps)[step]; }
  /// The number of a scalar argument.
  int scalar(mlir::BlockArgument argument, kernel::DType dtype);

  /// Whether other operations may be added.
  bool isClosed = false;
  void setContraction(Contraction spec);
  const Contraction &contraction() const { return product; }

  Piece take();
  llvm::SmallVector<mlir::Location> locations;

private:
  int buffer(BufferSpec spec, TensorUse use);
  BufferView viewOf(mlir::RankedTensorType type, llvm::ArrayRef<AxisWalk> axes,
                    const std::string &name, std::vector<Extent> &shape, std::vector<Axis> &access);
  std::string nameOf(mlir::Value tensor) const;

  const JoinedDims *joined;
  const LoopNests *nests;
  LoopProgram program;
  Contraction product;
  bool isProduct = false;
  int openFolds = 0;
  size_t closedUpTo = 0; // loads before are not looked at again
  std::vector<TensorUse> tensors;
  std::vector<int> scalars;
};

} // namespace tw::kernels
