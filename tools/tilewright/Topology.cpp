// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Topology.h"
#include "Machine.h"
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tw::cli {
namespace fs = std::filesystem;

/// The folders `prefix`N of a folder, by their numbers.
static std::vector<fs::path> numbered(const fs::path &folder, const std::string &prefix) {
  std::vector<std::pair<unsigned long, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename();
    std::string number = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
    if (!number.empty() && number.size() < 9 &&
        std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c); }))
      found.emplace_back(std::stoul(number), at->path());
  }
  std::ranges::sort(found);
  std::vector<fs::path> paths;
  for (auto &[number, path] : found)
    paths.push_back(path);
  return paths;
}

/// Those of less capacity than the greatest (ARM), by number.
static std::string lessCapable(const std::vector<fs::path> &cpus) {
  std::vector<std::pair<long, std::string>> capacities;
  for (const fs::path &cpu : cpus)
    if (std::string word = wordOf(cpu / "cpu_capacity"); !word.empty())
      capacities.emplace_back(std::strtol(word.c_str(), nullptr, 10),
                              cpu.filename().string().substr(3));
  std::vector<std::string> less;
  for (const auto &[capacity, number] : capacities)
    if (capacity < std::ranges::max(capacities).first)
      less.push_back(number);
  return fmt::format("{}", fmt::join(less, ","));
}

Topology topology(const std::string &devices) {
  fs::path root(devices);
  Topology found;
  std::vector<fs::path> cpus = numbered(root / "system/cpu", "cpu");
  std::set<std::string> cores; // by the threads that a core has
  size_t threads = 0;
  for (const fs::path &cpu : cpus)
    if (std::string siblings = wordOf(cpu / "topology/thread_siblings_list"); !siblings.empty()) {
      cores.insert(siblings);
      ++threads;
    }
  found.cores = static_cast<int>(cores.size());
  if (!cores.empty())
    found.mostThreads = static_cast<int>((threads + cores.size() - 1) / cores.size());
  for (const fs::path &node : numbered(root / "system/node", "node"))
    if (std::string list = wordOf(node / "cpulist"); !list.empty())
      found.numaNodes.push_back(list);
  // x86 has a counter unit for each kind of core.
  found.efficiencyCores = wordOf(root / "cpu_atom/cpus");
  if (found.efficiencyCores.empty())
    found.efficiencyCores = lessCapable(cpus);
  return found;
}

std::string textOf(const Topology &topology) {
  if (topology.cores == 0)
    return "unknown";
  std::string text = fmt::format("{} cores", topology.cores);
  if (topology.mostThreads > 1)
    text += fmt::format(" of {} threads", topology.mostThreads);
  if (!topology.efficiencyCores.empty())
    text += fmt::format(", of which {} are slower", topology.efficiencyCores);
  if (topology.numaNodes.size() < 2)
    return text + ", 1 NUMA node";
  return text + fmt::format(", {} NUMA nodes: {}", topology.numaNodes.size(),
                            fmt::join(topology.numaNodes, "; "));
}

} // namespace tw::cli
