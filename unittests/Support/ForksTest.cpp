// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Forks.h"
#include "Support/Cancellation.h"
#include "Support/Limits.h"
#include "Support/Parallel.h"
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tw {
namespace {

using namespace std::chrono_literals;

/// A part of some work in which a child of a fork would find it.
class Part {
public:
  explicit Part(std::atomic<int> &count) : count(count) { ++count; }
  ~Part() { --count; }
  Part(const Part &) = delete;
  Part &operator=(const Part &) = delete;

private:
  std::atomic<int> &count;
};

/// How many parts were under way in the child of a fork; -1 if it hung or crashed.
int forkDuring(const std::atomic<int> &parts, const std::function<void()> &inChild = [] {}) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    inChild();
    _exit(parts);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Parts of 200 us until `isOver`, asking between them.
void work(std::atomic<int> &parts, const std::atomic<bool> &isOver) {
  Cancellation cancellation;
  while (!isOver && !cancellation.isRequested()) {
    Part part(parts);
    std::this_thread::sleep_for(200us);
  }
}

class Forks : public testing::Test {
protected:
  void startOn(std::function<void()> action) {
    worker = std::thread(std::move(action));
    while (parts == 0)
      std::this_thread::yield();
  }
  ~Forks() override {
    isOver = true;
    if (worker.joinable())
      worker.join();
  }

  std::thread worker;
  std::atomic<int> parts = 0;
  std::atomic<bool> isOver = false;
};

TEST_F(Forks, WaitForTheEndOfAPartButNotOfTheWork) {
  startOn([&] {
    Compiling compiling;
    work(parts, isOver);
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(forkDuring(parts), 0);
}

TEST_F(Forks, WaitForThreadsOfThreads) {
  startOn([&] {
    Compiling compiling;
    runOnLargeStack([&] { onThreads(4, 4, [&](size_t) { work(parts, isOver); }); });
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(forkDuring(parts), 0);
}

TEST_F(Forks, ChildrenCompileAndForkThemselves) {
  startOn([&] {
    Compiling compiling;
    work(parts, isOver);
  });
  EXPECT_EQ(forkDuring(parts,
                       [&] {
                         Compiling compiling;
                         _exit(forkDuring(parts, [] { runOnLargeStack([] {}); }));
                       }),
            0);
}

TEST_F(Forks, SeveralThreadsThatCompileForkAtOnce) {
  std::atomic<int> wrong = 0;
  onThreads(2, 2, [&](size_t) {
    Compiling compiling;
    for (int i = 0; i < 20; ++i) {
      restForForks();
      Resting resting;
      wrong += forkDuring(parts) != 0;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(Forks, DoNotWaitForThreadsThatRest) {
  startOn([&] {
    Compiling compiling;
    Part part(parts);
    Resting resting;
    while (!isOver)
      std::this_thread::sleep_for(1ms);
  });
  EXPECT_EQ(forkDuring(parts), 1);
}

} // namespace
} // namespace tw
