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
  bool hasSlowThirdLevel = false; // CpuFeatures
  int64_t panelRows = CpuFeatures().panelRows;
  CpuCaches caches;
};

/// Of a block in memory: what a block in registers, a part of it, reads of a row of b.
constexpr int64_t columnsInMemory(const VectorUnit &unit) {
  return (unit.registers >= 32 ? 4 : 2) * unit.lanes;
}

/// For sums of `bytes` bytes.
VectorUnit vectorUnit(const CpuFeatures &features, int64_t bytes);

} // namespace tw::target::cpu
