// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Link/Link.h"
#include "Program/ObjectCode/Machine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include <atomic>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tw {
namespace {

/// Those of a program that does nothing.
std::vector<ObjectFile> makeSomeObjects() {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "llvm.func @tilewright_program() { llvm.return }", &context);
  auto objects = makeObjects(*module, hostInstructionSet(), "");
  EXPECT_TRUE(succeeded(objects));
  return *objects;
}

TEST(Link, ChildrenThatAreForkedWhileAnotherThreadLinksLinkToo) {
  std::vector<ObjectFile> objects = makeSomeObjects();
  std::atomic<bool> isOver = false;
  std::thread linker([&] {
    while (!isOver) {
      Compiling compiling;
      EXPECT_TRUE(linkLibrary(objects));
    }
  });
  for (int i = 0; i < 10 && !testing::Test::HasFailure(); ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30); // ends a child that hangs
      _exit(linkLibrary(objects) ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  isOver = true;
  linker.join();
}

} // namespace
} // namespace tw
