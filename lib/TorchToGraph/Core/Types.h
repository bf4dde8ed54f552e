// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dtypes between the torch dialect (signed), the graph level (signless) and PyTorch's rules of
// promotion.
#pragma once
#include "IR/ElementDType.h"
#include "TorchToGraph/Core/Operand.h"

namespace tw::lower {

/// The signless element type at the graph level: u8 and i8 are i8, bool is i1.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);

inline bool isFloat(DType dtype) { return info(dtype).isFloat; }
inline bool isInteger(DType dtype) { return !isFloat(dtype) && dtype != DType::Bool; }
/// Whether an operation on this dtype is done with unsigned comparison and division.
inline bool isUnsigned(DType dtype) { return dtype == DType::U8 || dtype == DType::Bool; }

/// The dtype in which PyTorch computes: f32 for f16 and bf16, else the dtype itself.
DType opmath(DType dtype);
/// The dtype of sums and other long accumulations: f32 for f16 and bf16, i64 for integers.
DType accumulator(DType dtype);
/// torch.promote_types.
DType promote(DType a, DType b);
/// torch.result_type: tensors with dimensions count before 0-d tensors, those before scalars.
/// Operands that are neither are skipped.
DType promote(mlir::ArrayRef<Operand> operands);
/// `dtype`, or PyTorch's default float (f32) when it is not floating: the result of sqrt, mean, ...
DType floatOf(DType dtype);

} // namespace tw::lower
