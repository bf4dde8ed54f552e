// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/Optimize.h"
#include "Program/ObjectCode/Machine.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// How many instructions are left of a sum with 0 and a product by 1.
long left(const Cancellation *cancellation) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(R"(
define i64 @k(i64 %x) {
  %sum = add i64 %x, 0
  %product = mul i64 %sum, 1
  ret i64 %product
})",
                                                                   problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(hostInstructionSet());
  if (!module || !machine)
    return -1;
  module->setDataLayout(machine->createDataLayout());
  optimize(*module, *machine, cancellation);
  EXPECT_FALSE(llvm::verifyModule(*module));
  return module->getFunction("k")->getInstructionCount();
}

TEST(Optimize, EndsWhereItIsCancelled) {
  Cancellation cancellation;
  EXPECT_EQ(left(nullptr), 1);
  EXPECT_EQ(left(&cancellation), 1);
  cancellation.request();
  EXPECT_EQ(left(&cancellation), 3);
}

} // namespace
} // namespace tw
