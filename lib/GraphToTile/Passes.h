// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Kernels/Contraction.h"
#include <memory>

namespace mlir {
class Pass;
}

namespace tw::conversion {

/// What configurations are chosen for.
struct Machine {
  int64_t vectorBytes = 16, registers = 16; // of the vector unit
  int64_t pairRows = 0, pairColumns = 0;    // as in VectorUnit
};

/// Replaces the functions that dispatches call (tw.kernel) by tile programs, and those dispatches
/// by dispatches of these, where tile programs cover them. For all others a remark says
/// why, and the function stays for the reference target.
std::unique_ptr<mlir::Pass> createTilePrograms(const Machine &machine);

/// For tilewright-opt: tw-tile-programs for a vector unit of AVX2.
void registerPasses();

} // namespace tw::conversion
