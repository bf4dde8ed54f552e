// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Threads.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace mlir;

namespace tw {
namespace {

class Threads : public testing::Test {
protected:
  /// What was reported, in order, and whether all succeeded.
  std::pair<std::vector<std::string>, bool> run(size_t count,
                                                const std::function<LogicalResult(size_t)> &work) {
    std::vector<std::string> said;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { said.push_back(diagnostic.str()); });
    bool areDone = succeeded(onThreadsInOrder(context, count, work));
    return {said, areDone};
  }
  LogicalResult remark(size_t i) {
    std::string text = std::to_string(i); // gone when it is reported
    return emitRemark(UnknownLoc::get(&context)) << StringRef(text), success();
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_F(Threads, ReportInOrder) {
  std::atomic<bool> isSecondDone = false;
  auto [said, areDone] = run(2, [&](size_t i) {
    // The first waits for the second, where there are cores for both.
    for (int tries = 0; i == 0 && !isSecondDone && tries < 1000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)remark(i);
    isSecondDone = isSecondDone || i == 1;
    return success();
  });
  EXPECT_EQ(said, (std::vector<std::string>{"0", "1"}));
  EXPECT_TRUE(areDone);
  EXPECT_FALSE(context.isMultithreadingEnabled());
}

TEST_F(Threads, NothingIsSaidOfWhatIsBehindTheFirstFailure) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    auto [said, areDone] = run(20, [&](size_t i) {
      (void)remark(i);
      return failure(i >= 3 && i % 2 == 1);
    });
    EXPECT_EQ(said, (std::vector<std::string>{"0", "1", "2", "3"}));
    EXPECT_FALSE(areDone);
  }
}

TEST_F(Threads, MayBeWithinEachOther) {
  auto [said, areDone] = run(20, [&](size_t i) {
    return onThreadsInOrder(context, 30, [&](size_t k) {
      (void)remark(100 * i + k);
      return failure(i == 3 && k == 1);
    });
  });
  std::vector<std::string> expected;
  for (size_t i = 0; i < 4; ++i)
    for (size_t k = 0; k < (i == 3 ? 2 : 30); ++k)
      expected.push_back(std::to_string(100 * i + k));
  EXPECT_EQ(said, expected);
  EXPECT_FALSE(areDone);
}

TEST_F(Threads, MayCreateAttributesAndOperations) {
  auto [said, areDone] = run(50, [&](size_t i) {
    for (int k = 0; k < 200; ++k) {
      OwningOpRef<ModuleOp> module =
          ModuleOp::create(UnknownLoc::get(&context), "m" + std::to_string(i + size_t(k)));
      if (module->getSymName() != "m" + std::to_string(i + size_t(k)))
        return failure();
    }
    return success();
  });
  EXPECT_TRUE(areDone && said.empty());
}

TEST_F(Threads, PassOnExceptions) {
  EXPECT_THROW(run(4,
                   [&](size_t i) {
                     if (i == 2)
                       throw std::runtime_error("no");
                     return success();
                   }),
               std::runtime_error);
  EXPECT_FALSE(context.isMultithreadingEnabled());
}

} // namespace
} // namespace tw
