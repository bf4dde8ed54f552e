// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/DType.h"
#include "mlir/IR/Types.h"

namespace tw {

/// The dtype of elements of this builtin type: signless and signed integers are signed, an i1 is a
/// bool; of an index i64. Empty where there is none, and for null.
std::optional<DType> dtypeOf(mlir::Type element);

} // namespace tw
