// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/WorkTable.h"
#include <algorithm>
#include <numeric>
#include <queue>

namespace tw::target::nvidia {

/// What a program costs beside its trips, in trips.
static constexpr double programTrips = 0.7;

static WorkTable tableOf(const std::vector<std::vector<int32_t>> &programs) {
  WorkTable table{{}, int64_t(programs.size())};
  size_t rounds = 0;
  for (const auto &own : programs) {
    table.words.push_back(int32_t(own.size()));
    rounds = std::max(rounds, own.size());
  }
  for (size_t round = 0; round < rounds; ++round)
    for (const auto &own : programs)
      table.words.push_back(round < own.size() ? own[round] : 0);
  return table;
}

WorkTable makeWorkTable(const std::vector<int64_t> &trips, int64_t heads, int64_t headsTogether,
                        int64_t blocks) {
  auto count = int64_t(trips.size());
  std::vector<int64_t> longestFirst(trips.size());
  std::iota(longestFirst.begin(), longestFirst.end(), 0);
  std::ranges::sort(longestFirst, [&](int64_t a, int64_t b) {
    return std::pair(-trips[size_t(a)], a) < std::pair(-trips[size_t(b)], b);
  });
  using Block = std::pair<double, int64_t>; // its load and number
  std::priority_queue<Block, std::vector<Block>, std::greater<>> byLoad;
  for (int64_t block = 0; block < blocks; ++block)
    byLoad.push({0, block});
  std::vector<std::vector<int32_t>> programs;
  programs.resize(size_t(blocks));
  for (int64_t first = 0; first < heads; first += headsTogether)
    for (int64_t row : longestFirst)
      for (int64_t head = first; head < std::min(heads, first + headsTogether); ++head) {
        auto [load, block] = byLoad.top();
        byLoad.pop();
        programs[size_t(block)].push_back(int32_t(head * count + row));
        byLoad.push({load + double(trips[size_t(row)]) + programTrips, block});
      }
  return tableOf(programs);
}

WorkTable dealPrograms(int64_t programsOfHead, int64_t heads, int64_t warpGroups, int64_t blocks) {
  int64_t all = programsOfHead * heads;
  std::vector<std::vector<int32_t>> programs;
  programs.resize(size_t(blocks));
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t next = block * all / blocks, end = (block + 1) * all / blocks;
    while (next < end) {
      bool areBeside =
          next + warpGroups <= end && next % programsOfHead + warpGroups <= programsOfHead;
      programs[size_t(block)].push_back(int32_t(next) | (areBeside ? 0 : dealtProgram));
      next += areBeside ? warpGroups : 1;
    }
  }
  return tableOf(programs);
}

} // namespace tw::target::nvidia
