// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/AttentionCost.h"
#include "Target/NVIDIA/Product/Operand.h"
#include "Target/NVIDIA/Product/Pipeline.h"
#include <algorithm>

namespace tw::target::nvidia {
using kernels::Access;
using kernels::Attention;
using kernels::AttentionConfiguration;
using kernels::Constraint;
using kernels::Numbers;

namespace {

constexpr int64_t unknownExtent = 1024, elementBytes = 2;
constexpr int64_t rowsOfGroup = 64, mostExtent = 256, extentUnit = 16, mostDims = 5;
constexpr int64_t blockQueries[] = {64, 128, 192};

// Of a multiprocessor of a Hopper GPU, in one cycle: products of 16-bit floats by wgmma,
// exponentials, simple operations, and bytes from the second-level cache.
constexpr double productsOfCycle = 2048 * 0.95, expsOfCycle = 16, operationsOfCycle = 128;
constexpr double bytesIn = 64, operationsOfScore = 4;
// Measured: how much of all these a trip takes, by the warp groups that overlap, and cycles of a
// trip, of a program and of a launch beside them.
constexpr double shares[] = {0, 0.71, 0.53, 0.48};
constexpr double tripCycles = 570, programCycles = 1500, startCycles = 2500;

int64_t sizeOf(const Attention &attention, int dim) {
  const kernels::Extent &extent = attention.dims[size_t(dim)];
  return extent.size.value_or(extent.most.value_or(unknownExtent));
}

/// Whether TMA can bring boxes of rows that run along `inner`.
bool canLoad(const Attention &attention, const Access &access, int row, int inner) {
  const auto &shape = attention.buffers[size_t(access.buffer)].shape;
  auto isPlain = [&](int dim) {
    auto axis = std::ranges::find(access.axes, dim, &kernels::Axis::dim);
    return axis != access.axes.end() && axis->stride == 1;
  };
  return shape.size() <= mostDims && access.axes.back().dim == inner && isPlain(inner) &&
         isPlain(row) && shape.back().size && *shape.back().size * elementBytes % tmaAlignment == 0;
}

AttentionShape shapeOf(const Attention &attention, const AttentionConfiguration &block) {
  int64_t keys = sizeOf(attention, attention.keys);
  bool isKnown = attention.dims[size_t(attention.keys)].size.has_value();
  return {block.queries,
          paddedTerms(block.keys),
          sizeOf(attention, attention.depth),
          sizeOf(attention, attention.width),
          /*isDepthInnermostInQueries=*/true,
          /*isDepthInnermostInKeys=*/true,
          !isKnown || keys > block.keys,
          !isKnown || (attention.isCausal && keys > block.keys),
          isKnown && !attention.isCausal && keys > block.keys && keys % block.keys != 0,
          attention.mask.has_value(),
          !isKnown};
}

double ceilDiv(int64_t a, int64_t b) {
  int64_t quotient = (a + b - 1) / b;
  return double(quotient);
}

/// One trip of a program in each of the blocks that share a multiprocessor.
double cyclesOfTrip(const AttentionShape &shape, int64_t blocksBeside) {
  auto scores = double(shape.rows * shape.terms), sums = double(shape.rows * shape.width);
  double products = scores * double(shape.depth + shape.width) / productsOfCycle;
  double bytes = double(shape.terms * (shape.depth + shape.width) * elementBytes);
  double softmax = scores / expsOfCycle + (operationsOfScore * scores + sums) / operationsOfCycle;
  int64_t groups = std::min<int64_t>(3, shape.rows / rowsOfGroup * blocksBeside);
  double all = std::max({shares[size_t(groups)] * (products + softmax), products, bytes / bytesIn});
  return double(blocksBeside) * all + tripCycles;
}

Numbers numbersOf(const AttentionChoice &choice) {
  Numbers numbers = kernels::numbersOf(choice.block);
  numbers[stagesField] = choice.stages;
  numbers[warpGroupsField] = choice.block.queries / rowsOfGroup;
  numbers[pingPongField] = 0;
  return numbers;
}

} // namespace

bool isForTensorCores(const Attention &attention) {
  auto type = attention.buffers[size_t(attention.query.buffer)].dtype;
  bool isHalf = type == kernel::f16 || type == kernel::bf16;
  auto depth = attention.dims[size_t(attention.depth)].size,
       width = attention.dims[size_t(attention.width)].size;
  auto isExtent = [](std::optional<int64_t> extent) {
    return extent && *extent % extentUnit == 0 && *extent > 0 && *extent <= mostExtent;
  };
  return isHalf && attention.sum == kernel::f32 &&
         attention.buffers[size_t(attention.key.buffer)].dtype == type &&
         attention.buffers[size_t(attention.value.buffer)].dtype == type && isExtent(depth) &&
         isExtent(width) && sizeOf(attention, attention.queries) >= rowsOfGroup &&
         canLoad(attention, attention.query, attention.queries, attention.depth) &&
         canLoad(attention, attention.key, attention.keys, attention.depth) &&
         canLoad(attention, attention.value, attention.keys, attention.width);
}

std::vector<Constraint> attentionConstraints(const Attention &attention,
                                             const GpuArchitecture &architecture) {
  auto number = [](int64_t n) { return std::to_string(n); };
  int64_t depth = sizeOf(attention, attention.depth), width = sizeOf(attention, attention.width),
          keys = attention.dims[size_t(attention.keys)].size.value_or(0);
  return {
      {"queries mod 64", "0", "a warp group multiplies 64 rows at a time"},
      {"queries", "64 * warp_groups", "each warp group has 64 rows"},
      {"64 * warp_groups", "queries", "each warp group has 64 rows"},
      {"warp_groups", "3", "more have too few registers"},
      {"ping_pong", "0", "warp groups of attention always take turns"},
      {"keys", number(mostExtent), "TMA brings up to 256 keys"},
      {"(keys mod 16) * (" + number(keys) + " - keys)", "0",
       "the second product sums up 16 keys at a time"},
      {"groups", "1", "a program has queries of one head"},
      {"transposed + split_keys", "0", "scores lie as queries x keys, and workers share no loop"},
      {number(1), "stages", "keys and values come through shared memory"},
      {"stages", "4", "so many have been tried"},
      {"queries * " + number(depth) + " * 2 + stages * keys * " + number((depth + width) * 2),
       number(architecture.sharedBytes), "shared memory holds queries and the stages"},
  };
}

bool isLegal(const Attention &attention, const AttentionChoice &choice,
             const GpuArchitecture &architecture) {
  return kernels::holds(kernels::allConstraints(kernels::attentionConstraints(attention),
                                                kernels::attentionSchema(),
                                                attentionConstraints(attention, architecture)),
                        numbersOf(choice)) &&
         planAttention(shapeOf(attention, choice.block), choice.stages, architecture);
}

double attentionCost(const Attention &attention, const AttentionChoice &choice,
                     const GpuArchitecture &architecture) {
  int64_t queries = sizeOf(attention, attention.queries), rows = choice.block.queries;
  int64_t keys = sizeOf(attention, attention.keys);
  double blocks = ceilDiv(queries, rows), batch = 1, trips = 0;
  for (int dim = 0; dim < int(attention.dims.size()); ++dim)
    if (dim != attention.queries && dim != attention.width && attention.output.covers(dim))
      batch *= double(sizeOf(attention, dim));
  for (int64_t first = 0; first < queries; first += rows)
    trips += ceilDiv(attention.isCausal ? std::min(keys, first + rows) : keys, choice.block.keys);
  AttentionShape shape = shapeOf(attention, choice.block);
  std::optional<AttentionPlan> plan = planAttention(shape, choice.stages, architecture);
  int64_t beside = plan ? plan->blocksOfMultiprocessor : 1;
  // Each block has whole programs; where these are of different lengths, of about any length.
  double rounds = batch * blocks / double(architecture.multiprocessors * beside);
  if (!attention.isCausal)
    rounds = ceilDiv(int64_t(batch * blocks), architecture.multiprocessors * beside);
  double trip = cyclesOfTrip(shape, beside);
  return startCycles + rounds * (trips / blocks * trip + programCycles);
}

std::optional<AttentionChoice> chooseAttention(const Attention &attention,
                                               const GpuArchitecture &architecture) {
  std::optional<AttentionChoice> best;
  double least = 0;
  int64_t keys = sizeOf(attention, attention.keys);
  bool isKnown = attention.dims[size_t(attention.keys)].size.has_value();
  for (int64_t rows : blockQueries)
    for (int64_t count = extentUnit; count <= mostExtent; count += extentUnit) {
      AttentionChoice tried;
      tried.block.queries = rows;
      if (count - extentUnit >= keys)
        break;
      tried.block.keys = isKnown ? std::min(count, keys) : count;
      tried.stages = chooseStages(shapeOf(attention, tried.block), architecture);
      if (tried.stages == 0 || !isLegal(attention, tried, architecture))
        continue;
      double cost = attentionCost(attention, tried, architecture);
      if (!best || cost < least)
        least = cost, best = tried;
    }
  return best;
}

} // namespace tw::target::nvidia
