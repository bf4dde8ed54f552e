// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tw::target {

/// What products of f32 are computed with.
enum class Precision {
  F32,
  TF32, // operands may be rounded to a mantissa of 10 bits
};

} // namespace tw::target
