// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's passes over its IR.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class PassBuilder;
class TargetMachine;
} // namespace llvm

namespace tw::target {

/// Runs what `makePasses` makes of a builder for the machine, with all analyses that LLVM has.
void runPasses(llvm::Module &module, llvm::TargetMachine &machine,
               llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> makePasses);

} // namespace tw::target
