// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Limits.h"
#include "tools/tilewright/Commands/Commands.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>

using namespace tw;
using namespace tw::cli;

TEST(Calls, OutputsHaveAnOptionalName) {
  auto call = parseCall({{"f32=1"}, {"@y.npy", "loss=@a=@b.npy"}, {"n=i64=3"}});
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->outputs[0].name, "");
  EXPECT_EQ(call->outputs[0].path, "y.npy");
  EXPECT_EQ(call->outputs[1].name, "loss");
  EXPECT_EQ(call->outputs[1].path, "a=@b.npy");
  EXPECT_EQ(call->expected[0].name, "n");
  EXPECT_EQ(parseCall({{}, {"y.npy"}, {}}).error().code, Code::CLI_1);
}

TEST(Calls, EachNextIsACall) {
  Invocation invocation;
  invocation.nextCalls = {{"--input", "f32=2"}, {}, {"--expected_output=f32=3"}};
  auto calls = parseCalls({{"f32=1"}, {}, {}}, invocation, true);
  ASSERT_TRUE(calls.ok());
  ASSERT_EQ(calls->size(), 4u);
  EXPECT_EQ((*calls)[1].inputs[0].text, "f32=2");
  EXPECT_EQ((*calls)[3].expected[0].text, "f32=3");
  invocation.nextCalls = {{"--output=@y.npy"}};
  EXPECT_TRUE(parseCalls({}, invocation, true).ok());
  EXPECT_EQ(parseCalls({}, invocation, false).error().code, Code::CLI_1);
}

TEST(RunIsolated, GivesTheAnswerOrSaysHowTheChildEnded) {
  EXPECT_EQ(*runIsolated("testing", [] { return 5; }), 5);
  EXPECT_EQ(runIsolated("testing", []() -> int { abort(); }).error().message,
            "the compiler ended without an answer: signal 6 (Aborted)");
  EXPECT_EQ(runIsolated("testing", []() -> int { std::_Exit(7); }).error().message,
            "the compiler ended without an answer: exit status 7");
}

TEST(RunIsolated, WhatTheEnvironmentDoesIsNotOurMistake) {
  auto codeOf = [](const std::function<int()> &action) {
    return runIsolated("testing", action).error().code;
  };
  EXPECT_EQ(codeOf([] { return raise(SIGKILL); }), Code::SYSTEM_7);
  EXPECT_EQ(codeOf([] { return raise(SIGTERM); }), Code::SYSTEM_7);
  EXPECT_EQ(codeOf([] { return raise(SIGBUS); }), Code::SYSTEM_3);
  EXPECT_EQ(codeOf([] { return raise(SIGXCPU); }), Code::SYSTEM_6);
  EXPECT_EQ(codeOf([] { return ::operator new(size_t(1) << 60) != nullptr; }), Code::SYSTEM_1);
  // A limit of CPU time that is hard, too, ends a process with SIGKILL.
  rlimit none, some;
  ASSERT_EQ(getrlimit(RLIMIT_CPU, &none), 0);
  some = none;
  some.rlim_cur = 1000000;
  ASSERT_EQ(setrlimit(RLIMIT_CPU, &some), 0);
  EXPECT_EQ(codeOf([] { return raise(SIGKILL); }), Code::SYSTEM_6);
  ASSERT_EQ(setrlimit(RLIMIT_CPU, &none), 0);
}

/// Needs a frame on the stack for each level.
static int depth(volatile int *last, int levels) {
  volatile int frame[64] = {levels};
  return levels == 0 ? *last : depth(frame, levels - 1) + frame[0];
}

TEST(RunIsolated, AnOverflowingStackIsSeen) {
  auto overflow = [] {
    int result = 0;
    runOnLargeStack([&] {
      volatile int start = 0;
      result = depth(&start, INT_MAX);
    });
    return result;
  };
  EXPECT_EQ(runIsolated("testing", overflow).error().code, Code::SYSTEM_2);
}

TEST(RunIsolated, TemporaryFilesOfTheChildGoWhereverItEnds) {
  auto base = TemporaryFolder::create();
  ASSERT_TRUE(base.ok());
  setenv("TMPDIR", base->path().c_str(), 1);
  auto killed = runIsolated("testing", [] {
    std::ofstream(std::string(std::getenv("TMPDIR")) + "/left") << "x";
    return raise(SIGKILL);
  });
  unsetenv("TMPDIR");
  EXPECT_FALSE(killed.ok());
  EXPECT_TRUE(std::filesystem::is_empty(base->path()));
}
