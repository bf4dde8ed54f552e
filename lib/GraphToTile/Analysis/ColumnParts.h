// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/Value.h"

namespace tw::conversion {

/// In how many equal parts of its last dimension a value of a dispatch is read, by elementwise
/// operations that take an element of each: the gates of a recurrent cell. 1 where it is read in
/// any other way, too.
int64_t columnPartsOf(mlir::Value value);

} // namespace tw::conversion
