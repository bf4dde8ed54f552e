// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Parallel.h"
#include "Support/Forks.h"
#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace tw {

void onThreads(size_t count, size_t most, const std::function<void(size_t)> &work) {
  std::atomic<size_t> next = 0;
  std::vector<std::exception_ptr> problems(count);
  auto takeAll = [&] {
    for (size_t i; (i = next++) < count;)
      try {
        work(i);
      } catch (...) {
        problems[i] = std::current_exception();
      }
  };
  size_t threads = std::min({count, most, size_t(std::thread::hardware_concurrency())});
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < threads)
      others.emplace_back([&takeAll, isSo = isCompiling()] {
        Compiling compiling(isSo);
        takeAll();
      });
  } catch (const std::system_error &) {
    // Those that there are do it.
  }
  takeAll();
  {
    Resting resting;
    for (std::thread &other : others)
      other.join();
  }
  for (const std::exception_ptr &problem : problems)
    if (problem)
      std::rethrow_exception(problem);
}

} // namespace tw
