// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions to and from 16-bit floats that LLVM calls as functions where the CPU has no
// instruction. Programs bring their own, because artifacts import nothing but libc and libm.
#pragma once

namespace llvm {
class Module;
}

namespace tw {

/// Adds the definitions of __truncsfhf2, __extendhfsf2, __truncdfhf2, __truncsfbf2 and
/// __truncdfbf2 to code with 16-bit floats; the linker drops those that nothing calls.
void addSoftFloat(llvm::Module &module);

} // namespace tw
