// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machine.h"
#include "runtime/CpuFeatures.h"
#include <algorithm>
#include <charconv>
#include <fstream>
#include <ranges>
#include <sched.h>
#include <string_view>
#include <thread>

namespace tw::cli {

/// What follows "key:" in the first such line of a file of /proc, trimmed; empty when there is
/// none.
static std::string procValue(const char *path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(':');
    if (colon == line.npos || !std::string_view(line).starts_with(key))
      continue;
    size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == line.npos ? "" : line.substr(start);
  }
  return "";
}

/// A value in kB, as bytes.
static int64_t procBytes(const char *path, std::string_view key) {
  std::string text = procValue(path, key);
  int64_t kilobytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kilobytes);
  return kilobytes * 1024;
}

std::string cpuModel() { return procValue("/proc/cpuinfo", "model name"); }

std::vector<std::string> cpuFeatures() {
  std::vector<std::string> present;
  for (std::string_view name : usefulFeatures(hostArchitecture))
    if (rt::hasCpuFeature(name))
      present.emplace_back(name);
  return present;
}

std::string wordOf(const std::string &path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

/// How many cores a list such as "0-3,8" has; 1 when it is none.
static int coresIn(std::string_view list) {
  int count = 0;
  for (auto range : std::views::split(list, ',')) {
    std::string_view text(range.begin(), range.end());
    int first = 0, last = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), first);
    last = first;
    if (error == std::errc() && end != text.data() + text.size())
      std::from_chars(end + 1, text.data() + text.size(), last);
    count += last - first + 1;
  }
  return std::max(count, 1);
}

std::vector<CacheLevel> cacheLevels(int threads) {
  std::vector<CacheLevel> levels;
  for (int index = 0;; ++index) {
    auto value = [&](const char *name) {
      return wordOf("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/" +
                    name);
    };
    std::string type = value("type");
    if (type.empty())
      return levels;
    if (type == "Instruction")
      continue;
    int64_t kilobytes = 0;
    std::string size = value("size");
    std::from_chars(size.data(), size.data() + size.size(), kilobytes);
    int sharing = coresIn(value("shared_cpu_list"));
    int instances = (threads + sharing - 1) / sharing;
    levels.push_back({"L" + value("level"), kilobytes * 1024 * instances});
  }
}

int usableThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::vector<int> usableCores() {
  std::vector<int> cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set))
        cores.push_back(core);
  return cores;
}

void stayOn(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores)
    CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

int64_t totalMemory() { return procBytes("/proc/meminfo", "MemTotal"); }
int64_t availableMemory() { return procBytes("/proc/meminfo", "MemAvailable"); }
int64_t peakResident() { return procBytes("/proc/self/status", "VmHWM"); }

} // namespace tw::cli
