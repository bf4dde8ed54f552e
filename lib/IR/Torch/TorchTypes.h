// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch dialect and its types, see TorchBase.td. Several types have the names of builtin ones
// (FloatType, NoneType, TupleType): outside namespace tw::torch write torch::FloatType.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "IR/Torch/TorchDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "IR/Torch/TorchTypes.h.inc"

namespace tw::torch {

/// `!torch.vtensor<[sizes],dtype>`; kUnknownSize stands for "?". Null `dtype` is "unk".
ValueTensorType getValueTensor(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> sizes,
                               mlir::Type dtype);

/// True for either tensor type.
bool isTensor(mlir::Type type);

/// The dtype of either tensor type; null when it is unknown or `type` is no tensor.
mlir::Type tensorDtype(mlir::Type type);

/// Whether a value of type `sub` may stand where `super` is written: the same type, None or the
/// contained type for an optional, more static information for less, a member for a union.
bool isSubtype(mlir::Type sub, mlir::Type super);

} // namespace tw::torch
