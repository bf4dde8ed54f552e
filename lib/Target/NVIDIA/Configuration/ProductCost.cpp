// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/ProductCost.h"
#include "GraphToTile/Configuration/AlignedRows.h"
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "Kernels/SplitParts.h"
#include "Target/NVIDIA/Configuration/MemoryCost.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainProduct.h"
#include "Target/NVIDIA/Product/Pipeline.h"
#include "Target/NVIDIA/Product/Product.h"
#include <algorithm>
#include <array>
#include <cmath>

namespace tw::target::nvidia {
using kernels::Access;
using kernels::Axis;
using kernels::ContractionRoles;
using kernels::Numbers;
using kernels::rolesOf;

namespace {

constexpr int64_t unknownExtent = 2048, mostExtent = int64_t(1) << 30;
// Rows of programs whose operands meet in the second-level cache: all, where these are few, so that
// the columns' operand is read once.
constexpr int64_t usualRowPrograms = 8, mostRowPrograms = 16;

// Measured: what wgmma reaches of the tensor cores' rate, and TMA of that of the second-level
// cache. Cycles between a program's last product and the next one's first.
constexpr double productShare = 0.95, loadShare = 0.90625, turnCycles = 600;
// Where two warp groups take turns: between the products of one and those of the other, while the
// first one's results go out. Measured, as the rest.
constexpr double handOverCycles = 1000;
// Measured: with fewer than four stages, products wait for the next one now and then.
constexpr int64_t enoughStages = 4;
constexpr double waitingFactor = 1.05;
constexpr double sumBytes = 4; // of what is combined
// What a trip takes beside its products and bytes, which many rows hide.
constexpr int64_t fewRows = 64;
constexpr double tripCycles = 60;
// Rows of a block beyond those that there are come to 0, but by way of the second-level cache, of
// which all programs along the columns ask the same at one time: what each of these adds to a trip
// of one line of 64 such rows. Measured, also that it grows with the root of these lines.
constexpr double outsideCycles = 4.6, lineBytes = 128;
// Columns next to each other come in boxes of 64, or of 32 where these do not fit evenly.
constexpr int64_t boxColumns = 64;
constexpr double narrowBoxFactor = 1.1;

// A copy to longer rows reads and writes, single elements for the most part.
constexpr double copyTraffic = 4;

constexpr int64_t rowsOfInstruction = 64;
constexpr int64_t blockRows[] = {16, 64, 128, 256};
constexpr int64_t blockColumns[] = {16, 32, 64, 96, 128, 160, 192, 256};

int64_t sizeOf(const Contraction &contraction, int dim) {
  const kernels::Extent &extent = contraction.dims[dim];
  return extent.size.value_or(extent.most.value_or(unknownExtent));
}

const Axis *axisOf(const Access &access, int dim) {
  auto found = std::ranges::find(access.axes, dim, &Axis::dim);
  return found == access.axes.end() ? nullptr : &*found;
}

int64_t elementBytes(const Contraction &contraction) {
  return contraction.buffers[contraction.a.buffer].dtype == kernel::f32 ? 4 : 2;
}

bool isInnermost(const Access &access, int dim) { return access.axes.back().dim == dim; }

/// Whether TMA can bring boxes of an operand: contiguous along the sum or along `free`, in rows
/// that may be a multiple of 16 bytes.
bool canLoad(const Contraction &contraction, const Access &access, int free, int sum) {
  const auto &shape = contraction.buffers[access.buffer].shape;
  auto isPlain = [&](int dim) {
    const Axis *axis = axisOf(access, dim);
    return axis && axis->stride == 1;
  };
  if (!isPlain(free) || !isPlain(sum) || shape.size() > 5 ||
      (!isInnermost(access, free) && !isInnermost(access, sum)))
    return false;
  return shape.size() == 1 || !shape.back().size || // which the host looks at
         *shape.back().size * elementBytes(contraction) % tmaAlignment == 0;
}

int64_t depthOf(const Contraction &contraction) {
  int64_t length = sizeOf(contraction, rolesOf(contraction).sums[0]);
  int64_t depth = instructionBytes, bytes = elementBytes(contraction);
  while (depth < mostRowBytes && depth / bytes < length)
    depth *= 2;
  return depth / bytes;
}

ProductShape shapeOf(const Contraction &contraction, const ContractionConfiguration &block) {
  int sum = rolesOf(contraction).sums[0];
  return {std::max(block.rows, rowsOfInstruction),
          block.columns,
          block.kBlock,
          isInnermost(contraction.a, sum),
          isInnermost(contraction.b, sum),
          elementBytes(contraction)};
}

/// Programs of one part of the sum; nothing where only calls tell.
std::optional<int64_t> knownPrograms(const Contraction &contraction,
                                     const ContractionConfiguration &block) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t programs = 1;
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims) {
      auto size = contraction.dims[size_t(dim)].size;
      if (!size || *size > mostExtent || programs > mostExtent)
        return std::nullopt;
      bool isInner = dims != &roles.batch && dim == dims->back();
      int64_t each = !isInner ? 1 : dims == &roles.rows ? block.rows : block.columns;
      programs *= (*size + each - 1) / each;
    }
  return programs;
}

double ceilDiv(int64_t a, int64_t b) {
  int64_t quotient = (a + b - 1) / b;
  return double(quotient);
}

} // namespace

bool isForTensorCores(const Contraction &contraction, Precision precision) {
  auto type = contraction.buffers[contraction.a.buffer].dtype;
  bool isTF32 = type == kernel::f32 && precision == Precision::TF32;
  if (type != contraction.buffers[contraction.b.buffer].dtype || contraction.sum != kernel::f32 ||
      (type != kernel::f16 && type != kernel::bf16 && !isTF32))
    return false;
  ContractionRoles roles = rolesOf(contraction);
  if (roles.rows.empty() || roles.columns.empty() || roles.sums.size() != 1)
    return false;
  const kernels::Extent &rows = contraction.dims[size_t(roles.rows.back())];
  if (rows.size == 1 || (!rows.size && rows.most == 1))
    return false; // a row times a matrix reads that as fast without them
  if (isTF32 &&
      !(isInnermost(contraction.a, roles.sums[0]) && isInnermost(contraction.b, roles.sums[0])))
    return false;
  return sizeOf(contraction, roles.sums[0]) > 0 &&
         canLoad(contraction, contraction.a, roles.rows.back(), roles.sums[0]) &&
         canLoad(contraction, contraction.b, roles.columns.back(), roles.sums[0]);
}

bool isForTensorCoresTransposed(const Contraction &contraction, Precision precision) {
  return isForTensorCores(conversion::withTransposedRhs(contraction), precision);
}

std::vector<Constraint> productConstraints(const Contraction &contraction,
                                           const GpuArchitecture &architecture) {
  auto number = [](int64_t n) { return std::to_string(n); };
  int64_t bytes = elementBytes(contraction), least = instructionBytes / bytes;
  int64_t length = contraction.dims[size_t(rolesOf(contraction).sums[0])].size.value_or(0);
  bool areProgramsKnown = knownPrograms(contraction, {.rows = 1, .columns = 1}).has_value();
  return {
      {"(rows mod 64) * (rows floordiv 64)", "0",
       "a warp group multiplies 64 rows at a time, or fewer, which are all"},
      {"2", "rows", "one row needs no tensor cores"},
      {"rows", "256", "TMA brings up to 256 rows"},
      {"((rows ceildiv 64) mod warp_groups) * (1 - ping_pong)", "0",
       "warp groups share the rows evenly"},
      {"ping_pong", "warp_groups - 1", "two warp groups take turns"},
      {"warp_groups", "2", "more have too few registers"},
      {"late_trigger", "0", "the launch behind a product begins with its blocks"},
      {"columns mod 16", "0", "a product has a multiple of 16 columns"},
      {"columns", "256", "a product has up to 256 columns"},
      {"rows * columns", number(mostSums * 128) + " * (warp_groups - ping_pong)",
       "registers hold the sums"},
      {number(least), "k_block",
       "a trip has a multiple of " + number(least) + " terms, whatever the sum's length is"},
      {"k_block mod " + number(least), "0", "a product has " + number(least) + " terms of the sum"},
      {"(k_block mod " + number(4 * least) + ") * (k_block - " + number(least) + ") * (k_block - " +
           number(2 * least) + ")",
       "0", "rows in shared memory have 32, 64 or 128 bytes"},
      {"k_block", "256", "TMA brings up to 256 terms"},
      {"2", "stages", "one stage is filled while another one is multiplied"},
      {"stages", "8", "so many have been tried"},
      {"stages * ((rows ceildiv 64) * 64 + columns) * k_block * " + number(bytes) +
           " + warp_groups * " +
           number(leastStoreBuffers * StorePlan::pieceBytesOf(narrowestPiece)) + " + 128",
       number(architecture.sharedBytes), "shared memory holds the stages and what is stored"},
      {"packed + vectorize_reduction", "0", "TMA reads operands as they are"},
      {"column_parts", "1", "a program has one block"},
      {"2 * split_k", "split_parts", "a loop that may be split runs in parts"},
      {"split_k * ping_pong", "0", "parts have different numbers of trips"},
      {"split_parts", areProgramsKnown ? number(splitLimits(architecture).mostWrittenOut) : "0",
       "so many are combined at one time, of programs whose number is known"},
      {"(split_parts - split_k) * k_block", number(std::max<int64_t>(length - 1, 0)),
       "each part has terms of the sum"},
  };
}

Numbers blockNumbers(const ProductConfiguration &configuration) {
  const ContractionConfiguration &block = configuration.block;
  return kernels::withChosenSplitParts(kernels::numbersOf(block),
                                       block.splitsK ? configuration.parts : 0);
}

Numbers pipelineNumbers(const PipelineConfiguration &configuration) {
  return {{stagesField, configuration.stages},
          {warpGroupsField, configuration.warpGroups},
          {pingPongField, configuration.isPingPong},
          {lateTriggerField, configuration.isTriggerLate}};
}

static Numbers numbersOf(const ProductConfiguration &configuration) {
  Numbers numbers = blockNumbers(configuration);
  numbers.merge(pipelineNumbers(configuration.pipeline));
  return numbers;
}

bool isLegal(const Contraction &contraction, const ProductConfiguration &configuration,
             const GpuArchitecture &architecture) {
  return kernels::holds(kernels::allConstraints(kernels::contractionConstraints(contraction),
                                                kernels::contractionSchema(),
                                                productConstraints(contraction, architecture)),
                        numbersOf(configuration)) &&
         planProduct(shapeOf(contraction, configuration.block), configuration.pipeline,
                     architecture);
}

double productCost(const Contraction &contraction, const ProductConfiguration &configuration,
                   const GpuArchitecture &architecture) {
  ContractionRoles roles = rolesOf(contraction);
  const ContractionConfiguration &block = configuration.block;
  double programs = ceilDiv(sizeOf(contraction, roles.rows.back()), block.rows) *
                    ceilDiv(sizeOf(contraction, roles.columns.back()), block.columns);
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims)
      if (dims == &roles.batch || dim != dims->back())
        programs *= double(sizeOf(contraction, dim));
  int64_t parts = configuration.partsOfSum();
  double ofParts = programs * double(parts);
  double waves = ceilDiv(int64_t(ofParts), architecture.multiprocessors);
  double trips = ceilDiv(int64_t(ceilDiv(sizeOf(contraction, roles.sums[0]), block.kBlock)), parts);
  std::optional<int64_t> known = contraction.dims[size_t(roles.rows.back())].size;
  auto elements = double(block.rows * block.columns), depth = double(block.kBlock),
       loaded = double(std::min(block.rows, known.value_or(block.rows)));
  auto bytes = double(elementBytes(contraction));
  const GpuRates &rates = architecture.rates;
  double multiplied = std::max(elements, double(rowsOfInstruction * block.columns));
  double trip =
      std::max(multiplied * depth * bytes / 2 / (rates.products * productShare),
               (loaded + double(block.columns)) * depth * bytes / (rates.loadedBytes * loadShare));
  if (configuration.pipeline.stages < enoughStages)
    trip *= waitingFactor;
  if (sizeOf(contraction, roles.rows.back()) <= fewRows) {
    double readers = ceilDiv(sizeOf(contraction, roles.columns.back()), block.columns);
    double outside = known ? 0 : loaded / double(rowsOfInstruction);
    trip = std::max(trip + tripCycles,
                    outsideCycles * outside * readers * std::sqrt(depth * bytes / lineBytes));
  }
  if (isInnermost(contraction.b, roles.columns.back()) && block.columns > boxColumns &&
      block.columns % boxColumns != 0)
    trip *= narrowBoxFactor;
  double stored = parts > 1 ? sumBytes : bytes;
  double products = trips * trip, end = elements * stored / rates.storedBytes + turnCycles;
  double all = waves * (products + end);
  if (configuration.pipeline.isPingPong)
    all = waves * products + (waves - 1) * handOverCycles + end;
  double combining = 0;
  if (parts > 1)
    combining = combiningCycles(programs * elements * double(parts), architecture);
  return rates.beginTensorCores +
         overlapped(all, memoryCycles(contraction.buffers, unknownExtent, architecture)) +
         combining;
}

static int64_t rowProgramsFor(const Contraction &contraction, int64_t rows) {
  int64_t size = sizeOf(contraction, rolesOf(contraction).rows.back());
  int64_t programs = (size + rows - 1) / rows;
  return programs <= mostRowPrograms ? programs : usualRowPrograms;
}

/// Into how many parts a sum is worth being cut: where programs leave multiprocessors without any.
static std::vector<int64_t> partsFor(const Contraction &contraction,
                                     const ContractionConfiguration &block, bool isPingPong,
                                     const GpuArchitecture &architecture) {
  std::vector<int64_t> all = {1};
  std::optional<int64_t> programs = knownPrograms(contraction, block);
  if (!programs || isPingPong)
    return all;
  int64_t trips = int64_t(ceilDiv(sizeOf(contraction, rolesOf(contraction).sums[0]), block.kBlock));
  for (int64_t parts = 2; parts <= std::min(splitLimits(architecture).mostWrittenOut, trips);
       ++parts) {
    int64_t each = (trips + parts - 1) / parts;
    bool areAllNeeded = (trips + each - 1) / each == parts;
    if (*programs * parts <= architecture.multiprocessors && areAllNeeded)
      all.push_back(parts);
  }
  return all;
}

/// Blocks that are tried: rows, columns and terms of the sum. Few rows rather have twice as many of
/// these in a trip, for they come from memory in longer pieces.
static std::vector<std::array<int64_t, 3>> blocksFor(const Contraction &contraction) {
  int64_t depth = depthOf(contraction), length = sizeOf(contraction, rolesOf(contraction).sums[0]);
  bool isLong =
      sizeOf(contraction, rolesOf(contraction).rows.back()) <= fewRows && 2 * depth <= length;
  std::vector<std::array<int64_t, 3>> blocks;
  for (int64_t rows : blockRows)
    for (int64_t columns : blockColumns)
      for (int64_t terms = (isLong ? 2 : 1) * depth; terms >= depth; terms /= 2)
        blocks.push_back({rows, columns, terms});
  return blocks;
}

ProductConfiguration chooseProduct(const Contraction &contraction,
                                   const GpuArchitecture &architecture) {
  ProductConfiguration best;
  double least = 0;
  bool isColumnInnermost = isInnermost(contraction.b, rolesOf(contraction).columns.back());
  for (auto [rows, columns, depth] : blocksFor(contraction)) {
    ProductConfiguration tried;
    tried.block.rows = rows;
    tried.block.columns = columns;
    tried.block.kBlock = depth;
    tried.block.rowPrograms = rowProgramsFor(contraction, rows);
    if (isColumnInnermost && columns > boxColumns && columns % (boxColumns / 2) != 0)
      continue;
    tried.pipeline = choosePipeline(shapeOf(contraction, tried.block), architecture);
    for (bool isPingPong : {false, true})
      for (int64_t parts : partsFor(contraction, tried.block, isPingPong, architecture)) {
        tried.pipeline.isPingPong = isPingPong;
        tried.parts = parts;
        tried.block.splitsK = parts > 1;
        if (isPingPong && tried.pipeline.warpGroups != 2)
          continue;
        double cost = productCost(contraction, tried, architecture);
        if ((least == 0 || cost < least) && isLegal(contraction, tried, architecture))
          least = cost, best = tried;
      }
  }
  return best;
}

bool isAlignmentProfitable(const Contraction &contraction, bool isRhsWeight, Precision precision,
                           const GpuArchitecture &architecture) {
  if (!hasTensorCores(architecture) || isForTensorCores(contraction, precision) ||
      !conversion::canAlignRows(contraction, tmaAlignment))
    return false;
  Contraction aligned = conversion::withAlignedRows(contraction, tmaAlignment);
  if (!isForTensorCores(aligned, precision))
    return false;
  int64_t bytes = conversion::bytesToAlign(contraction, tmaAlignment, isRhsWeight, unknownExtent);
  const GpuRates &rates = architecture.rates;
  double copies = bytes == 0 ? 0 : rates.launch + copyTraffic * double(bytes) / rates.memoryBytes;
  double plain = plainProductCost(
      contraction, choosePlainProduct(contraction, isRhsWeight, architecture), architecture);
  return productCost(aligned, chooseProduct(aligned, architecture), architecture) + copies < plain;
}

} // namespace tw::target::nvidia
