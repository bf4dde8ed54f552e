// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand of bf16 in pairs, for the instructions that multiply pairs (DotPairs.h), where it lies
// otherwise: keys and values of attention, and products of two inputs.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

/// A copy of `from`, [K, N] as `type` says, as [K / 2, N, 2] in scratch. One of its strides is 1: a
/// pair is two neighbours of a row of N, or lies there as it is. K is even, N a multiple of a
/// vector's pairs, and K / 2 at least as many where pairs lie there.
mlir::FailureOr<Memory> packPairs(Emitter &e, const Memory &from, mlir::RankedTensorType type);

} // namespace tw::target::cpu
