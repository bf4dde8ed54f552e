// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/Parts.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// What each part defines, in order.
std::vector<std::vector<std::string>> definedIn(const std::string &text, size_t most) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  std::vector<std::vector<std::string>> all;
  for (const llvm::SmallString<0> &part : splitInParts(*module, most)) {
    auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(part, "part"), context);
    EXPECT_TRUE(bool(parsed));
    auto &names = all.emplace_back();
    for (const llvm::GlobalValue &value : (*parsed)->global_values())
      if (!value.isDeclaration())
        names.push_back(value.getName().str());
  }
  return all;
}

/// A function of so many additions.
std::string function(const std::string &name, int additions, const std::string &more = "",
                     const std::string &linkage = "") {
  std::string text = "define " + linkage + " void @" + name + "(ptr %p, i64 %x0) {\n" + more;
  for (int i = 0; i < additions; ++i)
    text += "  %x" + std::to_string(i + 1) + " = add i64 %x" + std::to_string(i) + ", 1\n";
  return text + "  ret void\n}\n";
}

using Names = std::vector<std::vector<std::string>>;

TEST(Parts, AreEvenAndTheLargestIsFirst) {
  std::string text =
      function("small", 10) + function("large", 90) + function("middle", 60) + function("tiny", 5);
  EXPECT_EQ(definedIn(text, 2), (Names{{"large"}, {"small", "middle", "tiny"}}));
  EXPECT_EQ(definedIn(text, 1), (Names{{"small", "large", "middle", "tiny"}}));
  EXPECT_EQ(definedIn(text, 100), (Names{{"large"}, {"middle"}, {"small"}, {"tiny"}}));
}

TEST(Parts, LocalDefinitionsAreWithAllThatUsesThem) {
  // A table is read through an address within a constant, by a function that only its caller sees.
  std::string text = "@table = private constant [4 x i64] [i64 1, i64 2, i64 3, i64 4]\n"
                     "@place = internal global ptr getelementptr (i8, ptr @table, i64 8)\n" +
                     function("loops", 50, "  %t = load ptr, ptr @place\n", "internal") +
                     function("kernel", 1, "  call void @loops(ptr %p, i64 %x0)\n") +
                     function("other", 20) +
                     function("calls", 1, "  call void @other(ptr %p, i64 %x0)\n");
  EXPECT_EQ(definedIn(text, 2), (Names{{"loops", "kernel", "table", "place"}, {"other", "calls"}}));
}

} // namespace
} // namespace tw
