// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the threads of a warp give each other without memory.
#pragma once
#include "mlir/IR/Builders.h"

namespace tw::target::nvidia {

inline constexpr int64_t lanesOfWarp = 32;

/// `value`, an integer or float of up to 64 bits, of the lane whose number differs by the bits of
/// `lanes`. All threads of the warp must come here together.
mlir::Value fromLane(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, int64_t lanes);

} // namespace tw::target::nvidia
