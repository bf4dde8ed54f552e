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

class PieceBuilder {
public:
  PieceBuilder(const JoinedDims &joined, const LoopNests &nests) : joined(&joined), nests(&nests) {}

  int add(Step step);
  const Step &step(int number) const { return program.steps[number]; }

  /// How an argument is read; nothing if one dimension is walked along twice.
  std::optional<Access> accessOfArgument(const OperandWalk &walk, kernel::DType dtype);
  /// An argument as it is, for reading single elements.
  int bufferOfArgument(mlir::BlockArgument argument, kernel::DType dtype);
  /// How value `number`, which an operation of the dispatch computes, is read or written;
  /// `destination`: the argument that it is to be written to, -1: none.
  Access accessOfValue(mlir::Value value, int number, kernel::DType dtype, bool isOutput = false,
                       int destination = -1);
  /// The number of a scalar argument.
  int scalar(mlir::BlockArgument argument, kernel::DType dtype);

  bool isContraction() const { return isProduct; }
  void setContraction(Contraction spec);
  const Contraction &contraction() const { return product; }

  Piece take();
  llvm::SmallVector<mlir::Location> locations;

private:
  int buffer(BufferSpec spec, TensorUse use);
  std::vector<int> sortBuffers(std::vector<BufferSpec> &buffers);
  BufferView viewOf(mlir::RankedTensorType type, llvm::ArrayRef<AxisWalk> axes,
                    std::vector<Extent> &shape, std::vector<Axis> &access, int argument) const;

  const JoinedDims *joined;
  const LoopNests *nests;
  LoopProgram program;
  Contraction product;
  bool isProduct = false;
  std::vector<TensorUse> tensors;
  std::vector<int> scalars;
};

} // namespace tw::kernels
