// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about this machine and this process.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tw::cli {

/// The first word of a small file, as of /sys; empty when it cannot be read.
std::string wordOf(const std::string &path);
/// "Intel(R) Xeon(R) ..."; empty when the system does not say.
std::string cpuModel();
/// Of the instruction sets that matter to Tilewright, those that can be used here.
std::vector<std::string> cpuFeatures();
/// How many threads can run at once in this process: its CPU affinity.
int usableThreads();
/// The cores that this thread may use, by their numbers.
std::vector<int> usableCores();
/// From now on this thread, and what it starts, uses no others; where the system does not let it,
/// nothing changes.
void stayOn(std::span<const int> cores);
/// A level of the data caches: "L1", and the bytes that it holds for so many threads together.
struct CacheLevel {
  std::string name;
  int64_t bytes = 0;
};
/// From the nearest on, as the system tells of the first core; empty when it does not.
std::vector<CacheLevel> cacheLevels(int threads);
/// Bytes of memory of the machine, and those that are free for use; 0 when unknown.
int64_t totalMemory();
int64_t availableMemory();
/// The most memory this process ever had resident, in bytes; 0 when unknown.
int64_t peakResident();

} // namespace tw::cli
