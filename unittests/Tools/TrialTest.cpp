// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates that are at fault, each in its own way: an entry in the log, and not the search's end.
#include "tools/tilewright/Tune/Trial.h"
#include "Support/ChildProcess.h"
#include "tools/tilewright/Tune/CandidateLimits.h"
#include "tools/tilewright/Tune/CompileCandidate.h"
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

namespace tw::cli {
namespace {

HostTensor floats(std::initializer_list<float> values) {
  auto made = HostTensor::create(DType::F32, {int64_t(values.size())});
  std::ranges::copy(std::as_bytes(std::span(values)), made->bytes().begin());
  return *std::move(made);
}

std::vector<KnownCall> calls() {
  std::vector<KnownCall> made(1);
  made[0].what = "as given";
  made[0].inputs.push_back(floats({1, 2, 3, 4}));
  made[0].expected.push_back({"output", "y", floats({2, 4, 6, 8})});
  return made;
}

/// Of what hangs. Everything else ends by itself, however busy the machine is.
constexpr int untilGivenUp = 2, inAnyCase = 600;

int secondsFor(std::string_view what) { return what == "hang" ? untilGivenUp : inAnyCase; }

/// Of the artifact by hand whose faults TW_FAULT names.
TrialResult tryOut(const char *fault, int pairs = 0) {
  TrialOptions options;
  options.pairs = pairs;
  options.seconds = secondsFor(fault);
  setenv("TW_FAULT", fault, 1);
  std::string artifact = TW_FAKE_ARTIFACTS "/faulty.so";
  auto result = runTrial(artifact, artifact, calls(), options);
  EXPECT_TRUE(result.ok()) << result.error().render();
  return *std::move(result);
}

TEST(Trial, FaultsAreTheCandidates) {
  for (auto [fault, what] :
       {std::pair("crash", "it ended with signal 6 (Aborted)"),
        {"hang", "it took longer than 2 s"},
        {"memory", "it ended with signal 6 (Aborted)"},
        {"wrong", "inputs as given: output y: 1 of 4 elements differs"},
        {"unsteady", "inputs as given: output y differs from one call to the next"}}) {
    TrialResult result = tryOut(fault);
    EXPECT_TRUE(result.fault.starts_with(what)) << fault << ": " << result.fault;
    EXPECT_FALSE(result.isInterrupted);
    EXPECT_TRUE(result.candidate.call.empty());
  }
  EXPECT_NE(tryOut("refuse").fault, "");
}

TEST(Trial, WhatIsRightIsTimed) {
  TrialResult result = tryOut("none", 3);
  EXPECT_EQ(result.fault, "");
  EXPECT_GE(result.candidate.call.size(), 3u);
  EXPECT_EQ(result.candidate.call.size(), result.start.call.size());
}

/// A signal to the search is no fault of the candidate that it ends.
TEST(Trial, AnInterruptedOneIsNotAtFault) {
  auto before = std::signal(SIGINT, [](int) {});
  {
    DelayedSignals delayed;
    std::raise(SIGINT);
    TrialResult result = tryOut("hang");
    EXPECT_TRUE(result.isInterrupted);
    EXPECT_EQ(result.fault, "");
  }
  std::signal(SIGINT, before);
}

TEST(Trial, WhatIsLoadedFirstIsNoFaster) {
  TrialResult result = tryOut("place", 7);
  EXPECT_EQ(result.fault, "");
  tune::TimeRatio ratio = tune::compareTimes(result.candidate.call, result.start.call);
  EXPECT_GE(result.start.call.size(), 7u);
  EXPECT_LT(ratio.low, 1);
  EXPECT_GT(ratio.high, 1);
}

TEST(Trial, DriftOfTheMachineIsSaid) {
  EXPECT_EQ(driftText(100, 0), "");
  EXPECT_EQ(driftText(100, 105), "");
  EXPECT_EQ(driftText(100, 95), "");
  EXPECT_NE(driftText(100, 150).find("took 100.0 us before and 150.0 us after"), std::string::npos);
  EXPECT_NE(driftText(150, 100), "");
}

TEST(Trial, SaysThatTwoComparisonsDisagree) {
  EXPECT_EQ(disagreementText({0.9, 0.85, 0.95}, {0.96, 0.94, 0.99}), "");
  EXPECT_EQ(disagreementText({0.9, 0.89, 0.91}, {0.92, 0.92, 0.93}), "");
  EXPECT_NE(disagreementText({0.62, 0.6, 0.65}, {0.998, 0.997, 0.998})
                .find("takes 0.998 of the time instead of 0.620"),
            std::string::npos);
  EXPECT_NE(disagreementText({0.998, 0.997, 0.998}, {0.62, 0.6, 0.65}), "");
}

TEST(Trial, MoreThanTheRooflineIsSaid) {
  EXPECT_EQ(rooflineText(0.7), "");
  EXPECT_EQ(rooflineText(1.05), "");
  EXPECT_NE(rooflineText(3.61).find("a kernel reaches 361 % of the roofline"), std::string::npos);
}

/// Compiles a model for the compiler that stands in, whose first line says what happens.
Result<CandidateProgram> compileFake(const std::string &line) {
  auto folder = TemporaryFolder::create();
  EXPECT_TRUE(folder.ok());
  ModelOptions model;
  model.model = folder->path() + "/model";
  std::ofstream(model.model) << line << "\n";
  setenv("TILEWRIGHT_COMPILER", TW_FAKE_COMPILER, 1);
  return compileCandidate(model, "{}", *folder, "candidate", secondsFor(line));
}

TEST(CompileCandidate, FaultsAreRefusals) {
  for (auto [line, what] :
       {std::pair("crash", "the compiler ended without an answer: signal 6 (Aborted)"),
        {"hang", "compiling a candidate took longer than 2 s"},
        {"outgrow", "there is not enough memory for compiling a candidate"},
        {"rows = 100", "error[TW-IMPORT-0001]: "}}) {
    auto made = compileFake(line);
    ASSERT_TRUE(made.ok()) << made.error().render();
    EXPECT_TRUE(made->refusal.starts_with(what)) << line << ": " << made->refusal;
  }
  auto made = compileFake(std::string("artifact ") + TW_FAKE_ARTIFACTS "/faulty.so");
  ASSERT_TRUE(made.ok()) << made.error().render();
  EXPECT_EQ(made->refusal, "");
}

/// A disk that is full says nothing of a candidate, which would be refused for ever.
TEST(CompileCandidate, WhatTheMachineLacksIsNoRefusal) {
  auto made = compileFake("full");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::SYSTEM_3);
  EXPECT_NE(made.error().help, "");
}

TEST(CandidateLimits, FollowTheStartUnlessTheyAreGiven) {
  EXPECT_EQ(secondsForCandidate({}, 0), 30);
  EXPECT_EQ(secondsForCandidate({}, 10), 230);
  EXPECT_EQ(secondsForCandidate(5, 10), 5);
  auto few = memoryForCandidate({}), many = memoryForCandidate({TW_FAKE_ARTIFACTS "/faulty.so"});
  EXPECT_EQ(few.has_value(), many.has_value());
}

} // namespace
} // namespace tw::cli
