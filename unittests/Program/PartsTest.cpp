// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/Parts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace tw {
namespace {

/// What each part defines and, behind it as "(name)", declares, in order.
std::vector<std::vector<std::string>> partsOf(const std::string &text, size_t most) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  std::vector<std::vector<std::string>> all;
  for (OwningOpRef<ModuleOp> &part : splitInParts(*module, most)) {
    EXPECT_TRUE(succeeded(verify(*part)));
    auto &names = all.emplace_back();
    for (Operation &op : *part->getBody()) {
      std::string name = SymbolTable::getSymbolName(&op).str();
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      names.push_back(function && function.isExternal() ? "(" + name + ")" : name);
    }
  }
  return all;
}

/// A function of so many additions.
std::string function(const std::string &name, int additions, const std::string &more = "",
                     const std::string &linkage = "") {
  std::string text = "llvm.func " + linkage + " @" + name + "(%p: !llvm.ptr, %x0: i64) {\n" + more;
  for (int i = 0; i < additions; ++i)
    text += "  %x" + std::to_string(i + 1) + " = llvm.add %x" + std::to_string(i) + ", %x0 : i64\n";
  return text + "  llvm.return\n}\n";
}

std::string callOf(const std::string &name) {
  return "  llvm.call @" + name + "(%p, %x0) : (!llvm.ptr, i64) -> ()\n";
}

using Names = std::vector<std::vector<std::string>>;

TEST(Parts, AreEvenAndTheLargestIsFirst) {
  std::string text =
      function("small", 10) + function("large", 90) + function("middle", 60) + function("tiny", 5);
  EXPECT_EQ(partsOf(text, 2), (Names{{"large"}, {"small", "middle", "tiny"}}));
  EXPECT_EQ(partsOf(text, 1), (Names{{"small", "large", "middle", "tiny"}}));
  EXPECT_EQ(partsOf(text, 100), (Names{{"large"}, {"middle"}, {"small"}, {"tiny"}}));
  EXPECT_EQ(partsOf("", 3), (Names{{}}));
}

TEST(Parts, LocalDefinitionsAreWithAllThatUsesThem) {
  // A table is read through an address in a variable, by a function that only its caller sees.
  std::string text = "llvm.mlir.global private constant @table(dense<[1, 2, 3, 4]> : tensor<4xi64>)"
                     " : !llvm.array<4 x i64>\n"
                     "llvm.mlir.global internal @place() : !llvm.ptr {\n"
                     "  %a = llvm.mlir.addressof @table : !llvm.ptr\n"
                     "  llvm.return %a : !llvm.ptr\n}\n" +
                     function("loops", 50,
                              "  %a = llvm.mlir.addressof @place : !llvm.ptr\n"
                              "  %t = llvm.load %a : !llvm.ptr -> !llvm.ptr\n",
                              "internal") +
                     function("kernel", 1, callOf("loops")) + function("other", 20) +
                     function("calls", 1, callOf("other"));
  EXPECT_EQ(partsOf(text, 2), (Names{{"table", "place", "loops", "kernel"}, {"other", "calls"}}));
}

TEST(Parts, DeclareWhatOthersDefine) {
  std::string text = "llvm.func @expf(f32) -> f32\n" + function("shared", 30, "", "weak_odr") +
                     function("first", 20,
                              callOf("shared") + "  %c = llvm.mlir.constant(1.0 : f32) : f32\n"
                                                 "  %e = llvm.call @expf(%c) : (f32) -> f32\n") +
                     function("second", 10, callOf("shared") + callOf("second"));
  EXPECT_EQ(partsOf(text, 3),
            (Names{{"shared"}, {"first", "(shared)", "(expf)"}, {"second", "(shared)"}}));
  EXPECT_EQ(partsOf(text, 1), (Names{{"shared", "first", "second", "(expf)"}}));
}

} // namespace
} // namespace tw
