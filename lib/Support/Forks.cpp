// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Forks.h"
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <new>
#include <pthread.h>

namespace tw {
namespace {

struct Threads {
  std::mutex mutex;
  std::condition_variable changed;
  int compiling = 0;
  std::atomic<int> forking = 0; // changed under the mutex
};

Threads threads;
thread_local bool compiles = false;

void begin() {
  assert(!compiles && "a thread compiles once at a time");
  std::unique_lock lock(threads.mutex);
  threads.changed.wait(lock, [] { return threads.forking == 0; });
  ++threads.compiling;
  compiles = true;
}

void end() {
  std::lock_guard lock(threads.mutex);
  compiles = false;
  if (--threads.compiling == 0)
    threads.changed.notify_all();
}

/// Leaves the mutex locked: no thread begins between this and the fork.
void beforeFork() {
  std::unique_lock lock(threads.mutex);
  ++threads.forking;
  if (compiles) {
    --threads.compiling;
    threads.changed.notify_all(); // another thread may fork, too
  }
  threads.changed.wait(lock, [] { return threads.compiling == 0; });
  lock.release();
}

void afterFork() {
  if (compiles)
    ++threads.compiling;
  threads.mutex.unlock();
}

void inParent() {
  --threads.forking;
  threads.changed.notify_all();
  afterFork();
}

void inChild() {
  threads.forking = 0;
  new (&threads.changed) std::condition_variable; // those who wait for it are not here
  afterFork();
}

/// When the library is loaded, not by a thread that compiles: before glibc 2.36 a fork that waits
/// for that thread keeps it from registering.
[[maybe_unused]] const int registered = pthread_atfork(beforeFork, inParent, inChild);

} // namespace

Compiling::Compiling(bool isSo) : isSo(isSo) {
  if (isSo)
    begin();
}

Compiling::~Compiling() {
  if (isSo)
    end();
}

bool isCompiling() { return compiles; }

Resting::Resting() : wasCompiling(compiles) {
  if (wasCompiling)
    end();
}

Resting::~Resting() {
  if (wasCompiling)
    begin();
}

void restForForks() {
  if (compiles && threads.forking.load(std::memory_order_relaxed))
    Resting resting;
}

} // namespace tw
