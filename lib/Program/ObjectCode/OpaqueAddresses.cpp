// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/OpaqueAddresses.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"

namespace tw {

/// Smaller expressions can be written in few ways.
static constexpr unsigned leastSize = 16, leastUses = 2;

static bool isWorthHiding(llvm::GetElementPtrInst &address, const llvm::Loop &loop,
                          llvm::ScalarEvolution &evolution) {
  if (!address.hasNUsesOrMore(leastUses) || address.hasAllConstantIndices() ||
      address.getType()->isVectorTy() || loop.isLoopInvariant(&address))
    return false;
  const llvm::SCEV *value = evolution.getSCEV(&address);
  auto *steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(value);
  bool isEven = steps && steps->getLoop() == &loop;
  return !isEven && value->getExpressionSize() >= leastSize;
}

static void hide(llvm::Instruction &address) {
  llvm::IRBuilder<> b(address.getNextNode());
  llvm::Value *hidden = b.CreateStripInvariantGroup(&address);
  address.replaceUsesWithIf(hidden, [&](llvm::Use &use) { return use.getUser() != hidden; });
}

llvm::PreservedAnalyses OpaqueAddresses::run(llvm::Function &function,
                                             llvm::FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  llvm::SmallVector<llvm::Instruction *> addresses;
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost())
      for (llvm::BasicBlock *block : loop->blocks())
        for (llvm::Instruction &instruction : *block)
          if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
              address && isWorthHiding(*address, *loop, evolution))
            addresses.push_back(address);
  for (llvm::Instruction *address : addresses)
    hide(*address);
  return addresses.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

} // namespace tw
