// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/WriteCode.h"
#include "Program/ObjectCode/Machine.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// What becomes of a function of one block with so many pairs of a sum and a product.
class WriteCode : public testing::Test {
protected:
  bool write(unsigned pairs, const Cancellation *cancellation) {
    auto machine = makeMachine(hostInstructionSet());
    module.setDataLayout(machine->createDataLayout());
    module.setTargetTriple(machine->getTargetTriple());
    llvm::IRBuilder<> b(context);
    function = llvm::Function::Create(
        llvm::FunctionType::get(b.getInt64Ty(), {b.getInt64Ty(), b.getInt64Ty()}, false),
        llvm::Function::ExternalLinkage, "k", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
    llvm::Value *room = b.CreateAlloca(b.getInt64Ty()), *value = function->getArg(0);
    for (unsigned i = 0; i < pairs; ++i)
      value = b.CreateMul(b.CreateAdd(value, function->getArg(1)), value);
    b.CreateStore(value, room, /*isVolatile=*/true);
    b.CreateRet(value);
    llvm::raw_svector_ostream stream(code);
    bool isWritten = target::writeCode(module, *machine, stream, llvm::CodeGenFileType::ObjectFile,
                                       cancellation);
    EXPECT_FALSE(llvm::verifyFunction(*function, &llvm::errs()));
    return isWritten;
  }

  llvm::LLVMContext context;
  llvm::Module module{"k", context};
  llvm::Function *function = nullptr;
  llvm::SmallString<0> code;
};

TEST_F(WriteCode, LeavesUsualBlocks) {
  EXPECT_TRUE(write(target::mostOfBlock / 2 - 2, nullptr));
  EXPECT_EQ(function->size(), 1U);
  EXPECT_FALSE(code.empty());
}

TEST_F(WriteCode, SplitsLongBlocks) {
  EXPECT_TRUE(write(target::mostOfBlock * 2, nullptr));
  EXPECT_EQ(function->size(), 5U);
  for (const llvm::BasicBlock &block : *function)
    EXPECT_LE(block.size(), target::mostOfBlock + 1);
  EXPECT_FALSE(code.empty());
}

TEST_F(WriteCode, EndsWhereItIsCancelled) {
  Cancellation cancellation;
  cancellation.request();
  EXPECT_FALSE(write(target::mostOfBlock * 2, &cancellation));
  EXPECT_EQ(function->getInstructionCount(), 1U); // nothing to select, and to allocate
}

} // namespace
} // namespace tw
