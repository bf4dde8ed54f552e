// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a lowering sees: the operator's arguments by name, a builder, and how to answer.
// docs/lowering.md shows how to write one.
#pragma once
#include "IR/Torch/Torch.h"
#include "TorchToGraph/Core/Operand.h"
#include "TorchToGraph/Core/Sizes.h"
#include "TorchToGraph/Core/Types.h"

namespace tw::lower {

/// What `refuse` returns: may be returned as a failure, or ignored where a builder goes on.
struct Refusal {
  operator mlir::LogicalResult() const { return mlir::failure(); }
};

/// One operator being lowered. Accessors never fail loudly: where an argument is not what they
/// need they refuse the operator (as `refuse` does) and return something harmless, so a lowering
/// reads straight through and ends with `return ctx.done(...)`, which fails if anything refused.
class Lowering {
public:
  Lowering(mlir::OpBuilder &b, mlir::Operation *op, const torch::Schema *schema,
           std::vector<Operand> operands, Sizes &sizes)
      : b(b), loc(op->getLoc()), op(op), schema(schema), operands(std::move(operands)),
        sizeTable(sizes) {}

  mlir::OpBuilder &b; // stands where the new ops go
  const mlir::Location loc;
  mlir::Operation *const op; // the torch op

  /// "torch.aten.add.Tensor".
  llvm::StringRef name() const;
  /// The same without "torch.", for messages.
  std::string shownName() const;

  // -- Arguments, by the schema's names. A name the schema lacks reads as None.
  const Operand &arg(llvm::StringRef name) const;
  const Operand &arg(unsigned position) const { return operands[position]; }
  mlir::ArrayRef<Operand> args() const { return operands; }
  bool has(llvm::StringRef name) const { return !arg(name).isNone(); }

  Tensor tensor(llvm::StringRef name);
  std::optional<Tensor> optTensor(llvm::StringRef name);
  llvm::SmallVector<Tensor> tensors(llvm::StringRef name);                   // Tensor[]
  llvm::SmallVector<std::optional<Tensor>> optTensors(llvm::StringRef name); // Tensor?[]
  /// Any int, float or bool; `fallback` when None.
  Scalar scalar(llvm::StringRef name, double fallback = 0);
  /// A size, offset or count that may be known only at run time.
  mlir::OpFoldResult size(llvm::StringRef name);
  llvm::SmallVector<mlir::OpFoldResult> sizes(llvm::StringRef name);
  /// Constants. None gives `fallback`.
  int64_t integer(llvm::StringRef name, int64_t fallback = 0);
  double number(llvm::StringRef name, double fallback = 0);
  bool flag(llvm::StringRef name, bool fallback = false);
  std::string string(llvm::StringRef name);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name); // int[]; None gives {}
  /// A list of one value a spatial dimension, where one value stands for all; None or an empty
  /// list give `fallback` everywhere.
  llvm::SmallVector<int64_t> perDimension(llvm::StringRef name, int64_t count,
                                          int64_t fallback = 0);
  /// A dimension of a tensor of rank `rank`, wrapped into [0, max(rank, 1)).
  int64_t dim(llvm::StringRef name, int64_t rank, int64_t fallback = 0);
  /// A list of dimensions (or one), wrapped, in ascending order; None and the empty list give all.
  llvm::SmallVector<int64_t> dims(llvm::StringRef name, int64_t rank);

  // -- Results.
  /// The dtype and rank the program says result `i` has.
  DType resultDType(unsigned i = 0);
  int64_t resultRank(unsigned i = 0);
  /// Its static sizes, dynamic ones as ShapedType::kDynamic.
  llvm::SmallVector<int64_t> resultShape(unsigned i = 0);
  /// The same; empty when the program does not say the number of dimensions.
  std::optional<llvm::SmallVector<int64_t>> knownShape(unsigned i = 0) const;
  /// `sizes` with those replaced that the program says are static, if it says any.
  llvm::SmallVector<mlir::OpFoldResult> refined(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                                unsigned i = 0);
  /// Answers: one operand a result (a list for a list). Tensors must have the result's dtype and
  /// rank, as far as the program says them; their static sizes are refined to the program's.
  mlir::LogicalResult done(mlir::ArrayRef<Operand> results);
  mlir::LogicalResult done(const Operand &result) { return done(mlir::ArrayRef<Operand>(result)); }
  /// Reports that this operator with these arguments cannot be compiled, and why ("kernel_size
  /// [2, 3] has ..."): error TW-LOWER-0002 with the arguments as a note. Always failure.
  Refusal refuse(const llvm::Twine &reason);
  bool hasRefused() const { return refused; }

  // -- Building blocks that need the context.
  /// The sizes of a tensor; never call inside the body of another op.
  llvm::SmallVector<mlir::OpFoldResult> sizesOf(const Tensor &tensor) {
    return sizeTable.of(b, loc, tensor.value);
  }
  mlir::OpFoldResult sizeOf(const Tensor &tensor, int64_t dim) { return sizesOf(tensor)[dim]; }
  /// Two sizes that must be equal: refused when they are known to differ, checked at run time when
  /// that is not known.
  void requireEqual(mlir::OpFoldResult x, mlir::OpFoldResult y);
  Sizes &allSizes() { return sizeTable; }
  mlir::Type type(DType dtype) const { return elementType(b.getContext(), dtype); }
  /// An uninitialised tensor to write into.
  Tensor empty(mlir::ArrayRef<mlir::OpFoldResult> sizes, DType dtype);
  /// A tensor whose elements are all `value`.
  Tensor filled(mlir::ArrayRef<mlir::OpFoldResult> sizes, DType dtype, const Scalar &value);
  /// Refuses unless `tensor` has this rank.
  bool needsRank(const Tensor &tensor, int64_t rank, llvm::StringRef what);

  std::vector<Operand> takeResults() { return std::move(results); }

private:
  template <typename T>
  const T *as(llvm::StringRef name, const Operand &operand, const T *held, const char *wanted);
  std::optional<int64_t> constantInt(llvm::StringRef name, const Operand &operand);
  std::optional<Operand> conform(const Operand &operand, mlir::Type torchType);

  const torch::Schema *schema; // null for the dialect's own ops
  std::vector<Operand> operands;
  Sizes &sizeTable;
  std::vector<Operand> results;
  bool refused = false;
};

} // namespace tw::lower
