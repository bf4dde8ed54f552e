// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/ContractionCost.h"
#include "Target/CPU/Configuration/BlocksInMemory.h"
#include "Target/CPU/Configuration/Memory.h"
#include "Target/CPU/Configuration/Workers.h"
#include <algorithm>

namespace tw::target::cpu {
using kernels::ContractionRoles;
using kernels::rolesOf;

namespace {

constexpr int64_t blockRows = 192, blockColumns = 256; // of c, for one worker: stays in L2
// Blocks of a kernel that keep some workers busy; multiplications below which handing one over
// costs more than it saves: about 10 us.
constexpr int64_t wantedBlocks = someWorkers, fewestBlocks = 8, leastProducts = 1 << 19;
// Rows that pass by a panel for which loading it hides behind their products, from the third-level
// cache, too.
constexpr int64_t leastCutRows = 48;
constexpr int64_t mostVectors = 8;
constexpr int64_t mostInMemory = 1 << 20, mostReductions = 1 << 10; // elements of a block
constexpr int64_t summedRows = 8, summedElements = 1 << 16;         // of a program; of a worker's
constexpr int64_t fewRows = 16;                                     // two or three blocks
constexpr int64_t longSum = 4096;
// With so few terms, and registers for 8 rows of two vectors, the block makes little difference. It
// may cost as much more where rows come out even with those of blocks in memory: then kernels that
// follow each other can share programs (tile-fuse-rows).
constexpr int64_t shortSum = 64, registersOfEightRows = 8 * 2 + 3;
constexpr double evenRowsCost = 1.03;
// More rows of a meet in one set of the first-level cache when they are a power of two long.
constexpr int64_t mostRows = 8;

/// Cycles for one step of the sum over all programs of one matrix: two multiplications or two loads
/// in a cycle, and a chain of additions is four cycles long. Loads also cost what their caches do:
/// a comes from the first level, b from the second.
double cycles(int64_t rows, int64_t columns, const ContractionConfiguration &block,
              const VectorUnit &unit) {
  auto ceilDiv = [](int64_t a, int64_t b) {
    int64_t quotient = (a + b - 1) / b;
    return double(quotient);
  };
  double vectors = ceilDiv(block.columns, unit.lanes), products = double(block.rows) * vectors;
  double loads = double(block.rows) + vectors;
  double step = std::max({products / 2, loads / 2, 4.0}) + 0.1 * double(block.rows) + 0.3 * vectors;
  return ceilDiv(rows, block.rows) * ceilDiv(columns, block.columns) * step;
}

/// Whether whole vectors of `columns` leave little of the last one empty: panels are padded to
/// them.
bool fillsVectors(int64_t columns, const VectorUnit &unit) {
  return 4 * columns >= 3 * ((columns + unit.lanes - 1) / unit.lanes) * unit.lanes;
}

/// The width of panels that `columns` fall into evenly; 0 if all that do are narrow, or leave much
/// of their last vector empty.
int64_t evenPanel(int64_t columns, const VectorUnit &unit) {
  // Two rows of them at least are to fit.
  int64_t most = std::min(mostVectors, (unit.registers - 1) / 3);
  for (int64_t width = std::min(columns, most * unit.lanes); width >= unit.lanes; --width) {
    if (columns % width == 0 && fillsVectors(width, unit))
      return width;
  }
  return 0;
}

/// A block of rows of the operand that is no vector.
CPUContraction rowSums(int64_t rows, int64_t columns, int64_t length) {
  CPUContraction best;
  best.vectorizesReduction = true;
  best.rows = std::clamp<int64_t>(rows, 1, summedRows);
  best.columns = std::clamp<int64_t>(columns, 1, summedRows);
  int64_t programs =
      std::max<int64_t>(1, summedElements / (summedRows * std::max<int64_t>(length, 1)));
  (rows > 1 ? best.rowPrograms : best.columnPrograms) = programs;
  return best;
}

/// A long sum for few programs is one that workers share (`splitLimits` says in how many parts).
void shareLongSum(ContractionConfiguration &block, const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t programs = 1;
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims) {
      int64_t each = dims == &roles.batch || dim != dims->back() ? 1
                     : dims == &roles.rows                       ? block.rows
                                                                 : block.columns;
      auto size = contraction.dims[dim].size;
      programs *= size ? (*size + each - 1) / each : splitLimits.enoughPrograms;
    }
  int64_t length = 1;
  for (int dim : roles.sums)
    length *= contraction.dims[dim].size.value_or(longSum);
  // Several sums are one loop only where that takes blocks of them all.
  bool isOneLoop = roles.sums.size() == 1 || block.kBlock > 0;
  if (length < longSum || !isOneLoop || programs >= splitLimits.enoughPrograms)
    return;
  block.splitsK = true;
  if (block.kBlock == 0)
    block.kBlock = longSum / 4;
}

constexpr char inMemoryField[] = "accumulators_in_memory", interleavedField[] = "interleaved";

Numbers numbersOf(const CPUContraction &configuration) {
  return configurationOf(configuration).symbols();
}

/// Those of every target, too.
std::vector<Constraint> allConstraints(const Contraction &contraction, const VectorUnit &unit) {
  return kernels::allConstraints(kernels::contractionConstraints(contraction),
                                 kernels::contractionSchema(),
                                 contractionConstraints(contraction, unit));
}

} // namespace

const ConfigurationSchema &cpuSchema() {
  static const ConfigurationSchema schema = {
      "cpu",
      {{inMemoryField, ConfigurationField::Flag, 0,
        "whether a program's block lies in memory, with operands converted beside it, and "
        "registers have a part of it"},
       {interleavedField, ConfigurationField::Flag, 0,
        "whether two neighbours along the sum lie side by side in a panel"}}};
  return schema;
}

kernels::Configuration configurationOf(const CPUContraction &configuration) {
  return {"contraction", kernels::numbersOf(configuration), cpuSchema().name,
          Numbers{{inMemoryField, configuration.hasAccumulatorsInMemory},
                  {interleavedField, configuration.isInterleaved()}}};
}

CPUContraction contractionFrom(const kernels::Configuration &configuration) {
  auto isSet = [&](const char *field) {
    const Numbers &fields = configuration.targetFields.numbers;
    auto found = fields.find(field);
    return found != fields.end() && found->second != 0;
  };
  CPUContraction made{kernels::contractionFrom(configuration.fields.numbers)};
  made.hasAccumulatorsInMemory = isSet(inMemoryField);
  if (isSet(interleavedField))
    made.interleave();
  return made;
}

/// Whether blocks of pairs may be half as wide and twice as tall: with AVX-512, which takes
/// elements of a from memory, so that rows need no registers but those of their sums.
static bool canBeNarrow(const VectorUnit &unit) {
  return unit.pairRows > 0 && unit.pairRows < pairRowsOfTiles &&
         unit.lanes * int64_t(sizeof(float)) >= 64 && unit.pairColumns % (2 * unit.lanes) == 0;
}

/// Pairs of bf16 side by side in panels, for the instructions that multiply these.
static std::vector<Constraint> pairConstraints(const Contraction &contraction,
                                               const VectorUnit &unit) {
  std::string columns = std::to_string(unit.pairColumns);
  std::string sums = std::to_string(unit.pairRows * unit.pairColumns);
  int64_t least = unit.pairColumns / (canBeNarrow(unit) ? 2 : 1);
  std::string narrowest = std::to_string(std::max<int64_t>(least, 1));
  auto length = contraction.dims[rolesOf(contraction).sums.back()].size;
  std::vector<Constraint> constraints = {
      {"interleaved + vectorize_reduction", "1", "they are two forms of a product"},
      {"interleaved", "packed", "only panels have neighbours side by side"},
      {"interleaved * (k_block mod 2)", "0", "neighbours along the sum stay together"},
      {"interleaved * (1 - accumulators_in_memory) * rows * columns", sums,
       "registers hold the sums of pairs of bf16"},
      {"interleaved * columns", columns, "columns of the instructions for pairs of bf16"},
      {"interleaved * (columns mod " + narrowest + ")", "0", "their columns"},
      {"interleaved * " + narrowest, "columns", "their columns"}};
  if (isBf16Product(contraction) && length)
    constraints.emplace_back("interleaved * (" + std::to_string(*length) + " mod 2)", "0",
                             "neighbours come out even");
  else
    constraints.emplace_back("interleaved", "0",
                             "it is no product of bf16 summed in f32 over a known length");
  return constraints;
}

std::vector<Constraint> variantConstraints(const CPUContraction &kernel) {
  constexpr const char *onePacking = "all variants of a kernel read one packing";
  const char *value = kernel.isInterleaved() ? "1" : "0";
  return {{interleavedField, value, onePacking}, {value, interleavedField, onePacking}};
}

std::vector<Constraint> contractionConstraints(const Contraction &contraction,
                                               const VectorUnit &unit) {
  auto number = [](int64_t n) { return std::to_string(n); };
  // The block, one row of b and one element of a for it.
  std::string vectors = "(columns ceildiv " + number(unit.lanes) + ")";
  std::vector<Constraint> constraints = {
      {"(rows * " + vectors + " + " + vectors +
           " + 1) * (1 - interleaved) * (1 - vectorize_reduction) * (1 - accumulators_in_memory)",
       number(unit.registers),
       "vector registers hold the block, a row of the second operand and an element of the first"},
      {"vectorize_reduction + accumulators_in_memory", "1", "they are forms of a product"},
      {"panels", "1 + accumulators_in_memory * columns", "a block in registers has one panel"},
      {"accumulators_in_memory * rows * columns", number(mostInMemory), "each worker has a block"},
      {"vectorize_reduction * rows * columns", number(mostReductions), "each is a sum of its own"},
  };
  std::vector<Constraint> pairs = pairConstraints(contraction, unit);
  constraints.insert(constraints.end(), pairs.begin(), pairs.end());
  return constraints;
}

bool isLegal(const Contraction &contraction, const CPUContraction &configuration,
             const VectorUnit &unit) {
  return holds(allConstraints(contraction, unit), numbersOf(configuration));
}

/// `count` and what a last block of `unit` has beside.
static int64_t roundUp(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

/// The same where b streams from memory, for the worker that ends last.
static double streamedCycles(int64_t rows, int64_t columns, const CPUContraction &block,
                             const VectorUnit &unit) {
  int64_t programs = (columns + block.columns - 1) / block.columns;
  int64_t bytes =
      (rows + block.rows - 1) / block.rows * programs * block.columns * int64_t(sizeof(float));
  double cost = std::max(cycles(rows, columns, block, unit), double(bytes) / double(memoryRate));
  return cost / std::min(1.0, busyShare(programs) / goodShare);
}

/// Whether it does: all rows of a block use it at once.
static bool streamsFromMemory(const Contraction &contraction, bool isPacked, int64_t rows) {
  return isPacked && rows <= mostRows && isForgotten(contraction);
}

/// The cheapest block of pairs of bf16 that lies in registers, in panels of so many columns (0:
/// any); few rows are cut into even blocks, and where a panel of half the width passes by fewer of
/// them it is read less often.
static CPUContraction blockOfPairs(const CPUContraction &like, int64_t rows, int64_t panel,
                                   const VectorUnit &unit) {
  constexpr int64_t mostCutRows = 24;
  constexpr double loadedVector = 1; // steps of a row
  CPUContraction best = like;
  best.rows = std::clamp<int64_t>(rows, 1, unit.pairRows);
  best.columns = unit.pairColumns;
  best.interleave();
  if (rows > mostCutRows || unit.pairRows >= pairRowsOfTiles)
    return best;
  double least = 0;
  for (int64_t columns : {unit.pairColumns, unit.pairColumns / 2}) {
    if ((panel > 0 && columns != panel) || (columns < unit.pairColumns && !canBeNarrow(unit)))
      continue;
    int64_t most = unit.pairRows * unit.pairColumns / columns, fewest = (rows + most - 1) / most;
    for (int64_t blocks : {fewest, fewest + 1}) {
      int64_t height = (rows + blocks - 1) / blocks;
      double cost = double((rows + height - 1) / height) * (double(height) + loadedVector);
      if (least == 0 || cost < least)
        least = cost, best.rows = height, best.columns = columns;
    }
  }
  return best;
}

/// The cheapest block that lies in registers, with everything else as in `like`.
static CPUContraction blockInRegisters(const Contraction &contraction, const VectorUnit &unit,
                                       const CPUContraction &like, int64_t panel) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = sizeOf(contraction, roles.rows);
  int64_t columns = sizeOf(contraction, roles.columns) / like.columnParts;
  std::vector<Constraint> constraints = allConstraints(contraction, unit);
  CPUContraction best = like;
  // Its instructions multiply twice as much; what a panel has too many columns is for nothing.
  bool isWorth = unit.pairColumns > 0 &&
                 roundUp(columns, unit.pairColumns) <= 2 * roundUp(columns, unit.lanes);
  if (isWorth) {
    CPUContraction pairs = blockOfPairs(like, std::max<int64_t>(rows, 1), panel, unit);
    if (holds(constraints, numbersOf(pairs)))
      return pairs;
  }
  bool streams = panel == 0 && streamsFromMemory(contraction, like.isPacked, rows);
  bool isShort =
      sizeOf(contraction, roles.sums) <= shortSum && unit.registers >= registersOfEightRows;
  double least = 0;
  for (int64_t vectors = 1; vectors <= mostVectors; ++vectors)
    for (int64_t height = 1; height <= mostRows; ++height) {
      CPUContraction block = like;
      block.rows = std::min(height, std::max<int64_t>(rows, 1));
      block.columns = panel > 0 ? panel : vectors * unit.lanes;
      if (!holds(constraints, numbersOf(block)))
        continue;
      double cost =
          streams ? streamedCycles(rows, columns, block, unit) : cycles(rows, columns, block, unit);
      if (isShort && rows % block.rows != 0)
        cost *= evenRowsCost;
      if (least == 0 || cost < least || (streams && cost == least)) // the widest of those
        least = cost, best = block;
    }
  return best;
}

/// Cuts the rows of a block in memory into the fewest equal parts that keep workers evenly busy,
/// beside those of all panels and of the batch. The parts of a panel follow each other, so that it
/// is loaded once where one worker has them all; but where all panels stay in near caches
/// (`isNear`), these pass by each part of the rows.
static void cutRows(CPUContraction &block, int64_t rows, int64_t panels, int64_t batch,
                    bool isNear) {
  int64_t others = batch * panels;
  int64_t best = (rows + block.rows - 1) / block.rows, fewest = best;
  for (int64_t count = fewest + 1; rows / count >= leastCutRows; ++count)
    if (rows % count == 0 && isMoreEven(others * count, others * best))
      best = count;
  if (best == fewest)
    return;
  block.rows = rows / best;
  block.rowPrograms = isNear ? 1 : best;
  block.columnPrograms = isNear ? panels : 1;
}

/// How many programs follow each other on one worker; `columns`: of one part. Fewer than would fit
/// its cache where workers would go short of blocks that are worth handing over.
static void choosePrograms(CPUContraction &block, const Contraction &contraction, int64_t rows,
                           int64_t columns) {
  // Blocks of equal length, so that no worker has a short one.
  auto programs = [](int64_t size, int64_t each, int64_t most) {
    int64_t all = std::max<int64_t>(1, (size + each - 1) / each);
    int64_t together = std::max<int64_t>(1, most / each), blocks = (all + together - 1) / together;
    return (all + blocks - 1) / blocks;
  };
  // In memory, one block of rows of a stays in the second-level cache while those of b pass by.
  block.rowPrograms =
      programs(rows, block.rows, block.hasAccumulatorsInMemory ? block.rows : blockRows);
  block.columnPrograms = programs(columns, block.columns, blockColumns / block.columnParts);
  ContractionRoles roles = rolesOf(contraction);
  int64_t batch = 1;
  for (int dim : roles.batch)
    batch = std::min(wantedBlocks, batch * contraction.dims[dim].size.value_or(wantedBlocks));
  auto blocks = [&] {
    auto along = [](int64_t size, int64_t each) { return (size + each - 1) / each; };
    return batch * along(rows, block.rows * block.rowPrograms) *
           along(columns, block.columns * block.columnPrograms);
  };
  auto products = [&] {
    return block.rows * block.rowPrograms * block.columns * block.columnPrograms *
           block.columnParts * sizeOf(contraction, roles.sums);
  };
  while (blocks() < wantedBlocks && products() > leastProducts &&
         (block.columnPrograms > 1 || block.rowPrograms > 1))
    (block.columnPrograms > 1 ? block.columnPrograms : block.rowPrograms) /= 2;
  // Rows that pass by a panel are cut last: each part of them reads it again.
  auto canHalve = [&] {
    int64_t whole = block.isInterleaved() ? pairRowsOfTiles : streamedRows;
    return block.rows >= 2 * whole && (!block.isInterleaved() || block.rows % (2 * whole) == 0);
  };
  while (block.isPacked && block.hasAccumulatorsInMemory && blocks() < fewestBlocks &&
         products() > leastProducts && canHalve())
    block.rows = (block.rows + 1) / 2;
  if (block.isPacked && block.hasAccumulatorsInMemory && !block.isInterleaved()) {
    int64_t bytes = columns * sizeOf(contraction, roles.sums) * int64_t(sizeof(float));
    cutRows(block, rows, (columns + block.columns - 1) / block.columns, batch, bytes <= nearBytes);
  }
}

CPUContraction chooseVariant(const Contraction &contraction, const VectorUnit &unit,
                             const CPUContraction &kernel) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = sizeOf(contraction, roles.rows);
  int64_t columns = sizeOf(contraction, roles.columns) / kernel.columnParts;
  VectorUnit own = unit;
  if (!kernel.isInterleaved())
    own.pairRows = own.pairColumns = 0;
  CPUContraction like;
  like.isPacked = kernel.isPacked;
  like.columnParts = kernel.columnParts;
  CPUContraction best =
      blockInRegisters(contraction, own, like, kernel.isPacked ? panelOf(kernel) : 0);
  if (auto inMemory = variantInMemory(contraction, own, best))
    best = *inMemory;
  if (!best.isPacked || best.columnParts > 1)
    best.columns = std::max<int64_t>(1, std::min(columns, best.columns));
  choosePrograms(best, contraction, rows, columns);
  // More programs than there are make no difference, nor a variant.
  if (best.rows == kernel.rows && kernel.rowPrograms > best.rowPrograms &&
      !best.hasAccumulatorsInMemory)
    best.rowPrograms = kernel.rowPrograms;
  return best;
}

/// Those that whoever reads the result takes, where their columns come out even, in panels that are
/// no narrower than those of all columns; a part of few columns is one panel.
static int64_t chooseParts(const Contraction &contraction, const VectorUnit &unit) {
  int64_t columns = sizeOf(contraction, rolesOf(contraction).columns) / contraction.columnParts;
  bool isEven = columns % unit.lanes == 0 || columns < 2 * unit.lanes || evenPanel(columns, unit);
  return isEven ? contraction.columnParts : 1;
}

CPUContraction chooseContraction(const Contraction &contraction, const VectorUnit &unit,
                                 bool wantsPacked) {
  ContractionRoles roles = rolesOf(contraction);
  CPUContraction best;
  best.columnParts = chooseParts(contraction, unit);
  int64_t rows = sizeOf(contraction, roles.rows);
  int64_t columns = sizeOf(contraction, roles.columns) / best.columnParts;
  int64_t panel = 0; // any
  if (best.columnParts > 1 && columns % unit.lanes != 0)
    if (panel = evenPanel(columns, unit); panel == 0)
      panel = columns;
  wantsPacked = wantsPacked && canPack(contraction) && (panel > 0 || fillsVectors(columns, unit));
  if (canUseRowDots(contraction, wantsPacked)) {
    best = rowSums(rows, columns, sizeOf(contraction, roles.sums));
    shareLongSum(best, contraction);
    return best;
  }
  best.isPacked = wantsPacked;
  best = blockInRegisters(contraction, unit, best, wantsPacked || best.columnParts > 1 ? panel : 0);
  if (auto inMemory = chooseInMemory(contraction, unit, best))
    best = *inMemory;
  if (!best.isPacked || best.columnParts > 1)
    best.columns = std::max<int64_t>(1, std::min(columns, best.columns));
  choosePrograms(best, contraction, rows, columns);
  if (!best.splitsK && best.columnParts == 1)
    shareLongSum(best, contraction);
  return best;
}

double contractionCost(const Contraction &contraction, const ContractionConfiguration &block,
                       const VectorUnit &unit) {
  ContractionRoles roles = rolesOf(contraction);
  double cost =
      cycles(sizeOf(contraction, roles.rows), sizeOf(contraction, roles.columns), block, unit);
  auto times = [&](std::vector<int> dims, bool butInnermost) {
    if (butInnermost && !dims.empty())
      dims.pop_back();
    for (int dim : dims)
      cost *= double(contraction.dims[dim].size.value_or(unknownExtent));
  };
  times(roles.batch, false);
  times(roles.sums, false);
  times(roles.rows, true);
  times(roles.columns, true);
  return cost;
}

double cyclesOfUnaskedPairs(const Contraction &contraction, const CPUContraction &block) {
  if (!block.isInterleaved() || block.hasAccumulatorsInMemory || !isForgotten(contraction))
    return 0;
  ContractionRoles roles = rolesOf(contraction);
  constexpr int64_t bf16Bytes = 2;
  return double(sizeOf(contraction, roles.columns) * sizeOf(contraction, roles.sums) * bf16Bytes) /
         double(memoryRate);
}

bool isRhsTransposeProfitable(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  if (roles.columns.empty() || roles.rows.empty())
    return false;
  auto rows = contraction.dims[roles.rows.back()].size;
  auto columns = contraction.dims[roles.columns.back()].size;
  return isTransposed(contraction) && !readsWindows(contraction) && (!rows || *rows > fewRows) &&
         columns != 1;
}

} // namespace tw::target::cpu
