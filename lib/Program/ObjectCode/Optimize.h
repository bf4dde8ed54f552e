// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM's passes over its IR are to do for code that the targets wrote.
#pragma once
#include "Support/Cancellation.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tw {

/// Optimises a module for its machine: little where that has a low level of optimisation, and not
/// to the end where it is cancelled.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              const Cancellation *cancellation = nullptr);

} // namespace tw
