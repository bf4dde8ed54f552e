// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches over a model, one for each number of threads.
#pragma once
#include "SeveralThreads.h"
#include "Tuner.h"

namespace tw::cli {

class Searches {
public:
  /// `threads`: ascending numbers, or one that may be 0. They share the budget of `options`.
  Searches(TuneOptions options, std::vector<int> threads, const TemporaryFolder &folder,
           std::function<bool()> goesOn);

  /// Each but the first begins with what the one before it has found, and adds variants for its
  /// number of threads. Returns an exit status; errors have been printed.
  int run(std::span<const HostTensor> inputs);

  /// Of which `found` is what all of them have.
  const Tuner &last() const { return *tuners.back(); }
  /// Of one, its report; of several {"searches": [...], "threads": [...], "best_threads": 4}, the
  /// middle as SeveralThreads.h has it.
  std::string text() const;
  std::string json() const;

private:
  int begin(int threads);
  int compareThreads();

  TuneOptions options;
  std::vector<int> threads;
  const TemporaryFolder &folder;
  std::function<bool()> goesOn;
  std::vector<std::unique_ptr<Tuner>> tuners;
  std::vector<CallOfThreads> calls;
};

} // namespace tw::cli
