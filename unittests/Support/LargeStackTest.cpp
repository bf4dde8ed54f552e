// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Cancellation.h"
#include "Support/Limits.h"
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace tw {
namespace {

TEST(LargeStack, TheCallerIsAskedWhileTheActionRuns) {
  Cancellation cancellation;
  std::thread::id asked, ran, caller = std::this_thread::get_id();
  runOnLargeStack(
      [&] {
        ran = std::this_thread::get_id();
        while (!isCancelled(&cancellation))
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      [&] {
        asked = std::this_thread::get_id();
        cancellation.request();
      });
  EXPECT_EQ(asked, caller);
  EXPECT_NE(ran, caller);
}

TEST(LargeStack, AnExceptionIsPassedOn) {
  auto action = [] { throw std::runtime_error("failed"); };
  EXPECT_THROW(runOnLargeStack(action), std::runtime_error);
  EXPECT_THROW(runOnLargeStack(action, [] {}), std::runtime_error);
}

TEST(Cancellation, NobodyNeedsToHaveOne) {
  EXPECT_FALSE(isCancelled(nullptr));
  EXPECT_EQ(Cancellation::error().code, Code::SYSTEM_7);
}

} // namespace
} // namespace tw
