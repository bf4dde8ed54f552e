// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM selects and schedules the instructions of one block at a time, in time that grows with the
// square of their number: blocks of long kernels are split just before. (Before the whole code
// generator, its first passes would join them again.)
#include "Target/Common/WriteCode.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tw::target {
namespace {

bool isLong(const llvm::BasicBlock &block) { return block.size() > mostOfBlock; }

bool hasLongBlocks(const llvm::Module &module) {
  return llvm::any_of(
      module, [](const llvm::Function &function) { return llvm::any_of(function, isLong); });
}

/// Splits a block from its end on, so that each instruction is moved once. Its phis stay with
/// their block, and so does what takes room on the stack.
void split(llvm::BasicBlock &block) {
  llvm::SmallVector<llvm::Instruction *> firsts; // of the parts but the first
  unsigned count = 0;
  for (llvm::Instruction &instruction : block) {
    if (llvm::isa<llvm::AllocaInst>(instruction))
      firsts.clear();
    if (++count % mostOfBlock == 0 && !llvm::isa<llvm::PHINode>(instruction))
      firsts.push_back(&instruction);
  }
  for (llvm::Instruction *first : llvm::reverse(firsts))
    block.splitBasicBlock(first);
}

/// What the code generator gets: blocks that are not too long; nothing, where it is cancelled.
class PrepareLongFunctions : public llvm::FunctionPass {
public:
  explicit PrepareLongFunctions(const Cancellation *cancellation)
      : FunctionPass(id), cancellation(cancellation) {}

  bool runOnFunction(llvm::Function &function) override {
    if (isCancelled(cancellation)) {
      llvm::changeToUnreachable(&function.getEntryBlock().front());
      llvm::removeUnreachableBlocks(function);
      return true;
    }
    llvm::SmallVector<llvm::BasicBlock *> blocks;
    for (llvm::BasicBlock &block : function)
      if (isLong(block))
        blocks.push_back(&block);
    for (llvm::BasicBlock *block : blocks)
      split(*block);
    return !blocks.empty();
  }

private:
  static char id;
  const Cancellation *cancellation;
};

char PrepareLongFunctions::id;

/// The passes of a code generator, with one more behind those on LLVM's IR.
class Passes : public llvm::legacy::PassManager {
public:
  explicit Passes(const Cancellation *cancellation) : cancellation(cancellation) {}
  void add(llvm::Pass *pass) override {
    bool isLastOfIR = pass->getPassName() == "CodeGen Prepare";
    PassManager::add(pass);
    if (isLastOfIR)
      PassManager::add(new PrepareLongFunctions(cancellation)); // owns it
  }

private:
  const Cancellation *cancellation;
};

} // namespace

bool writeCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &stream,
               llvm::CodeGenFileType kind, const Cancellation *cancellation) {
  // Others do without: LLVM would find out once more what it knows of their loops.
  Passes longPasses(cancellation);
  llvm::legacy::PassManager usualPasses;
  llvm::legacy::PassManager &passes = hasLongBlocks(module) ? longPasses : usualPasses;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return false;
  passes.run(module);
  return !isCancelled(cancellation);
}

} // namespace tw::target
