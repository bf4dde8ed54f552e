// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large the values of one kernel may be, and where what it reads may begin. A target says it,
// for what forms dispatches.
#pragma once
#include <cstdint>

namespace tw {

/// In elements. The defaults are those of the passes' options.
struct FusionLimits {
  int64_t tiny = 1024;      // of results that one thread computes best, with what else is so small
  int64_t row = 1 << 16;    // that a row keeps between the operations of a kernel
  int64_t reread = 1 << 16; // of the other operand of a second product, read again for every row
  int64_t alignment = 1;    // bytes at multiples of which a part of a tensor that it reads begins
};

} // namespace tw
