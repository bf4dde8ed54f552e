// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large the values of one kernel may be. A target says it, for what forms dispatches.
#pragma once
#include <cstdint>

namespace tw {

/// In elements. The defaults are those of the options of tw-form-dispatches.
struct FusionLimits {
  int64_t tiny = 1024;      // of results that one thread computes best, with what else is so small
  int64_t row = 1 << 16;    // that a row keeps between the operations of a kernel
  int64_t reread = 1 << 16; // of the other operand of a second product, read again for every row
};

} // namespace tw
