// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/ChildProcess.h"
#include "Support/Limits.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

/// Whether the process is gone within five seconds.
static bool isGone(pid_t process) {
  for (int i = 0; i < 500; ++i, usleep(10'000))
    if (kill(process, 0) != 0 && errno == ESRCH)
      return true;
  return false;
}

/// Starts a process that waits.
static pid_t startSleeper() {
  pid_t sleeper = fork();
  if (sleeper == 0) {
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  return sleeper;
}

TEST(ChildProcess, WhatItStartedEndsWithIt) {
  auto end = runInChild({}, [] { return std::to_string(startSleeper()); });
  ASSERT_TRUE(end && end->answer);
  EXPECT_TRUE(isGone(std::stoi(*end->answer)));
}

TEST(ChildProcess, EndsWithItsParentWhateverEndsThat) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGKILL, SIGSEGV}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
      std::signal(signal, SIG_DFL); // a shell lets what it starts in the background ignore Ctrl-C
      runInChild({}, [&]() -> std::string {
        pid_t processes[] = {getpid(), startSleeper()};
        (void)!write(ends[1], processes, sizeof processes);
        while (true)
          pause();
      });
      _exit(0);
    }
    pid_t processes[2];
    ASSERT_EQ(read(ends[0], processes, sizeof processes), ssize_t(sizeof processes));
    kill(parent, signal);
    int status = 0;
    waitpid(parent, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << signal;
    for (pid_t process : processes)
      EXPECT_TRUE(isGone(process)) << signal;
    close(ends[0]);
    close(ends[1]);
  }
}

TEST(ChildProcess, AnIgnoredSignalDoesNotInterrupt) {
  auto before = std::signal(SIGHUP, SIG_IGN); // as nohup does
  auto end = runInChild({}, []() -> std::string {
    kill(getppid(), SIGHUP);
    usleep(100'000);
    return "done";
  });
  std::signal(SIGHUP, before);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->isInterrupted);
  EXPECT_EQ(end->answer, "done");
}

TEST(ChildProcess, AnInterruptionIsNeverAMistakeOfTheChild) {
  // It may have answered and exited before the signal was seen.
  for (int signal : {0, SIGKILL, SIGSEGV}) {
    auto fault = environmentsFault({.isInterrupted = true, .signal = signal}, "compiling m.pt2");
    ASSERT_TRUE(fault) << signal;
    EXPECT_EQ(fault->render(), "error[TW-SYSTEM-0007]: compiling m.pt2 was interrupted\n"
                               "  help: run the command again\n");
  }
}

TEST(ChildProcess, RunsOnASmallStack) {
  // In a process of its own: a stack that has grown stays.
  auto end = runInChild({}, [] {
    rlimit small = {32 << 10, 32 << 10};
    setrlimit(RLIMIT_STACK, &small);
    auto inner = runInChild({}, [] { return std::string(100'000, 'x'); });
    return std::to_string(inner && inner->answer ? inner->answer->size() : 0);
  });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->answer, "100000");
}

TEST(ChildProcess, ASignalWaitsUntilWorkIsDone) {
  pid_t process = fork();
  if (process == 0) {
    DelayedSignals delayed;
    auto end = runInChild({}, []() -> std::string {
      kill(getppid(), SIGTERM);
      while (true)
        pause();
    });
    sigset_t pending;
    sigpending(&pending);
    if (!end->isInterrupted || end->answer || !sigismember(&pending, SIGTERM))
      _exit(1);
    // Here it ends by that signal.
  }
  if (process == 0)
    _exit(2);
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}
