// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the file says that a tensor lies in its memory.
#pragma once
#include "Import/Pt2/Schema/Schema.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallVector.h"

namespace tw::pt2 {

/// The dimensions that lie further inside in memory than `dim`, whose stride is the product of
/// their sizes; nothing where there are gaps, elements overlap, or it is not known.
std::optional<llvm::SmallVector<int64_t>> dimensionsWithin(mlir::MLIRContext *context,
                                                           const TensorMeta &meta, int64_t dim);

/// Whether the tensor lies in its memory row by row from the start.
bool isContiguous(mlir::MLIRContext *context, const TensorMeta &meta);

} // namespace tw::pt2
