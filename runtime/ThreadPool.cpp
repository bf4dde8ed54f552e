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
static std::atomic<uint32_t> forkCount{0};
/// When the library is loaded: before glibc 2.36 nobody registers beside a fork that waits.
[[maybe_unused]] static const int registered =
    pthread_atfork(nullptr, nullptr, [] { forkCount.fetch_add(1); });

ThreadPool::ThreadPool(int threads)
    : forks(forkCount.load()), shares(std::make_unique<Share[]>(size_t(std::max(1, threads)))) {
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

bool ThreadPool::hasThreads() const { return workers.empty() || forks == forkCount.load(); }

void ThreadPool::watch(bool on) {
  noted.assign(static_cast<size_t>(threads()), {});
  isWatched = on;
}

std::vector<std::vector<ThreadPool::Piece>> ThreadPool::takePieces() {
  std::vector<std::vector<Piece>> taken(noted.size());
  taken.swap(noted);
  return taken;
}

void ThreadPool::runPiece(const Taken &piece, int64_t worker) {
  if (!isWatched)
    return piece.body(piece.closure, piece.begin, piece.end, worker);
  int64_t start = nanoseconds();
  piece.body(piece.closure, piece.begin, piece.end, worker);
  std::vector<Piece> &mine = noted[static_cast<size_t>(worker)];
  if (mine.size() == 2 * keptPieces)
    mine.erase(mine.begin(), mine.end() - keptPieces);
  mine.push_back({start, nanoseconds()});
}

void ThreadPool::runAlone(tw_loop_body run, void *context, int64_t all, int64_t grain) {
  constexpr int64_t wanted = 8;
  int64_t size = std::max(grain, all / wanted + (all % wanted != 0));
  isBackwards = !isBackwards && run == lastAlone;
  lastAlone = run;
  if (!isBackwards || size >= all)
    return run(context, 0, all, 0);
  for (int64_t begin = (all - 1) / size * size; begin >= 0; begin -= size)
    run(context, begin, std::min(begin + size, all), 0);
}

void ThreadPool::parallelFor(tw_loop_body newBody, void *newClosure, int64_t newCount,
                             int64_t grain) {
  if (newCount <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  if (workers.empty())
    return runAlone(newBody, newClosure, newCount, grain);
  // Pieces are four to a thread, so that an uneven loop still ends evenly.
  int64_t all = threads(), wanted = std::min<int64_t>(all * 4, int64_t(pieceMask));
  int64_t size = std::max(grain, newCount / wanted + (newCount % wanted != 0));
  if (size >= newCount || busy.exchange(true, std::memory_order_acquire)) {
    newBody(newClosure, 0, newCount, currentWorker());
    return;
  }
  int64_t newPieces = newCount / size + (newCount % size != 0);
  body.store(newBody, std::memory_order_relaxed);
  closure.store(newClosure, std::memory_order_relaxed);
  count.store(newCount, std::memory_order_relaxed);
  pieceSize.store(size, std::memory_order_relaxed);
  pieces.store(newPieces, std::memory_order_relaxed);
  piecesDone.store(0, std::memory_order_relaxed);
  uint64_t loop = number.load(std::memory_order_relaxed) + 1;
  auto firstOf = [&](int64_t worker) { return uint64_t((worker * newPieces + all - 1) / all); };
  for (int64_t i = 0; i < all; ++i)
    shares[size_t(i)].state.store((loop << pieceBits | firstOf(i)) << pieceBits | firstOf(i + 1),
                                  std::memory_order_release);
  number.store(loop);
  wakeWorkers(newPieces - 1);
  doPieces(loop, 0);
  waitForPieces(newPieces);
  busy.store(false, std::memory_order_release);
}

std::optional<ThreadPool::Taken> ThreadPool::take(uint64_t loop, Share &share, bool isFirst) {
  uint64_t seen = share.state.load(std::memory_order_acquire);
  for (;;) {
    auto end = int64_t(seen & pieceMask), begin = int64_t(seen >> pieceBits & pieceMask);
    if (seen >> (2 * pieceBits) != loop || begin == end)
      return std::nullopt;
    int64_t size = pieceSize.load(std::memory_order_relaxed), piece = isFirst ? begin : end - 1;
    Taken taken = {body.load(std::memory_order_relaxed), closure.load(std::memory_order_relaxed),
                   piece * size,
                   std::min(count.load(std::memory_order_relaxed), (piece + 1) * size),
                   pieces.load(std::memory_order_relaxed)};
    uint64_t left = isFirst ? seen + (uint64_t(1) << pieceBits) : seen - 1;
    if (share.state.compare_exchange_weak(seen, left, std::memory_order_acq_rel,
                                          std::memory_order_acquire))
      return taken;
  }
}

void ThreadPool::doPieces(uint64_t loop, int64_t worker) {
  int64_t all = threads();
  for (int64_t i = 0; i < all; ++i)
    while (auto taken = take(loop, shares[size_t((worker + i) % all)], /*isFirst=*/i == 0)) {
      runPiece(*taken, worker);
      if (piecesDone.fetch_add(1) + 1 == taken->pieces && callerSleeps.load()) {
        std::lock_guard lock(mutex);
        loopDone.notify_one();
      }
    }
}

void ThreadPool::work(int64_t worker) {
  uint64_t seen = 0;
  for (;;) {
    uint64_t loop = waitForLoop(seen);
    if (loop == seen)
      return;
    doPieces(loop, worker);
    seen = loop;
  }
}

uint64_t ThreadPool::waitForLoop(uint64_t seen) {
  for (int i = 0; i < spins; ++i) {
    uint64_t loop = number.load(std::memory_order_acquire);
    if (loop != seen)
      return loop;
    if (stopping.load(std::memory_order_relaxed))
      return seen;
    pause();
  }
  std::unique_lock lock(mutex);
  sleepers.fetch_add(1);
  uint64_t loop = seen;
  loopPublished.wait(lock, [&] {
    loop = number.load();
    return loop != seen || stopping.load();
  });
  sleepers.fetch_sub(1);
  return loop;
}

int64_t ThreadPool::currentWorker() const {
  for (size_t i = 0; i < workers.size(); ++i)
    if (workers[i].get_id() == std::this_thread::get_id())
      return static_cast<int64_t>(i) + 1;
  return 0;
}

void ThreadPool::wakeWorkers(int64_t most) {
  // Either this sees the sleeper, or the sleeper, who counts itself first, sees the new number.
  if (sleepers.load() == 0)
    return;
  {
    std::lock_guard lock(mutex);
  }
  if (most >= int64_t(workers.size()))
    return loopPublished.notify_all();
  for (int64_t i = 0; i < most; ++i)
    loopPublished.notify_one();
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
