// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the torch dialect for what an exported program says about its tensors.
#pragma once
#include "IR/Torch/TorchTypes.h"
#include "Import/Pt2/Schema/Schema.h"

namespace tw::pt2 {

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
