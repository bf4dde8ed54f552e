// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/OpaqueAddresses.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// How many addresses are hidden in a loop over %i that reads two floats from %address.
long hiddenIn(const std::string &address) {
  std::string text = R"(
define float @k(ptr %x, i64 %a, i64 %b) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
)" + address + R"(
  %behind = getelementptr i8, ptr %address, i64 64
  %first = load float, ptr %address
  %second = load float, ptr %behind
  %both = fadd float %first, %second
  %more = fadd float %sum, %both
  %next = add nuw nsw i64 %i, 1
  %ends = icmp eq i64 %next, 28
  br i1 %ends, label %end, label %loop
end:
  ret float %more
})";
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  if (!module)
    return -1;
  llvm::Function &function = *module->getFunction("k");
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  OpaqueAddresses().run(function, analyses);
  EXPECT_FALSE(llvm::verifyModule(*module));
  return llvm::count_if(llvm::instructions(function), [](llvm::Instruction &instruction) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == llvm::Intrinsic::strip_invariant_group;
  });
}

TEST(OpaqueAddresses, HidesThoseOfQuotientsAndRemainders) {
  EXPECT_EQ(hiddenIn(R"(
  %row = udiv i64 %i, 14
  %column = urem i64 %i, 14
  %line = add i64 %row, %a
  %rows = mul i64 %line, 14336
  %place = add i64 %column, %b
  %columns = mul i64 %place, 1024
  %image = udiv i64 %i, 28
  %images = mul i64 %image, 401408
  %plane = add i64 %rows, %images
  %at = add i64 %plane, %columns
  %address = getelementptr i8, ptr %x, i64 %at)"),
            1);
}

TEST(OpaqueAddresses, KeepsThoseThatStepEvenly) {
  EXPECT_EQ(hiddenIn(R"(
  %line = add i64 %i, %a
  %rows = mul i64 %line, 14336
  %columns = mul i64 %b, 1024
  %at = add i64 %rows, %columns
  %address = getelementptr i8, ptr %x, i64 %at)"),
            0);
}

} // namespace
} // namespace tw
