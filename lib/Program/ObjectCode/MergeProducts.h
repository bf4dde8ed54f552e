// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which products and sums become one fused operation. A product whose value is used again
// is not marked `contract`, and must be rounded before each use: x * x - max(x * x) is 0 at the
// maximum. LLVM's MachineCombiner for AArch64 looks at the sum's mark alone, and fuses it all the
// same:
//
//   %p = fmul float %x, %x
//   %d = fsub contract float %p, %most    ; would become fmls
//
// So what both mark is fused here, and no mark is left:
//
//   %p = fmul contract float %x, %y
//   %s = fadd contract float %p, %z       ; fma(%x, %y, %z)
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace tw {

/// For optimised code; where a fused operation is an instruction.
void mergeProducts(llvm::Module &module);

} // namespace tw
