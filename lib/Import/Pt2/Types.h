// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the torch dialect for what an exported program says about its tensors.
#pragma once
#include "IR/Torch/TorchTypes.h"
#include "Import/Pt2/Schema.h"

namespace tw::pt2 {

/// si64, ui8, i1, f32, bf16, ...: element types as the torch dialect spells them.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// The dtype of a vtensor; empty when it is unknown or none of ours.
std::optional<DType> dtypeOf(torch::ValueTensorType type);

/// Complex tensors are imported so that lowering can list the operators on them with all others
/// that are unsupported.
bool isComplex(torch::ValueTensorType type);
/// The error (IMPORT_8) for a dtype that Tilewright does not have; no location.
Diagnostic unsupportedDType(ScalarType dtype);

/// `type` with another element type.
torch::ValueTensorType withDtype(torch::ValueTensorType type, mlir::Type dtype);

/// Errors (IMPORT): a dtype, a layout or sizes that Tilewright does not have; no location.
Result<torch::ValueTensorType> tensorType(mlir::MLIRContext *context, const TensorMeta &meta);

/// `!torch.vtensor`, of which nothing is known: the element type of lists of tensors.
torch::ValueTensorType unknownTensorType(mlir::MLIRContext *context);

} // namespace tw::pt2
