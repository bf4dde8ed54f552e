// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainAttention.h"
#include "GraphToTile/Configuration/SplitGradients.h"
#include "Target/NVIDIA/Configuration/Cheapest.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include <algorithm>
#include <cmath>

namespace tw::target::nvidia {
using kernels::Attention;
using kernels::AttentionConfiguration;
using kernels::AttentionGradient;
using kernels::AttentionGradientConfiguration;
using kernels::AttentionInputs;

namespace {

constexpr int64_t unknownLength = 512, unknownBatch = 8;
constexpr int64_t blockQueries[] = {1, 2, 4, 8, 16, 32, 64}, blockKeys[] = {32, 64, 128};
// A gradient is a sum over blocks: longer ones are fewer additions in a row.
constexpr int64_t gradientBlocks[] = {16, 32, 64};
constexpr int64_t mostTogether = 64;  // keys of a program that has all of them
constexpr int64_t longLoop = 512;     // which workers may share
constexpr int64_t mostOfUnknown = 64; // in a block: calls may bring fewer
constexpr int64_t mostRows = 64;      // of a block: queries of all its groups
// Of the softmax: instructions and accesses for a score; cycles of a block's maxima and sums with
// their barriers.
constexpr double scoreInstructions = 40, scoreAccesses = 6, softmaxCycles = 1500;
constexpr int64_t scoreRegisters = 40; // of a thread, for the row's maximum, sum and scale

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Sizes {
  explicit Sizes(const AttentionInputs &spec) {
    queries = of(spec, spec.queries, unknownLength), keys = of(spec, spec.keys, unknownLength);
    depth = of(spec, spec.depth, 64), width = of(spec, spec.width, 64);
    areQueriesKnown = spec.dims[spec.queries].size.has_value();
    areKeysKnown = spec.dims[spec.keys].size.has_value();
    bytes = bytesOf(spec.buffers[spec.query.buffer].dtype);
    isCausal = spec.isCausal;
  }
  static int64_t of(const AttentionInputs &spec, int dim, int64_t unknown) {
    return std::max<int64_t>(1, spec.dims[dim].size.value_or(unknown));
  }

  /// Rows of one matrix by those of another, both of which lie along the sum.
  DotWork scores(int64_t rows, int64_t columns, int64_t length) const {
    return {rows, columns, length, {bytes, true}, {bytes, true}};
  }
  /// Weights, in shared memory, by rows that lie side by side.
  DotWork sums(int64_t rows, int64_t columns, int64_t length) const {
    return {rows, columns, length, {4, false}, {bytes, false}};
  }
  /// The elementwise part of a block of scores.
  static void addScores(ProgramCost &cost, int64_t count, double times) {
    cost.instructions += times * scoreInstructions * double(count) / lanesOfWarp;
    cost.registers += scoreRegisters;
    cost.scratch += times * scoreAccesses * double(count) / lanesOfWarp;
    double ofThread = std::ceil(double(count) / double(cost.block.threads));
    cost.waiting += times * (softmaxCycles + ofThread * scoreInstructions);
  }
  bool mayBlockBe(int64_t own, int64_t walked) const {
    return (areQueriesKnown || own <= mostOfUnknown) && (areKeysKnown || walked <= mostOfUnknown);
  }

  int64_t queries, keys, depth, width, bytes;
  bool areQueriesKnown, areKeysKnown, isCausal;
};

/// Elements of the batch: all dimensions but those of a head, and but for `others`.
double batchOf(const AttentionInputs &spec, const std::vector<int> &others) {
  double batch = 1;
  for (int dim = 0; dim < int(spec.dims.size()); ++dim) {
    bool isOfHead =
        dim == spec.queries || dim == spec.keys || dim == spec.depth || dim == spec.width;
    if (!isOfHead && std::find(others.begin(), others.end(), dim) == others.end())
      batch *= double(Sizes::of(spec, dim, unknownBatch));
  }
  return batch;
}

double programsOf(const Attention &spec, const Sizes &sizes, const AttentionConfiguration &block) {
  return batchOf(spec, {}) / double(block.groups) * double(ceilDiv(sizes.queries, block.queries));
}

} // namespace

double plainAttentionCost(const Attention &attention, const AttentionConfiguration &configuration,
                          const GpuArchitecture &architecture) {
  Sizes sizes(attention);
  int64_t rows = configuration.queries * configuration.groups, keys = configuration.keys;
  double trips = double(ceilDiv(sizes.keys, keys)) * (sizes.isCausal ? 0.5 : 1), parts = 1;
  double programs = programsOf(attention, sizes, configuration);
  if (configuration.splitsKeys)
    parts =
        partsOf(programs, trips, double(rows * keys * (sizes.depth + sizes.width)), architecture);
  trips = std::max(1.0, std::ceil(trips / parts));
  ProgramCost cost;
  cost.block =
      blockOfDots(std::max({rows * keys, keys * sizes.depth, keys * sizes.width}), architecture);
  cost.sharedBytes = 4 * rows * (2 * keys + 2 * sizes.width);
  addDot(cost, sizes.scores(rows, keys, sizes.depth), architecture, trips);
  addDot(cost, sizes.sums(rows, sizes.width, keys), architecture, trips);
  Sizes::addScores(cost, rows * keys, trips);
  return cyclesOfLaunch(cost, programs, parts, architecture);
}

AttentionConfiguration choosePlainAttention(const Attention &attention,
                                            const GpuArchitecture &architecture) {
  Sizes sizes(attention);
  std::optional<int> group = groupDim(attention);
  int64_t allGroups = group ? attention.dims[*group].size.value_or(1) : 1;
  Cheapest<AttentionConfiguration> cheapest(
      kernels::allConstraints(attentionConstraints(attention), kernels::attentionSchema(), {}),
      [&](const AttentionConfiguration &block) {
        return plainAttentionCost(attention, block, architecture);
      });
  for (int64_t queries : blockQueries)
    for (int64_t keys : blockKeys)
      for (int64_t groups : {int64_t(1), allGroups}) {
        AttentionConfiguration block;
        block.queries = std::min(queries, sizes.queries), block.keys = std::min(keys, sizes.keys);
        block.groups = groups;
        if (!sizes.mayBlockBe(block.queries, block.keys) || block.queries * groups > mostRows)
          continue;
        block.splitsKeys =
            sizes.keys >= longLoop && !sizes.isCausal &&
            programsOf(attention, sizes, block) < double(splitLimits(architecture).enoughPrograms);
        cheapest.offer(block);
      }
  return cheapest.best.value_or(AttentionConfiguration{1, 1});
}

namespace {

/// A program has a block of queries or of keys, and walks over the others.
struct GradientSizes : Sizes {
  explicit GradientSizes(const AttentionGradient &spec)
      : Sizes(spec), ownsQueries(!spec.hasKeys()), batch(batchOf(spec, summedDims(spec))) {
    repeated = batchOf(spec, {}) / batch;
    products = 1 + (spec.hasQueries() || spec.keyGradient.has_value()) +
               (spec.hasQueries() ? 1 : 0) + spec.keyGradient.has_value() +
               spec.valueGradient.has_value();
  }
  double programs(const AttentionGradientConfiguration &block) const {
    return batch *
           double(ownsQueries ? ceilDiv(queries, block.queries) : ceilDiv(keys, block.keys));
  }
  double trips(const AttentionGradientConfiguration &block) const {
    double walked =
        double(ownsQueries ? ceilDiv(keys, block.keys) : ceilDiv(queries, block.queries));
    return std::max(1.0, repeated * walked * (isCausal ? 0.5 : 1));
  }
  /// Whether workers may share what a program walks over.
  bool mayShare(const AttentionGradientConfiguration &block,
                const GpuArchitecture &architecture) const {
    double length = double(ownsQueries ? keys : queries) * repeated;
    return !isCausal && length >= double(longLoop) &&
           programs(block) < double(splitLimits(architecture).enoughPrograms);
  }

  bool ownsQueries;
  double batch, repeated; // of programs; of what a program walks over
  double products;        // for each pair of blocks
};

} // namespace

double plainGradientCost(const AttentionGradient &gradient,
                         const AttentionGradientConfiguration &configuration,
                         const GpuArchitecture &architecture) {
  GradientSizes sizes(gradient);
  int64_t rows = configuration.queries, keys = configuration.keys;
  int64_t own = sizes.ownsQueries ? rows : keys;
  double trips = sizes.trips(configuration), programs = sizes.programs(configuration), parts = 1;
  if (configuration.splitsLoop)
    parts =
        partsOf(programs, trips, double(rows * keys * sizes.depth) * sizes.products, architecture);
  trips = std::max(1.0, std::ceil(trips / parts));
  ProgramCost cost;
  cost.block =
      blockOfDots(std::max({rows * keys, keys * sizes.depth, rows * sizes.depth}), architecture);
  cost.sharedBytes = 4 * (2 * rows * keys + own * (sizes.depth + sizes.width));
  addDot(cost, sizes.scores(rows, keys, sizes.depth), architecture, 2 * trips);
  addDot(cost, sizes.sums(own, sizes.depth, sizes.ownsQueries ? keys : rows), architecture,
         std::max(1.0, sizes.products - 2) * trips);
  Sizes::addScores(cost, rows * keys, trips);
  return cyclesOfLaunch(cost, programs, parts, architecture);
}

AttentionGradientConfiguration choosePlainGradient(const AttentionGradient &gradient,
                                                   const GpuArchitecture &architecture) {
  GradientSizes sizes(gradient);
  bool areTogether = gradient.hasQueries() && gradient.hasKeys();
  Cheapest<AttentionGradientConfiguration> cheapest(
      kernels::allConstraints(attentionGradientConstraints(gradient),
                              kernels::attentionGradientSchema(), {}),
      [&](const AttentionGradientConfiguration &block) {
        return plainGradientCost(gradient, block, architecture);
      });
  for (int64_t queries : gradientBlocks)
    for (int64_t keys : gradientBlocks) {
      AttentionGradientConfiguration block;
      block.queries = std::min(queries, sizes.queries);
      block.keys = areTogether ? sizes.keys : std::min(keys, sizes.keys);
      block.splitsLoop = !areTogether && sizes.mayShare(block, architecture);
      cheapest.offer(block);
    }
  return cheapest.best.value_or(AttentionGradientConfiguration{1, areTogether ? sizes.keys : 1});
}

bool areGradientsBetterApart(const AttentionGradient &gradient) {
  if (!conversion::canSplitGradients(gradient))
    return false;
  const kernels::Extent &keys = gradient.dims[gradient.keys];
  return !whyNotTogether(gradient).empty() || !keys.size || *keys.size > mostTogether;
}

} // namespace tw::target::nvidia
