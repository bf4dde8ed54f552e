// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One subkernel while it is put together: its dimensions, its buffers and how the function's
// tensors become them.
#pragma once
#include "GraphToTile/Analysis/Subkernels/JoinDims.h"
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"
#include <map>

namespace tw::conversion {

/// The element type of a tensor or a scalar; index counts as i64.
std::optional<kernel::DType> dtypeOf(mlir::Type type);

/// Puts the buffers of a loop program, and their tensors, in the order of calls, and takes out what
/// nothing runs along.
void tidy(Subkernel &subkernel);

class SubkernelBuilder {
public:
  SubkernelBuilder(const JoinedDims &joined, const LoopNests &nests)
      : joined(&joined), nests(&nests) {}

  /// The number of the statement.
  int add(Statement statement);
  const LoopProgram &loops() const { return program; }

  /// How a tensor in memory is read, or written; nothing if one dimension is walked along twice.
  std::optional<Access> accessOfMemory(const OperandMap &map, kernel::DType dtype,
                                       bool isOutput = false);
  /// A tensor in memory as it is, for reading single elements.
  int bufferOfTensor(mlir::Value tensor, kernel::DType dtype);
  /// How a value that an operation of the dispatch computes is read or written in the dimensions in
  /// which it is computed; or, `temporary` its number, what stands between subkernels and is as
  /// large.
  Access accessOfValue(mlir::Value value, kernel::DType dtype, bool isOutput = false,
                       int temporary = -1);
  /// The axes of a buffer of known shape from `first` on become one.
  void joinAxes(int buffer, size_t first);
  /// An output begins as an input, of the same shape.
  void beginAs(int output, int input) { program.begin = {input, output}; }
  /// Stores a result to where the value is in memory.
  void store(ResultRef result, mlir::Value value, kernel::DType dtype);
  /// A program has one element of a dimension.
  void takeOneElement(int dim);
  /// Whether that is so for one of these.
  bool takesOneElement(const std::vector<int> &dims) const;
  /// The number of a scalar argument that is passed as `dtype`.
  int scalar(mlir::BlockArgument argument, kernel::DType dtype);

  /// Whether other operations may be added.
  bool isClosed = false;
  void setContraction(Contraction spec);
  const Contraction &contraction() const { return product; }
  void setConvolution(Convolution spec);
  const Convolution &getConvolution() const { return *convolution; }
  /// Its roles name dimensions of `joined`, or are -1 for one of size 1.
  void setAttention(Attention spec) { setStructured(std::move(spec)); }
  void setAttentionGradient(AttentionGradient spec) { setStructured(std::move(spec)); }
  const kernels::AttentionInputs &attentionInputs() const;
  /// The joined dimension of one of the table; -1 if its size is 1, nothing if it was joined with
  /// others.
  std::optional<int> joinedDim(int dim) const;
  /// The size of a dimension of the table; nothing if it was joined with others.
  std::optional<Extent> extentOf(int dim) const;
  /// The buffers so far.
  const std::vector<BufferSpec> &buffers() const { return program.buffers; }

  Subkernel take();
  llvm::SmallVector<mlir::Location> locations;

private:
  /// An attention, or its gradient.
  template <typename Spec>
  void setStructured(Spec spec);
  int buffer(BufferSpec spec, TensorUse use);
  /// How a tensor becomes a buffer, and is walked along.
  struct Placed {
    BufferView view;
    std::vector<Extent> shape;
    std::vector<Axis> axes;
  };
  Placed place(mlir::RankedTensorType type, llvm::ArrayRef<AxisMap> axes, const std::string &name);
  /// The next axis, of size `own`, is one part of the tensor.
  void addPart(Placed &placed, const AxisMap &map, const Extent &own);
  /// The next axis is cut into atoms. `left`: those of the dimension that is still being joined.
  void addAtoms(Placed &placed, llvm::ArrayRef<int> atoms, std::vector<int> &left);
  std::string nameOf(mlir::Value tensor) const;
  void nameDims();

  const JoinedDims *joined;
  const LoopNests *nests;
  LoopProgram program;
  Contraction product;
  std::optional<Convolution> convolution;
  std::variant<std::monostate, Attention, AttentionGradient> attention;
  bool isProduct = false;
  std::vector<TensorUse> tensors;
  std::map<int, std::string> wholeAxes; // for a dimension the size of an axis that it is all of
};

} // namespace tw::conversion
