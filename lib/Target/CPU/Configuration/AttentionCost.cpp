// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/AttentionCost.h"
#include "Target/CPU/Configuration/AttentionSizes.h"
#include "Target/CPU/Configuration/Memory.h"
#include "Target/CPU/Configuration/Workers.h"
#include <algorithm>
#include <optional>
#include <vector>

namespace tw::target::cpu {
namespace {

constexpr int64_t longestRow = 1024;                 // of scores
constexpr int64_t fewRows = 16, keysOfFewRows = 512; // which read keys and values once: longer
                                                     // blocks, fewer streams that begin anew
constexpr int64_t wantedRows = 128;                  // of queries, with their groups
constexpr int64_t mostQueries = 256, mostParts = 4;  // of a program; of all of them
constexpr int64_t splitKeys = 1024;                  // keys that workers may share
// Of the time of products in tile registers, where the second-level cache does not hold a trip.
constexpr double crowded = 2;

/// With the heads, of which groups share keys.
struct Problem : AttentionSizes {
  Problem(const Attention &spec, const VectorUnit &unit)
      : AttentionSizes(spec, unit), cacheBytes(crowdedBytes(unit.caches)) {
    auto group = kernels::groupDim(spec);
    groups = group ? spec.dims[*group].size.value_or(1) : 1;
    for (int dim = 0; dim < int(spec.dims.size()); ++dim)
      if (spec.output.covers(dim) && dim != spec.queries && dim != spec.width &&
          !(group && dim == *group && groups > 1))
        batch *= sizeOf(spec, dim);
  }

  int64_t programs(const AttentionConfiguration &block) const {
    return batch * ceilDiv(groups, block.groups) * ceilDiv(queries, block.queries);
  }

  /// Blocks of keys that the programs of one head walk over.
  int64_t trips(const AttentionConfiguration &block) const {
    int64_t count = 0;
    for (int64_t first = 0; first < queries; first += block.queries)
      count += ceilDiv(isCausal ? std::min(keys, first + block.queries) : keys, block.keys);
    return count;
  }

  int64_t groups = 1, batch = 1, cacheBytes;
};

/// What a trip of products in tile registers goes over again: scores, the same rounded to bf16, and
/// keys and values in pairs.
int64_t bytesOfTrip(const Problem &p, int64_t rows, int64_t keys) {
  constexpr int64_t score = 4, rounded = 2;
  return rows * keys * (score + rounded) + keys * (p.depth + p.width) * rounded;
}

/// One block of keys for one program: two products, exponentials, maxima and sums, and the sum so
/// far, which fades.
double tripCycles(const Problem &p, const AttentionConfiguration &block) {
  int64_t rows = block.queries * block.groups, keys = block.keys;
  bool isTransposed = block.isTransposed;
  double products =
      isTransposed ? p.productCycles(keys, rows, p.depth) + p.productCycles(p.width, rows, keys)
                   : p.productCycles(rows, keys, p.depth) + p.productCycles(rows, p.width, keys);
  int64_t scores = isTransposed ? keys * ceilDiv(rows, p.lanes) : rows * ceilDiv(keys, p.lanes);
  int64_t sums = isTransposed ? p.width * ceilDiv(rows, p.lanes) : rows * ceilDiv(p.width, p.lanes);
  double fixed = 4 * double(sums) + (isTransposed ? 0 : 20 * double(rows));
  // One of the products reads columns of an operand: of keys they are copied beside it, element by
  // element where vectors are not full.
  double copied = keys % p.lanes == 0 ? 0.35 : 4;
  double columns = isTransposed                       ? double(keys * p.width)
                   : p.isInPairs(rows, keys, p.depth) ? 0 // packed as part of the product
                                                      : copied * double(keys * p.depth);
  double cycles = products + 9 * double(scores) + fixed + columns;
  if (p.hasTiles && bytesOfTrip(p, rows, keys) > p.cacheBytes)
    return cycles * crowded;
  return rows * keys * p.bytes > nearBytes ? cycles * 1.1 : cycles;
}

double cycles(const Problem &p, const AttentionConfiguration &block) {
  return double(p.batch * ceilDiv(p.groups, block.groups) * p.trips(block)) * tripCycles(p, block);
}

/// As many groups as make enough rows.
int64_t groupsOf(const Problem &p, int64_t queries) {
  for (int64_t groups = p.groups; groups > 1; --groups)
    if (p.groups % groups == 0 && groups * queries <= wantedRows)
      return groups;
  return 1;
}

/// Rows that programs may have: some, and even parts of those that are known, in whole vectors.
std::vector<int64_t> queriesOffered(const Problem &p) {
  std::vector<int64_t> offered = {32, 64, 128, 256};
  for (int64_t parts = 1; p.areQueriesKnown && parts <= mostParts; ++parts)
    if (int64_t rows = p.lanes * ceilDiv(ceilDiv(p.queries, parts), p.lanes); rows <= mostQueries)
      offered.push_back(rows);
  return offered;
}

} // namespace

AttentionConfiguration chooseAttention(const Attention &attention, const VectorUnit &unit) {
  Problem p(attention, unit);
  std::optional<AttentionConfiguration> best;
  double least = 0;
  for (int64_t queries : queriesOffered(p))
    for (int64_t keys : {int64_t(64), int64_t(128), int64_t(256), int64_t(512), p.keys})
      for (bool isTransposed : {false, true}) {
        AttentionConfiguration block;
        block.queries = std::min(p.queries, queries);
        block.keys = std::min(p.keys, keys);
        block.groups = groupsOf(p, block.queries);
        block.isTransposed = isTransposed;
        bool mayBeFew = (!p.areQueriesKnown && block.queries > mostOfUnknown) ||
                        (!p.areKeysKnown && block.keys > 2 * mostOfUnknown);
        bool isStreamed = block.queries * block.groups < fewRows && block.keys > keysOfFewRows;
        if (block.keys > longestRow || mayBeFew || isStreamed)
          continue;
        double cost = cycles(p, block);
        cost *= fewProgramsFactor(cost, p.programs(block));
        if (!best || cost < least)
          best = block, least = cost;
      }
  best->splitsKeys =
      p.keys >= splitKeys && p.programs(*best) < splitLimits.enoughPrograms && !p.isCausal;
  return *best;
}

double attentionCost(const Attention &attention, const AttentionConfiguration &configuration,
                     const VectorUnit &unit) {
  return cycles(Problem(attention, unit), configuration);
}

} // namespace tw::target::cpu
