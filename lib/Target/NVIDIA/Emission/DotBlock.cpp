// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/DotBlock.h"
#include "Target/NVIDIA/Architecture.h"
#include <algorithm>

namespace tw::target::nvidia {

static constexpr int64_t mostTogether = 8;

static int64_t largestDivisor(std::optional<int64_t> extent) {
  for (int64_t block = extent ? mostOfDotBlock : 1; block > 1; --block)
    if (*extent % block == 0)
      return block;
  return 1;
}

/// By the smallest number that divides it.
static void shrink(int64_t &block) {
  for (int64_t divisor = 2; divisor <= block; ++divisor)
    if (block % divisor == 0) {
      block /= divisor;
      return;
    }
}

DotBlock dotBlockOf(std::optional<int64_t> rows, std::optional<int64_t> columns, int64_t count,
                    int64_t threads) {
  DotBlock block{largestDivisor(rows), largestDivisor(columns)};
  while (block.rows * block.columns > 1 && count / (block.rows * block.columns) < threads)
    shrink(block.columns >= block.rows ? block.columns : block.rows);
  return block;
}

int64_t termsTogether(const DotBlock &block, std::optional<int64_t> depth, int64_t words,
                      int64_t threads) {
  bool isInParts = !depth || *depth > termsOfDotPart;
  int64_t sums = block.rows * block.columns * (isInParts ? 2 : 1) * words;
  int64_t spare =
      std::min(registersOfThread, registersOfMultiprocessor / threads) - registersBeside - sums;
  int64_t together = depth ? std::min(mostTogether, *depth) : mostTogether;
  together = std::min(together, spare / ((block.rows + block.columns) * words));
  int64_t power = 1;
  while (power * 2 <= together)
    power *= 2;
  return power;
}

} // namespace tw::target::nvidia
