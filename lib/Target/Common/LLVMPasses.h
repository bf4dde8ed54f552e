// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's passes over its IR.
#pragma once
#include "Support/Cancellation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class PassBuilder;
class TargetMachine;
} // namespace llvm

namespace tw::target {

/// Runs what `makePasses` makes of a builder for the machine, with all analyses that LLVM has. What
/// has not begun when it is cancelled is left out, but for passes that every code needs.
void runPasses(llvm::Module &module, llvm::TargetMachine &machine,
               llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> makePasses,
               const Cancellation *cancellation = nullptr);

} // namespace tw::target
