// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that only say where an element comes from.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

/// The point of the first operand that `op`, a broadcast, reshape, transpose or slice, has at
/// `point`; empty for other operations, and where the lanes would not lie at equal distances.
std::optional<Point> sourcePoint(Emitter &e, mlir::Operation *op, const Point &point);

} // namespace tw::target::cpu
