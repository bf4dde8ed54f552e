// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What configurations for the cpu target have to fit.
#pragma once
#include "Target/CPU/CpuFeatures.h"

namespace tw::target::cpu {

struct VectorUnit {
  int64_t lanes = 4;      // elements of the sum's dtype in a register
  int64_t registers = 16; // that hold vectors
  // The block of a product whose bf16 operands are multiplied in pairs; 0: there are no such
  // instructions.
  int64_t pairRows = 0, pairColumns = 0;
};

/// For sums of `bytes` bytes.
VectorUnit vectorUnit(const CpuFeatures &features, int64_t bytes);

} // namespace tw::target::cpu
