// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions (all kinds of matrix products) as one linalg.generic whose indexing maps say what is
// transposed.
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Sums a * b over the labels that `out` lacks, as einsum does: contract(ctx, {x, "mk"}, {w, "nk"},
/// "mn", ...). Labels are letters, one a dimension; a dimension of static size 1 whose label is
/// larger elsewhere is repeated. Operands are cast to `accumulate` in the body; the result has that
/// dtype and is not rounded. A transposed operand is read through its transpose.
struct Labelled {
  Tensor tensor;
  std::string labels;
};
Tensor contract(Lowering &ctx, Labelled a, Labelled b, llvm::StringRef out, DType accumulate);

/// The dtype in which products of these dtypes are summed: f32 for f16 and bf16, the dtype itself
/// otherwise.
inline DType contractDType(DType dtype) { return opmath(dtype); }

/// torch.matmul in contractDType of the operands' dtype: vectors, matrices, broadcast batches.
Tensor matmul(Lowering &ctx, const Tensor &a, const Tensor &b);

} // namespace tw::lower
