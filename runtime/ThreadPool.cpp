// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ThreadPool.h"
#include "runtime/Nanoseconds.h"
#include <algorithm>
#include <csignal>
#include <pthread.h>
#include <sched.h>
#include <system_error>

namespace tw::rt {

int availableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How many forks of processes with pools this process descends from.
static std::atomic<uint32_t> &forkCount() {
  static std::atomic<uint32_t> count{0};
  static int registered = pthread_atfork(nullptr, nullptr, [] { forkCount().fetch_add(1); });
  (void)registered;
  return count;
}

ThreadPool::ThreadPool(int threads) : forks(forkCount().load()) {
  // About 30 us; none when threads must share cores, where spinning steals time from the work.
  spins = threads <= availableCores() ? 1000 : 0;
  // Signals are for the host program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    workers.reserve(std::max(0, threads - 1));
    for (int i = 1; i < threads; ++i)
      workers.emplace_back([this, i] { work(i); });
  } catch (const std::system_error &) {
    // Those that were started do.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex);
    stopping.store(true);
  }
  loopPublished.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

bool ThreadPool::hasThreads() const { return workers.empty() || forks == forkCount().load(); }

void ThreadPool::watch(bool on) {
  noted.assign(static_cast<size_t>(threads()), {});
  isWatched = on;
}

std::vector<std::vector<ThreadPool::Piece>> ThreadPool::takePieces() {
  std::vector<std::vector<Piece>> taken(noted.size());
  taken.swap(noted);
  return taken;
}

void ThreadPool::runPiece(tw_loop_body run, void *context, int64_t begin, int64_t end,
                          int64_t worker) {
  if (!isWatched)
    return run(context, begin, end, worker);
  int64_t start = nanoseconds();
  run(context, begin, end, worker);
  noted[static_cast<size_t>(worker)].push_back({start, nanoseconds()});
}

void ThreadPool::parallelFor(tw_loop_body newBody, void *newClosure, int64_t newCount,
                             int64_t grain) {
  if (newCount <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  // Pieces are four to a thread, so that an uneven loop still ends evenly.
  int64_t wanted = std::min<int64_t>(int64_t(threads()) * 4, int64_t(pieceMask));
  int64_t size = std::max(grain, newCount / wanted + (newCount % wanted != 0));
  if (workers.empty() || size >= newCount || busy.exchange(true, std::memory_order_acquire)) {
    runPiece(newBody, newClosure, 0, newCount, currentWorker());
    return;
  }
  int64_t newPieces = newCount / size + (newCount % size != 0);
  body.store(newBody, std::memory_order_relaxed);
  closure.store(newClosure, std::memory_order_relaxed);
  count.store(newCount, std::memory_order_relaxed);
  pieceSize.store(size, std::memory_order_relaxed);
  pieces.store(newPieces, std::memory_order_relaxed);
  piecesDone.store(0, std::memory_order_relaxed);
  uint64_t number = (ticket.load(std::memory_order_relaxed) >> pieceBits) + 1;
  ticket.store(number << pieceBits | static_cast<uint64_t>(newPieces));
  wakeWorkers();
  takePieces(number, 0);
  waitForPieces(newPieces);
  busy.store(false, std::memory_order_release);
}

void ThreadPool::takePieces(uint64_t number, int64_t worker) {
  uint64_t seen = ticket.load(std::memory_order_acquire);
  for (;;) {
    auto left = static_cast<int64_t>(seen & pieceMask);
    if (seen >> pieceBits != number || left == 0)
      return;
    tw_loop_body run = body.load(std::memory_order_relaxed);
    void *context = closure.load(std::memory_order_relaxed);
    int64_t size = pieceSize.load(std::memory_order_relaxed);
    int64_t end = count.load(std::memory_order_relaxed);
    int64_t all = pieces.load(std::memory_order_relaxed);
    if (!ticket.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
      continue;
    int64_t piece = all - left;
    runPiece(run, context, piece * size, std::min(end, (piece + 1) * size), worker);
    if (piecesDone.fetch_add(1) + 1 == all && callerSleeps.load()) {
      std::lock_guard lock(mutex);
      loopDone.notify_one();
    }
    seen = ticket.load(std::memory_order_acquire);
  }
}

void ThreadPool::work(int64_t worker) {
  uint64_t seen = 0;
  for (;;) {
    uint64_t number = waitForLoop(seen);
    if (number == seen)
      return;
    takePieces(number, worker);
    seen = number;
  }
}

uint64_t ThreadPool::waitForLoop(uint64_t seen) {
  for (int i = 0; i < spins; ++i) {
    uint64_t number = ticket.load(std::memory_order_acquire) >> pieceBits;
    if (number != seen)
      return number;
    if (stopping.load(std::memory_order_relaxed))
      return seen;
    pause();
  }
  std::unique_lock lock(mutex);
  sleepers.fetch_add(1);
  uint64_t number = seen;
  loopPublished.wait(lock, [&] {
    number = ticket.load() >> pieceBits;
    return number != seen || stopping.load();
  });
  sleepers.fetch_sub(1);
  return number;
}

int64_t ThreadPool::currentWorker() const {
  for (size_t i = 0; i < workers.size(); ++i)
    if (workers[i].get_id() == std::this_thread::get_id())
      return static_cast<int64_t>(i) + 1;
  return 0;
}

void ThreadPool::wakeWorkers() {
  // Either this sees the sleeper, or the sleeper, who counts itself first, sees the new ticket.
  if (sleepers.load() == 0)
    return;
  {
    std::lock_guard lock(mutex);
  }
  loopPublished.notify_all();
}

void ThreadPool::waitForPieces(int64_t all) {
  for (int i = 0; i < std::max(spins, 64); ++i) {
    if (piecesDone.load(std::memory_order_acquire) == all)
      return;
    pause();
  }
  std::unique_lock lock(mutex);
  callerSleeps.store(true);
  loopDone.wait(lock, [&] { return piecesDone.load() == all; });
  callerSleeps.store(false);
}

} // namespace tw::rt
