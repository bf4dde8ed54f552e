// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that only say where an element comes from.
#pragma once
#include "Target/CPU/Emitter.h"

namespace tw::target::cpu {

/// The point of the first operand that `op`, a broadcast, reshape, transpose or slice, has at
/// `point`; empty for other operations, and where the lanes would not lie at equal distances.
std::optional<Point> sourcePoint(Emitter &e, mlir::Operation *op, const Point &point);

/// The dimension of the operand that `lane` of the result is (-1: the operand has one element for
/// all lanes); empty when it is none.
std::optional<int> sourceLane(mlir::Operation *op, int lane);

} // namespace tw::target::cpu
