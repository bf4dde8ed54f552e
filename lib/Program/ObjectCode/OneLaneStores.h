// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Works around an error of LLVM 22 in code for AVX-512: a masked store of one lane of what is
// truncated stores the lane before it is truncated, and so writes over what is behind it
// (https://github.com/llvm/llvm-project/issues/179489).
#pragma once

namespace llvm {
class Module;
}

namespace tw {

/// Makes ordinary stores of masked ones whose constant masks hold for a single lane.
void storeSingleLanes(llvm::Module &module);

} // namespace tw
