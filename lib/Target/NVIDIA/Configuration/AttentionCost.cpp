// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/AttentionCost.h"
#include "Kernels/SplitParts.h"
#include "Target/NVIDIA/Configuration/MemoryCost.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/ProductCost.h"
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
/// Keys of few queries, where only calls tell how many: those of a cache, in the middle of a text.
constexpr int64_t unknownCache = 4096;
constexpr int64_t rowsOfGroup = 64, mostExtent = 256, headUnit = 8, keysUnit = 16, mostDims = 5;

constexpr double operationsOfScore = 4, operationsOfMask = 3, operationsOfHiding = 6;
// Measured: what wgmma reaches of the tensor cores' rate, how much of all that the architecture's
// rates say a trip takes, by the warp groups that overlap, and cycles of a trip and of a program
// beside them.
constexpr double productShare = 0.95, shares[] = {0, 0.71, 0.53, 0.48};
constexpr double tripCycles = 570, programCycles = 1500;
constexpr double triggerCycles = 500; // where the next launch may begin at the worse time
// What combining takes where trips are dealt to warp groups: an estimate.
constexpr double combineCycles = 700;
// Bytes that one multiprocessor gets of memory in a cycle, where programs share none: as many as
// its ring waits for at one time.
constexpr double bytesOfRing = 40;
constexpr int64_t mostPrograms = 1 << 16; // that a table of work has

/// Queries that all stand in one block, of one warp group's rows: few of a head, or the groups of
/// one.
bool areFew(const Attention &attention) {
  auto size = attention.dims[size_t(attention.queries)].size;
  return size && *size < rowsOfGroup;
}

int64_t sizeOf(const Attention &attention, int dim) {
  const kernels::Extent &extent = attention.dims[size_t(dim)];
  if (!extent.size && dim == attention.keys && areFew(attention))
    return std::min(unknownCache, extent.most.value_or(unknownCache));
  return extent.size.value_or(extent.most.value_or(unknownExtent));
}

/// Groups of queries that a program may have: all rows run along one dimension.
int64_t mostGroups(const Attention &attention) {
  auto group = kernels::groupDim(attention);
  auto count = group ? attention.dims[size_t(*group)].size : std::nullopt;
  bool hasOneQuery = attention.dims[size_t(attention.queries)].size == 1;
  return hasOneQuery && count && *count <= rowsOfGroup ? *count : 1;
}

/// Whether TMA can bring boxes of rows that run along `inner`; one row runs along nothing.
bool canLoad(const Attention &attention, const Access &access, int row, int inner) {
  const auto &shape = attention.buffers[size_t(access.buffer)].shape;
  auto isPlain = [&](int dim) {
    auto axis = std::ranges::find(access.axes, dim, &kernels::Axis::dim);
    return axis != access.axes.end() && axis->stride == 1;
  };
  bool isOneRow =
      row == attention.queries && attention.dims[size_t(row)].size == 1 && shape.size() > 1;
  return shape.size() <= mostDims && access.axes.back().dim == inner && isPlain(inner) &&
         (isOneRow || isPlain(row)) && shape.back().size &&
         *shape.back().size * elementBytes % tmaAlignment == 0;
}

/// Whether nothing lies behind what is read of each row, so that TMA brings zeros there.
bool endsWithRow(const Attention &attention, const Access &access) {
  const kernels::Axis &inner = access.axes.back();
  return inner == kernels::Axis{inner.dim} &&
         attention.buffers[size_t(access.buffer)].shape.back() == attention.dims[size_t(inner.dim)];
}

/// Along all that makes programs but the queries; nothing where it is not known.
std::optional<int64_t> knownHeads(const Attention &attention) {
  int64_t heads = 1;
  for (int dim = 0; dim < int(attention.dims.size()); ++dim)
    if (dim != attention.queries && dim != attention.width && attention.output.covers(dim)) {
      auto size = attention.dims[size_t(dim)].size;
      if (!size || *size > mostPrograms || heads * *size > mostPrograms)
        return std::nullopt;
      heads *= *size;
    }
  return heads;
}

/// Whether there may be one loop for each program, whose programs are known: of as many trips for
/// each, but that of few queries.
bool canSplit(const Attention &attention) {
  auto queries = attention.dims[size_t(attention.queries)].size,
       keys = attention.dims[size_t(attention.keys)].size;
  auto heads = knownHeads(attention);
  return queries && (keys || areFew(attention)) && heads &&
         *queries <= mostPrograms * rowsOfGroup &&
         *heads * ((*queries + rowsOfGroup - 1) / rowsOfGroup) <= mostPrograms &&
         !attention.isCausal;
}

/// Of a thread, for what a trip reads of a mask before its products: where blocks are surely inside
/// it (Attention.cpp finds that in the kernel).
int64_t maskRegisters(const Attention &attention, const AttentionConfiguration &block) {
  auto keys = attention.dims[size_t(attention.keys)].size;
  if (!attention.mask || attention.isCausal || !keys || *keys <= block.keys || block.isOneLoop)
    return 0;
  bool hasRows = attention.mask->covers(attention.queries);
  auto queries = attention.dims[size_t(attention.queries)].size;
  if (hasRows && (!queries || *queries % block.queries != 0))
    return 0;
  return registersOfMask(paddedTerms(block.keys), hasRows && block.queries > 1,
                         kernels::bytesOf(attention.buffers[size_t(attention.mask->buffer)].dtype));
}

AttentionShape shapeOf(const Attention &attention, const AttentionChoice &choice) {
  const AttentionConfiguration &block = choice.block;
  int64_t keys = sizeOf(attention, attention.keys);
  bool isKnown = attention.dims[size_t(attention.keys)].size.has_value();
  return {std::max(block.queries * block.groups, rowsOfGroup),
          paddedTerms(block.keys),
          paddedTerms(sizeOf(attention, attention.depth)),
          sizeOf(attention, attention.width),
          /*isDepthInnermostInQueries=*/true,
          /*isDepthInnermostInKeys=*/true,
          !isKnown || keys > block.keys,
          !block.isOneLoop && (!isKnown || (attention.isCausal && keys > block.keys)),
          !block.isOneLoop && isKnown && !attention.isCausal && keys > block.keys &&
              keys % block.keys != 0,
          attention.mask.has_value(),
          maskRegisters(attention, block),
          !isKnown,
          block.splitsKeys && choice.warpGroups > 1 ? choice.warpGroups : 0,
          /*carriedRows=*/2,
          /*tileRows=*/0,
          !block.isOneLoop     ? Hides::Nothing
          : attention.isCausal ? Hides::ByRow
                               : Hides::End,
          block.isOneLoop && block.splitsKeys};
}

/// Of a score, beside its products and its exponential.
double operationsOf(const Attention &attention, const AttentionConfiguration &block) {
  return operationsOfScore + (attention.mask ? operationsOfMask : 0) +
         (block.isOneLoop ? operationsOfHiding : 0);
}

double ceilDiv(int64_t a, int64_t b) {
  int64_t quotient = (a + b - 1) / b;
  return double(quotient);
}

double bytesOfTrip(const AttentionShape &shape) {
  return double(shape.terms * (shape.depth + shape.width) * elementBytes);
}

/// One trip of a program in each of the blocks that share a multiprocessor.
double cyclesOfTrip(const AttentionShape &shape, double operations, int64_t blocksBeside,
                    const GpuRates &rates) {
  auto scores = double(shape.rows * shape.terms), sums = double(shape.rows * shape.width);
  double products = scores * double(shape.depth + shape.width) / (rates.products * productShare);
  double bytes = bytesOfTrip(shape);
  double softmax = scores / rates.exponentials + (operations * scores + sums) / rates.operations;
  int64_t groups = std::min<int64_t>(3, shape.rows / rowsOfGroup * blocksBeside);
  double all = std::max(
      {shares[size_t(groups)] * (products + softmax), products, bytes / rates.loadedBytes});
  return double(blocksBeside) * all + tripCycles;
}

Numbers numbersOf(const AttentionChoice &choice) {
  Numbers numbers = blockNumbers(choice);
  numbers.merge(pipelineNumbers(pipelineOf(choice)));
  return numbers;
}

} // namespace

PipelineConfiguration pipelineOf(const AttentionChoice &choice) {
  return {choice.stages, choice.warpGroups, /*isPingPong=*/false, choice.isTriggerLate};
}

Numbers blockNumbers(const AttentionChoice &choice) {
  return kernels::withChosenSplitParts(kernels::numbersOf(choice.block),
                                       choice.block.splitsKeys ? choice.parts : 0);
}

bool isForTensorCores(const Attention &attention) {
  auto type = attention.buffers[size_t(attention.query.buffer)].dtype;
  bool isHalf = type == kernel::f16 || type == kernel::bf16;
  auto depth = attention.dims[size_t(attention.depth)].size,
       width = attention.dims[size_t(attention.width)].size;
  auto isExtent = [](std::optional<int64_t> extent) {
    return extent && *extent % headUnit == 0 && *extent > 0 && *extent <= mostExtent;
  };
  return isHalf && attention.sum == kernel::f32 &&
         attention.buffers[size_t(attention.key.buffer)].dtype == type &&
         attention.buffers[size_t(attention.value.buffer)].dtype == type && isExtent(depth) &&
         isExtent(width) &&
         canLoad(attention, attention.query, attention.queries, attention.depth) &&
         canLoad(attention, attention.key, attention.keys, attention.depth) &&
         canLoad(attention, attention.value, attention.keys, attention.width) &&
         (paddedTerms(*depth) == *depth ||
          (endsWithRow(attention, attention.query) && endsWithRow(attention, attention.key)));
}

static std::vector<Constraint> constraintsOfRows() {
  return {{"queries mod 64", "0", "a warp group multiplies 64 rows at a time"},
          {"queries", "64 * warp_groups", "each warp group has 64 rows"},
          {"64 * warp_groups * (1 - split_keys)", "queries", "each warp group has 64 rows"},
          {"split_keys * queries", "64", "keys are dealt to warp groups of the same 64 rows"},
          {"groups", "1", "a program has queries of one head"}};
}

static std::vector<Constraint> constraintsOfFew(const Attention &attention) {
  return {{std::to_string(sizeOf(attention, attention.queries)), "queries",
           "few queries are one block"},
          {"queries * groups", std::to_string(rowsOfGroup), "a warp group has 64 rows"},
          {"groups", std::to_string(mostGroups(attention)), "rows run along one dimension"},
          {"warp_groups * (1 - split_keys)", "1", "one warp group has all rows"}};
}

/// Parts of the keys, for programs and for warp groups: as many whole blocks in each, or, where
/// only calls tell how many, those of one loop, which hides the keys that there are not.
static std::vector<Constraint> constraintsOfParts(const Attention &attention,
                                                  const GpuArchitecture &architecture) {
  std::vector<Constraint> constraints = {
      {"2 * split_keys", "warp_groups * split_parts",
       "keys are dealt to several warp groups, or to several programs"},
      {"split_parts", std::to_string(splitLimits(architecture).mostWrittenOut),
       "so many are combined at one time"},
      {"split_keys * warp_groups", "stages", "each warp group has keys of its own at one time"},
      {"split_keys", canSplit(attention) ? "1" : "0",
       "only what is known to be the same in all programs can be dealt"},
      {"split_keys * (warp_groups - 1)", attention.mask ? "0" : "2",
       "a mask leaves registers for one warp group"}};
  auto keys = attention.dims[size_t(attention.keys)].size;
  if (!keys) {
    constraints.emplace_back("split_keys", "one_loop", "only calls tell where the last block ends");
    return constraints;
  }
  std::string number = std::to_string(*keys);
  constraints.emplace_back("split_keys * one_loop", "0", "equal parts have no hidden keys");
  constraints.emplace_back("split_keys * (" + number + " mod keys)", "0",
                           "all blocks of keys are whole");
  constraints.emplace_back("split_keys * ((" + number +
                               " floordiv keys) mod (split_parts + 1 - split_keys))",
                           "0", "all programs have as many blocks of keys");
  constraints.emplace_back("split_keys * split_parts * warp_groups * keys", number,
                           "each warp group has a block of keys");
  return constraints;
}

std::vector<Constraint> attentionConstraints(const Attention &attention,
                                             const GpuArchitecture &architecture) {
  auto number = [](int64_t n) { return std::to_string(n); };
  int64_t depth = paddedTerms(sizeOf(attention, attention.depth)),
          width = sizeOf(attention, attention.width),
          keys = attention.dims[size_t(attention.keys)].size.value_or(0);
  std::vector<Constraint> constraints = {
      {"one_loop", areFew(attention) && attention.isCausal ? "0" : "1",
       "few queries see but one block of keys"},
      {"warp_groups", "3", "more have too few registers"},
      {"ping_pong", "0", "warp groups of attention always take turns"},
      {"keys", number(mostExtent), "TMA brings up to 256 keys"},
      {"(keys mod 16) * (" + number(keys) + " - keys)", "0",
       "the second product sums up 16 keys at a time"},
      {"transposed", "0", "scores lie as queries x keys"},
      {number(1), "stages", "keys and values come through shared memory"},
      {"stages", "4", "so many have been tried"},
  };
  llvm::append_range(constraints, constraintsOfParts(attention, architecture));
  llvm::append_range(constraints,
                     areFew(attention) ? constraintsOfFew(attention) : constraintsOfRows());
  constraints.emplace_back(
      (areFew(attention) ? number(rowsOfGroup) : "queries") + " * " + number(depth) +
          " * 2 + stages * keys * " + number((depth + width) * 2),
      number(architecture.sharedBytes), "shared memory holds queries and the stages");
  return constraints;
}

bool isLegal(const Attention &attention, const AttentionChoice &choice,
             const GpuArchitecture &architecture) {
  return kernels::holds(kernels::allConstraints(kernels::attentionConstraints(attention),
                                                kernels::attentionSchema(),
                                                attentionConstraints(attention, architecture)),
                        numbersOf(choice)) &&
         planAttention(shapeOf(attention, choice), choice.stages, architecture);
}

/// What another launch takes to combine the parts of each program's keys.
static double costOfCombining(const AttentionShape &shape, const AttentionChoice &choice,
                              int64_t programs, const GpuArchitecture &architecture) {
  if (choice.partsOfKeys() == 1)
    return 0;
  auto state =
      double(choice.block.queries * choice.block.groups * (shape.width + shape.carriedRows));
  return combiningCycles(state * double(programs * choice.partsOfKeys()), architecture);
}

/// Of a block with the most programs, where each has whole programs side by side, if they may be,
/// and deals the trips of the rest. `operations`: of a score.
static double costOfDealt(const AttentionChoice &choice, AttentionShape shape, double operations,
                          int64_t programs, int64_t trips, bool areBeside,
                          const GpuArchitecture &architecture) {
  int64_t most = (programs + architecture.multiprocessors - 1) / architecture.multiprocessors;
  int64_t beside = areBeside ? most / choice.warpGroups : 0;
  int64_t dealt = most - beside * choice.warpGroups;
  double ring = areBeside ? 0 : double(trips) * bytesOfTrip(shape) / bytesOfRing;
  shape.rows *= choice.warpGroups;
  double trip = cyclesOfTrip(shape, operations, 1, architecture.rates);
  double ofDealt = std::max(ring, ceilDiv(trips, choice.warpGroups) * trip);
  return double(beside) * (double(trips) * trip + programCycles) +
         double(dealt) * (ofDealt + programCycles + combineCycles);
}

double attentionCost(const Attention &attention, const AttentionChoice &choice,
                     const GpuArchitecture &architecture) {
  int64_t queries = sizeOf(attention, attention.queries), rows = choice.block.queries;
  int64_t groups = choice.block.groups;
  int64_t keys = sizeOf(attention, attention.keys);
  double blocks = ceilDiv(queries, rows), batch = 1, trips = 0;
  for (int dim = 0; dim < int(attention.dims.size()); ++dim)
    if (dim != attention.queries && dim != attention.width && attention.output.covers(dim))
      batch *= double(sizeOf(attention, dim));
  batch /= double(groups);
  AttentionShape shape = shapeOf(attention, choice);
  double start = architecture.rates.beginTensorCores +
                 (choice.isTriggerLate == isTriggerBetterLate(shape) ? 0 : triggerCycles);
  double combining = costOfCombining(shape, choice, int64_t(batch * blocks), architecture);
  double memory =
      memoryCycles(attention.buffers, areFew(attention) ? keys : unknownExtent, architecture);
  double operations = operationsOf(attention, choice.block);
  if (shape.dealtTo > 0) {
    auto ofPart = int64_t(ceilDiv(int64_t(ceilDiv(keys, choice.block.keys)), choice.partsOfKeys()));
    double dealt =
        costOfDealt(choice, shape, operations, int64_t(batch * blocks) * choice.partsOfKeys(),
                    ofPart, !areFew(attention), architecture);
    return start + overlapped(dealt, memory) + combining;
  }
  blocks *= double(choice.partsOfKeys());
  for (int64_t first = 0; first < queries; first += rows)
    trips += ceilDiv(attention.isCausal ? std::min(keys, first + rows) : keys, choice.block.keys);
  std::optional<AttentionPlan> plan = planAttention(shape, choice.stages, architecture);
  int64_t beside = plan ? plan->blocksOfMultiprocessor : 1;
  // Each block has whole programs; where these are of different lengths, of about any length.
  double rounds = batch * blocks / double(architecture.multiprocessors * beside);
  if (!attention.isCausal)
    rounds = ceilDiv(int64_t(batch * blocks), architecture.multiprocessors * beside);
  double each = areFew(attention) ? std::ceil(trips / blocks) : trips / blocks;
  double ofProgram = each * cyclesOfTrip(shape, operations, beside, architecture.rates);
  if (areFew(attention))
    ofProgram = std::max(ofProgram, each * double(beside) * bytesOfTrip(shape) / bytesOfRing);
  return start + overlapped(rounds * (ofProgram + programCycles), memory) + combining;
}

/// Warp groups and how they work: a program has 64 rows for each, or is dealt to them; or blocks of
/// keys some of which are hidden are in one loop with the others, which takes fewer registers.
static std::vector<AttentionChoice> groupings(const Attention &attention) {
  std::vector<AttentionChoice> all;
  bool isFew = areFew(attention);
  constexpr std::pair<bool, bool> loops[] = {
      {false, false}, {true, false}, {false, true}, {true, true}};
  for (auto [splitsKeys, isOneLoop] : loops)
    for (int64_t warpGroups : {1, 2, 3}) {
      AttentionChoice one;
      one.block.queries = isFew        ? sizeOf(attention, attention.queries)
                          : splitsKeys ? rowsOfGroup
                                       : rowsOfGroup * warpGroups;
      one.block.groups = isFew ? mostGroups(attention) : 1;
      one.block.splitsKeys = splitsKeys, one.block.isOneLoop = isOneLoop;
      one.warpGroups = warpGroups;
      if (splitsKeys || !isFew || warpGroups == 1)
        all.push_back(one);
    }
  return all;
}

/// Into how many parts keys are worth being cut, in blocks of which all parts have as many, or
/// about as many: where programs leave multiprocessors without any.
static std::vector<int64_t> partsFor(const Attention &attention, const AttentionChoice &choice,
                                     const GpuArchitecture &architecture) {
  std::optional<int64_t> heads = knownHeads(attention);
  int64_t queries = sizeOf(attention, attention.queries), keys = sizeOf(attention, attention.keys);
  bool deals = choice.warpGroups > 1;
  std::vector<int64_t> all;
  if (!choice.block.splitsKeys || deals)
    all.push_back(1);
  if (!choice.block.splitsKeys || !heads || !canSplit(attention))
    return all;
  int64_t programs =
      *heads / choice.block.groups * ((queries + choice.block.queries - 1) / choice.block.queries);
  for (int64_t parts = 2; parts <= splitLimits(architecture).mostWrittenOut; ++parts)
    if (programs * parts < 2 * architecture.multiprocessors &&
        (choice.block.isOneLoop ||
         (keys % choice.block.keys == 0 && keys / choice.block.keys % parts == 0)))
      all.push_back(parts);
  return all;
}

std::optional<AttentionChoice> chooseAttention(const Attention &attention,
                                               const GpuArchitecture &architecture) {
  std::optional<AttentionChoice> best;
  double least = 0;
  int64_t keys = sizeOf(attention, attention.keys);
  bool isKnown = attention.dims[size_t(attention.keys)].size.has_value();
  for (const AttentionChoice &grouping : groupings(attention))
    for (int64_t count = keysUnit; count <= mostExtent; count += keysUnit) {
      AttentionChoice tried = grouping;
      if (count - keysUnit >= keys)
        break;
      tried.block.keys = isKnown ? std::min(count, keys) : count;
      AttentionShape shape = shapeOf(attention, tried);
      tried.stages = chooseStages(shape, architecture);
      if (tried.stages == 0)
        continue;
      tried.isTriggerLate = isTriggerBetterLate(shape);
      for (int64_t parts : partsFor(attention, tried, architecture)) {
        tried.parts = parts;
        double cost = attentionCost(attention, tried, architecture);
        if ((!best || cost < least) && isLegal(attention, tried, architecture))
          least = cost, best = tried;
      }
    }
  return best;
}

} // namespace tw::target::nvidia
