// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/ChildProcess.h"
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tw;

TEST(ChildProcess, AnswersWithAnyBytes) {
  std::string zeros(100'000, '\0'); // more than a pipe holds
  auto end = runInChild({}, [&] { return zeros + "end"; });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->answer, zeros + "end");
  EXPECT_EQ(runInChild({}, [] { return std::string(); })->answer, "");
}

TEST(ChildProcess, SaysHowItEndedWithoutAnswer) {
  auto end = runInChild({}, []() -> std::string { abort(); });
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->answer);
  EXPECT_EQ(end->signal, SIGABRT);
  EXPECT_EQ(end->text(), "signal 6 (Aborted)");
  end = runInChild({}, []() -> std::string { _exit(7); });
  EXPECT_FALSE(end->answer);
  EXPECT_TRUE(end->isInTime);
  EXPECT_EQ(end->text(), "exit status 7");
}

TEST(ChildProcess, EndsWhenItsTimeIsOver) {
  auto end = runInChild({.seconds = 1}, []() -> std::string {
    while (true)
      pause();
  });
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->isInTime);
  EXPECT_FALSE(end->answer);
}

TEST(ChildProcess, DoesNotWriteTwiceWhatWasBufferedBefore) {
  testing::internal::CaptureStdout();
  std::printf("before ");
  auto end = runInChild({}, [] { return std::printf("inside "), std::string("x"); });
  std::printf("behind");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before inside behind");
  EXPECT_TRUE(end->answer);
}
