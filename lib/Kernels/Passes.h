// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Kernels/Contraction.h"
#include <memory>

namespace mlir {
class Pass;
}

namespace tw::kernels {

/// Replaces the functions that dispatches call (tw.kernel) by tile programs, and those dispatches
/// by dispatches of these, where the compiler's kernels cover them. For all others a remark says
/// why, and the function stays for the reference target. `vectorBytes`, `registers`: the vector
/// unit.
std::unique_ptr<mlir::Pass> createTilePrograms(int64_t vectorBytes, int64_t registers);

/// For tilewright-opt: tw-tile-programs for a vector unit of AVX2.
void registerPasses();

} // namespace tw::kernels
