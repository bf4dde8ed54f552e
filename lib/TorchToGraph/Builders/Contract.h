// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions (all kinds of matrix products) as one linalg.generic whose indexing maps say what is
// transposed.
#pragma once
#include "TorchToGraph/Core/Lowering.h"
#include <map>

namespace tw::lower {

/// A tensor with a letter for each dimension. A dimension of static size 1 whose label is larger
/// elsewhere is repeated.
struct Labelled {
  Tensor tensor;
  std::string labels;
};

/// Operands of one iteration space, whose dimensions have a label each. Operands that are
/// transposes are replaced by what they are transposes of.
class LabelledLoops {
public:
  /// The sizes of a label must agree where it is not repeated, or the operator is refused.
  LabelledLoops(Lowering &ctx, llvm::MutableArrayRef<Labelled> operands, std::string labels);
  llvm::SmallVector<mlir::OpFoldResult> sizes(llvm::StringRef of) const;
  mlir::AffineMap mapOf(const Labelled &operand) const;

private:
  mlir::MLIRContext *context;
  std::string labels; // of the dimensions, in order
  std::map<char, mlir::OpFoldResult> sizeOf;
};

/// Sums a * b over the labels that `out` lacks, as einsum does: contract(ctx, {x, "mk"}, {w, "nk"},
/// "mn", ...). Operands are cast to `accumulate` in the body; the result has that dtype and is not
/// rounded. A transposed operand is read through its transpose.
Tensor contract(Lowering &ctx, Labelled a, Labelled b, llvm::StringRef out, DType accumulate);

/// The dtype in which products of these dtypes are summed: f32 for f16 and bf16, the dtype itself
/// otherwise.
inline DType contractDType(DType dtype) { return opmath(dtype); }

/// torch.matmul in contractDType of the operands' dtype: vectors, matrices, broadcast batches.
Tensor matmul(Lowering &ctx, const Tensor &a, const Tensor &b);

} // namespace tw::lower
