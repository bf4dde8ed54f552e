// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target as a pass, for tilewright-opt and tests. The compiler itself calls the target
// (Target.h).
#pragma once
#include "Target/Target.h"

namespace tw::target {

/// Registers a pass, of this name, that replaces every function with `tw.kernel` of a module by the
/// llvm.func's that the target makes of it.
void registerLowerKernels(llvm::StringRef pass, std::unique_ptr<Target> (*createTarget)());

} // namespace tw::target
