// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstddef>
#include <functional>

namespace tw {

/// Of threads that compile, more than these gain nothing.
inline constexpr size_t mostCompilingThreads = 16;

/// Calls `work` for each number below `count`, in order as far as one thread is concerned, on at
/// most `most` threads and no more than there are cores; on fewer where there are no more. The
/// first exception, of the least number, is passed on.
void onThreads(size_t count, size_t most, const std::function<void(size_t)> &work);

} // namespace tw
