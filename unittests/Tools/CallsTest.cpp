// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Commands.h"
#include "tools/tilewright/CompilerLibrary.h"
#include <cstdlib>
#include <gtest/gtest.h>

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
  EXPECT_EQ(*runIsolated([] { return 5; }), 5);
  EXPECT_EQ(runIsolated([]() -> int { abort(); }).error().message,
            "the compiler ended without an answer: signal 6 (Aborted)");
  EXPECT_EQ(runIsolated([]() -> int { std::_Exit(7); }).error().message,
            "the compiler ended without an answer: exit status 7");
}
