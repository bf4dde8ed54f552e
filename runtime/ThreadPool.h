// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fork-join threads for the parallel loops of one instance. The caller takes part in its loop, and
// a loop is over when its pieces are done, not when all workers have woken: a sleeping worker never
// delays anybody. Workers spin briefly between loops, because the next one is often microseconds
// away, then sleep.
#pragma once
#include "runtime/ProgramABI.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tw::rt {

class ThreadPool {
public:
  /// A pool in which `threads` threads take part, the caller included. Fewer when the system
  /// refuses to start more.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return static_cast<int>(workers.size()) + 1; }
  /// False in the child of a fork, which has none of its parent's threads: the pool is then neither
  /// to be used nor to be destroyed.
  bool hasThreads() const;

  /// Runs body over [0, count) in pieces of at least `grain` iterations and returns when all are
  /// done; `worker` of a body is in [0, threads()), 0 for the caller. Called from inside a body it
  /// runs inline, as the same worker. Does nothing when count <= 0.
  void parallelFor(tw_loop_body body, void *closure, int64_t count, int64_t grain);

  /// What one thread did without a pause, in ns of a monotonic clock.
  struct Piece {
    int64_t begin, end;
  };
  /// So many pieces of a worker are kept at least, the latest ones, and at most twice as many: a
  /// loop has four to eight, and who watches shows some ten thousand loops.
  static constexpr size_t keptPieces = 100'000;
  /// Begins to note the pieces of loops that are shared, or stops; not while a loop runs. Those of
  /// a loop that its caller runs alone are not noted: who called it knows when that was, and a
  /// small loop takes no longer than the clock.
  void watch(bool on);
  /// What has been noted and kept, by worker, and is forgotten now; not while a loop runs.
  std::vector<std::vector<Piece>> takePieces();

private:
  // A loop is published by writing its fields, which of its pieces each worker is to begin with,
  // and then its number. Taking a piece is a compare-and-swap of a share with the loop's number in
  // it, so nobody takes from a loop that is over; and as long as a piece of a loop is not done, its
  // fields stay as they are.
  //
  // A worker takes its own pieces from the first on, then those of others from the last. So it has
  // the same part of loops that follow each other, and finds in its caches what it had there: the
  // weights of a recurrent layer, a part of what the loop before has written.
  static constexpr int pieceBits = 12;
  static constexpr uint64_t pieceMask = (uint64_t(1) << pieceBits) - 1;
  struct alignas(64) Share {
    std::atomic<uint64_t> state{0}; // the loop's number, the first piece left, the end of them
  };
  struct Taken {
    tw_loop_body body;
    void *closure;
    int64_t begin, end, pieces;
  };

  void work(int64_t worker);
  /// Takes and does pieces of the loop `number` until none is left.
  void doPieces(uint64_t number, int64_t worker);
  /// The first piece of a share that is left, or the last.
  std::optional<Taken> take(uint64_t number, Share &share, bool isFirst);
  /// Waits until a loop other than `seen` is published; its number, or `seen` when stopping.
  uint64_t waitForLoop(uint64_t seen);
  void waitForPieces(int64_t count);
  /// As many as are asleep, but no more than `most`.
  void wakeWorkers(int64_t most);
  /// Which worker the calling thread is.
  int64_t currentWorker() const;

  /// Without workers. A body that runs again, as that of a recurrent layer, goes back in pieces
  /// from the last to the first: it begins with the weights that are still in the caches.
  void runAlone(tw_loop_body run, void *context, int64_t count, int64_t grain);
  void runPiece(const Taken &piece, int64_t worker);

  std::vector<std::thread> workers;
  std::vector<std::vector<Piece>> noted; // each written by its worker
  bool isWatched = false;                // changes only between loops
  uint32_t forks;                        // that this process descends from, when the pool was made
  int spins = 0;
  tw_loop_body lastAlone = nullptr; // the last body that ran alone, and
  bool isBackwards = false;         // its direction
  std::atomic<bool> busy{false};

  // The current loop.
  std::atomic<tw_loop_body> body{nullptr};
  std::atomic<void *> closure{nullptr};
  std::atomic<int64_t> count{0}, pieceSize{1}, pieces{0};
  std::unique_ptr<Share[]> shares; // one to a worker
  alignas(64) std::atomic<uint64_t> number{0};
  alignas(64) std::atomic<int64_t> piecesDone{0};

  // Those who sleep.
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<bool> callerSleeps{false}, stopping{false};
  std::mutex mutex;
  std::condition_variable loopPublished, loopDone;
};

/// The cores this process may use, at least 1.
int availableCores();

} // namespace tw::rt
