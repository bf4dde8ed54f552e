// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ThreadPool.h"
#include "runtime/Nanoseconds.h"
#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <utility>

using namespace tw::rt;

/// Calls pool.parallelFor with a C++ function of (begin, end, worker).
template <typename Function>
static void parallelFor(ThreadPool &pool, int64_t count, int64_t grain, Function function) {
  pool.parallelFor([](void *closure, int64_t begin, int64_t end,
                      int64_t worker) { (*static_cast<Function *>(closure))(begin, end, worker); },
                   &function, count, grain);
}

TEST(ThreadPool, EveryIterationRunsOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 64, 1000, 4099})
      for (int64_t grain : {0, 1, 3, 5000}) {
        std::vector<std::atomic<int>> hits(count);
        parallelFor(pool, count, grain, [&](int64_t begin, int64_t end, int64_t worker) {
          EXPECT_TRUE(worker >= 0 && worker < pool.threads());
          EXPECT_TRUE(begin < end && (end - begin >= grain || end == count));
          for (int64_t i = begin; i < end; ++i)
            ++hits[i];
        });
        for (auto &hit : hits)
          EXPECT_EQ(hit, 1);
      }
  }
}

TEST(ThreadPool, WorkersBeginWithTheSamePartOfEachLoop) {
  constexpr int threads = 3;
  ThreadPool pool(threads);
  for (int loop = 0; loop < 100; ++loop) {
    std::atomic<int> began{0};
    std::vector<int64_t> first(threads, -1); // piece of each worker
    parallelFor(pool, 4 * threads, 1, [&](int64_t begin, int64_t, int64_t worker) {
      if (first[worker] >= 0)
        return;
      first[worker] = begin;
      for (++began; began < threads;) // until all have one
        std::this_thread::yield();
    });
    EXPECT_EQ(first, (std::vector<int64_t>{0, 4, 8}));
  }
}

TEST(ThreadPool, ABodyThatRunsAgainAloneBeginsWhereItEnded) {
  ThreadPool pool(1);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  auto loop = [&](int64_t begin, int64_t end, int64_t) { ranges.push_back({begin, end}); };
  auto other = [&](int64_t begin, int64_t end, int64_t) { ranges.push_back({begin, end}); };
  using Ranges = decltype(ranges);
  auto take = [&] { return std::exchange(ranges, {}); };
  parallelFor(pool, 10, 4, loop);
  EXPECT_EQ(take(), (Ranges{{0, 10}}));
  parallelFor(pool, 10, 4, loop);
  EXPECT_EQ(take(), (Ranges{{8, 10}, {4, 8}, {0, 4}}));
  parallelFor(pool, 10, 4, loop);
  EXPECT_EQ(take(), (Ranges{{0, 10}}));
  parallelFor(pool, 10, 4, other); // another one
  EXPECT_EQ(take(), (Ranges{{0, 10}}));
  parallelFor(pool, 10, 10, other); // in one piece
  EXPECT_EQ(take(), (Ranges{{0, 10}}));
}

TEST(ThreadPool, NotesThePiecesOfLoops) {
  ThreadPool pool(3);
  auto nothing = [](int64_t, int64_t, int64_t) {};
  parallelFor(pool, 100, 1, nothing); // before it is watched
  pool.watch(true);
  parallelFor(pool, 100, 1, nothing);
  parallelFor(pool, 1, 1, nothing); // by its caller alone
  auto noted = pool.takePieces();
  ASSERT_EQ(noted.size(), 3);
  size_t pieces = 0;
  for (const auto &worker : noted) {
    pieces += worker.size();
    for (size_t i = 0; i < worker.size(); ++i) {
      EXPECT_LE(worker[i].begin, worker[i].end);
      EXPECT_TRUE(i == 0 || worker[i - 1].end <= worker[i].begin);
    }
  }
  EXPECT_EQ(pieces, 12); // four for each thread
  pool.watch(false);
  parallelFor(pool, 100, 1, nothing);
  for (const auto &worker : pool.takePieces())
    EXPECT_TRUE(worker.empty());
}

TEST(ThreadPool, KeepsTheLatestPieces) {
  ThreadPool pool(2);
  auto nothing = [](int64_t, int64_t, int64_t) {};
  pool.watch(true);
  for (size_t i = 0; i < 3 * ThreadPool::keptPieces / 2; ++i)
    parallelFor(pool, 8, 1, nothing);
  int64_t last = nanoseconds();
  parallelFor(pool, 8, 1, nothing);
  auto noted = pool.takePieces();
  ASSERT_EQ(noted.size(), 2);
  int64_t latest = 0;
  for (const auto &pieces : noted) {
    EXPECT_LE(pieces.size(), 2 * ThreadPool::keptPieces);
    EXPECT_TRUE(std::ranges::is_sorted(pieces, {}, &ThreadPool::Piece::begin));
    latest = std::max(latest, pieces.empty() ? 0 : pieces.back().begin);
  }
  EXPECT_GE(std::max(noted[0].size(), noted[1].size()), ThreadPool::keptPieces);
  EXPECT_GE(latest, last);
}

// What one loop writes without synchronisation, the next reads: under ThreadSanitizer this shows
// that loops are ordered.
TEST(ThreadPool, LoopsFollowEachOther) {
  ThreadPool pool(4);
  std::vector<int64_t> data(256);
  constexpr int loops = 3000;
  for (int loop = 0; loop < loops; ++loop) {
    parallelFor(pool, 256, 1, [&](int64_t begin, int64_t end, int64_t) {
      for (int64_t i = begin; i < end; ++i)
        ++data[i];
    });
    if (loop % 500 == 0) // long enough for the workers to fall asleep
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (int64_t value : data)
    EXPECT_EQ(value, loops);
}

TEST(ThreadPool, WorkersDoNotShareTheirWorkspace) {
  ThreadPool pool(4);
  std::vector<int64_t> workspace(pool.threads() * 8); // unsynchronised on purpose
  for (int loop = 0; loop < 500; ++loop)
    parallelFor(pool, 64, 1, [&](int64_t begin, int64_t end, int64_t worker) {
      workspace[worker * 8] += end - begin;
    });
  int64_t sum = 0;
  for (int64_t part : workspace)
    sum += part;
  EXPECT_EQ(sum, 500 * 64);
}

TEST(ThreadPool, NestedLoopsRunInline) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  parallelFor(pool, 12, 1, [&](int64_t begin, int64_t end, int64_t worker) {
    for (int64_t i = begin; i < end; ++i)
      parallelFor(pool, 10, 1, [&](int64_t b, int64_t e, int64_t inner) {
        EXPECT_EQ(inner, worker);
        sum += e - b;
      });
  });
  EXPECT_EQ(sum, 120);
}

TEST(ThreadPool, ComesAndGoes) {
  for (int i = 0; i < 50; ++i) {
    auto pool = std::make_unique<ThreadPool>(3);
    std::atomic<int64_t> sum{0};
    if (i % 2)
      parallelFor(*pool, 100, 1, [&](int64_t begin, int64_t end, int64_t) { sum += end - begin; });
    EXPECT_EQ(sum, i % 2 ? 100 : 0);
  }
}
