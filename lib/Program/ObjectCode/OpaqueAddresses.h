// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop strength reduction, LLVM's first pass of code generation, writes the addresses of a loop in
// all ways that it finds and chooses the best. For an address that steps evenly this makes one
// pointer that is incremented. For one that does not, because it has quotients and remainders of
// the loop's variable, nothing is gained, but there are most ways to write it: eight vectors each
// from four rows of an image took 70 ms.
#pragma once
#include "llvm/IR/PassManager.h"

namespace tw {

/// Keeps loop strength reduction from looking into addresses that several accesses share and that
/// do not step evenly. CodeGenPrepare removes what hides them.
struct OpaqueAddresses : llvm::PassInfoMixin<OpaqueAddresses> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tw
