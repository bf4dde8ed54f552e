// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact runs on a machine that has the runtime and nothing else.
#include "Program.h"
#include "llvm/Object/ELFObjectFile.h"
#include <set>

using namespace tw::test;

TEST_F(Program, ImportsAndExports) {
  build(twice + R"(
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %a = tw.dispatch @twice(%x) outs(%e) : (tensor<4xf32>) outs (tensor<4xf32>) -> tensor<4xf32>
      return %a, %x : tensor<4xf32>, tensor<4xf32>
    })");
  auto file = llvm::object::ObjectFile::createObjectFile(folder + "/program.so");
  ASSERT_TRUE(bool(file));
  auto *elf = llvm::cast<llvm::object::ELFObjectFileBase>(file->getBinary());
  std::set<std::string> imported, exported;
  for (const llvm::object::ELFSymbolRef &symbol : elf->getDynamicSymbolIterators()) {
    bool undefined = llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined;
    (undefined ? imported : exported).insert(llvm::cantFail(symbol.getName()).str());
  }
  imported.erase("");
  EXPECT_EQ(exported, std::set<std::string>{"tilewright_program"});
  for (const std::string &name : imported)
    EXPECT_TRUE((std::set<std::string>{"memcpy", "memmove", "memset"}.contains(name))) << name;
}
