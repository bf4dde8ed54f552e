// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/AttentionGradientCost.h"
#include "Target/CPU/Configuration/AttentionSizes.h"
#include <algorithm>
#include <optional>

namespace tw::target::cpu {
namespace {

constexpr int64_t fewPrograms = 8;     // fewer leave workers without any
constexpr int64_t mostBytes = 1 << 20; // of a program: they stay in the second-level cache
constexpr int64_t mostKeys = 4096;     // of one block
constexpr int64_t longLoop = 1024;     // which workers may share

struct Problem : AttentionSizes {
  Problem(const AttentionGradient &spec, const VectorUnit &unit)
      : AttentionSizes(spec, unit), ownsQueries(!spec.hasKeys()), hasQueries(spec.hasQueries()),
        hasKey(spec.keyGradient.has_value()), hasValue(spec.valueGradient.has_value()) {
    std::vector<int> summed = summedDims(spec);
    for (int dim = 0; dim < int(spec.dims.size()); ++dim) {
      if (dim == spec.queries || dim == spec.keys || dim == spec.depth || dim == spec.width)
        continue;
      bool isSummed = std::find(summed.begin(), summed.end(), dim) != summed.end();
      (isSummed ? repeated : batch) *= sizeOf(spec, dim);
    }
  }

  int64_t own(const AttentionGradientConfiguration &block) const {
    return ownsQueries ? block.queries : block.keys;
  }
  int64_t walked(const AttentionGradientConfiguration &block) const {
    return ownsQueries ? block.keys : block.queries;
  }
  int64_t programs(const AttentionGradientConfiguration &block) const {
    return batch * ceilDiv(ownsQueries ? queries : keys, own(block));
  }

  /// Blocks that the programs of one element of the batch walk over.
  int64_t trips(const AttentionGradientConfiguration &block) const {
    int64_t size = ownsQueries ? queries : keys, other = ownsQueries ? keys : queries, count = 0;
    for (int64_t first = 0; first < size; first += own(block)) {
      int64_t end = std::min(size, first + own(block));
      int64_t seen = !isCausal     ? other
                     : ownsQueries ? std::min(other, end)
                                   : other - std::min(other, first / walked(block) * walked(block));
      count += ceilDiv(seen, walked(block));
    }
    return count * repeated;
  }

  bool ownsQueries, hasQueries, hasKey, hasValue;
  int64_t batch = 1, repeated = 1;
};

/// One block for one program: the products, the weights and the gradients of scores.
double tripCycles(const Problem &p, const AttentionGradientConfiguration &block) {
  int64_t own = p.own(block), rows = p.walked(block);
  double cycles = p.productCycles(rows, own, p.depth);
  bool needsScores = p.hasQueries || p.hasKey;
  if (needsScores)
    cycles += p.productCycles(rows, own, p.width);
  if (p.ownsQueries || p.hasKey)
    cycles += p.productCycles(own, p.depth, rows);
  if (p.hasValue)
    cycles += p.productCycles(own, p.width, rows);
  if (!p.ownsQueries && p.hasQueries)
    cycles += p.productCycles(rows, p.depth, own);
  int64_t sums = own * (ceilDiv(p.depth, p.lanes) + ceilDiv(p.width, p.lanes));
  double elementwise = 9 * double(rows * ceilDiv(own, p.lanes)) + 2 * double(sums);
  double all = cycles + elementwise + 20 * double(rows);
  // Weights and the gradients of scores, beside the sums.
  int64_t bytes = (2 * rows * own + own * (p.depth + p.width)) * p.bytes;
  return bytes > mostBytes ? all * 1.1 : all;
}

double cycles(const Problem &p, const AttentionGradientConfiguration &block) {
  // The program's own operands are transposed.
  double start = 0.7 * double(p.own(block) * (p.depth + p.width));
  return double(p.batch * p.trips(block)) * tripCycles(p, block) +
         double(p.programs(block)) * start;
}

double costOf(const Problem &p, const AttentionGradientConfiguration &block) {
  int64_t programs = p.programs(block);
  double cost = cycles(p, block);
  if (programs < fewPrograms) // some workers have nothing to do
    cost *= double(fewPrograms) / double(programs);
  return cost;
}

AttentionGradientConfiguration chooseFor(const Problem &p, bool areTogether) {
  std::optional<AttentionGradientConfiguration> best;
  double least = 0;
  for (int64_t queries : {32, 64, 128, 256})
    for (int64_t keys : {32, 64, 128, 256}) {
      AttentionGradientConfiguration block;
      block.queries = std::min(p.queries, queries);
      block.keys = areTogether ? p.keys : std::min(p.keys, keys);
      bool mayBeFew = (!p.areQueriesKnown && block.queries > mostOfUnknown) ||
                      (!p.areKeysKnown && block.keys > mostOfUnknown);
      if (mayBeFew)
        continue;
      double cost = costOf(p, block);
      if (!best || cost < least)
        best = block, least = cost;
    }
  int64_t length = p.repeated * (p.ownsQueries ? p.keys : p.queries);
  best->splitsLoop =
      !areTogether && length >= longLoop && p.programs(*best) < 2 * fewPrograms && !p.isCausal;
  return *best;
}

bool areTogether(const AttentionGradient &gradient) {
  return gradient.hasQueries() && gradient.hasKeys();
}

} // namespace

AttentionGradientConfiguration chooseAttentionGradient(const AttentionGradient &gradient,
                                                       const VectorUnit &unit) {
  return chooseFor(Problem(gradient, unit), areTogether(gradient));
}

bool areGradientsCheaperApart(const AttentionGradient &gradient, const VectorUnit &unit) {
  if (!areTogether(gradient))
    return false;
  if (!whyNotTogether(gradient).empty())
    return true;
  Problem all(gradient, unit);
  if (all.keys > mostKeys || all.keys * (all.depth + all.width) * all.bytes > mostBytes)
    return true;
  AttentionGradient ofQueries = gradient, ofKeys = gradient;
  ofQueries.keyGradient.reset();
  ofQueries.valueGradient.reset();
  ofKeys.queryGradient.reset();
  double apart = 0;
  for (const AttentionGradient &part : {ofQueries, ofKeys}) {
    Problem own(part, unit);
    apart += costOf(own, chooseFor(own, false));
  }
  return apart < costOf(all, chooseFor(all, true));
}

double attentionGradientCost(const AttentionGradient &gradient,
                             const AttentionGradientConfiguration &configuration,
                             const VectorUnit &unit) {
  return cycles(Problem(gradient, unit), configuration);
}

} // namespace tw::target::cpu
