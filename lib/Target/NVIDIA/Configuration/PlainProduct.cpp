// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a program share its block (Emission/DotBlock.h), so larger blocks read less for
// each product, and smaller ones are programs for more multiprocessors.
#include "Target/NVIDIA/Configuration/PlainProduct.h"
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "Target/NVIDIA/Configuration/Cheapest.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include "Target/NVIDIA/Emission/Width.h"
#include <algorithm>
#include <cmath>

namespace tw::target::nvidia {
using kernels::Access;
using kernels::ContractionRoles;
using kernels::rolesOf;

namespace {

constexpr int64_t unknownExtent = 1024;
constexpr int64_t blockRows[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
constexpr int64_t blockColumns[] = {8, 16, 32, 48, 64, 96, 128};
// Panels of a weight: what a warp reads at once.
constexpr int64_t panelColumns = 32;
// Rows of a vector's product that a program has side by side.
constexpr int64_t summedRows[] = {1, 2, 4, 8};
// Terms from which on workers may share a sum, and terms of a trip then.
constexpr int64_t longSum = 512, sharedTerms[] = {128, 256, 512};
// Instructions for an element of 16 bits that is converted, and for a load that may be outside.
constexpr double widened = 1, tested = 2;
// Of a row that all threads of a block multiply and add up: instructions of a warp for an access,
// for each of its elements, and for exchanging sums; cycles of the exchange with its barrier, of
// loads that are all under way together, and of one that is waited for.
constexpr double accessInstructions = 2, elementInstructions = 3, exchangeInstructions = 40;
constexpr double exchangeCycles = 250, loadedCycles = 600, waitedCycles = 200;
// Of a transpose: the second-level cache's share for an element, whose accesses find few lines
// together.
constexpr double transposeTraffic = 4;
constexpr double leastGain = 0.85;

struct Problem {
  explicit Problem(const Contraction &spec) : spec(spec), roles(rolesOf(spec)) {
    rows = innermost(roles.rows), columns = innermost(roles.columns), depth = innermost(roles.sums);
    for (auto *dims : {&roles.batch, &roles.rows, &roles.columns, &roles.sums})
      for (int dim : *dims)
        if (dims == &roles.batch || dim != dims->back())
          (dims == &roles.sums ? outerTerms : batch) *= double(sizeOf(dim));
    bytesOfA = bytesOf(spec.a), bytesOfB = bytesOf(spec.b);
  }

  int64_t sizeOf(int dim) const {
    const kernels::Extent &extent = spec.dims[dim];
    return std::max<int64_t>(1, extent.size.value_or(extent.most.value_or(unknownExtent)));
  }
  int64_t innermost(const std::vector<int> &dims) const {
    return dims.empty() ? 1 : sizeOf(dims.back());
  }
  bool areKnown(const std::vector<int> &dims) const {
    return std::ranges::all_of(dims, [&](int dim) { return spec.dims[dim].size.has_value(); });
  }
  int64_t bytesOf(const Access &access) const {
    return nvidia::bytesOf(spec.buffers[access.buffer].dtype);
  }
  bool isAlongSum(const Access &access) const {
    return access.axes.empty() || !spec.c.covers(access.axes.back().dim);
  }
  double programs(const ContractionConfiguration &block) const {
    auto along = [](int64_t size, int64_t each) { return std::ceil(double(size) / double(each)); };
    return batch * along(rows, block.rows) * along(columns, block.columns * block.columnParts);
  }

  const Contraction &spec;
  ContractionRoles roles;
  // Of the innermost dimensions, which blocks extend along.
  int64_t rows, columns, depth;
  int64_t bytesOfA, bytesOfB;
  double batch = 1, outerTerms = 1; // of all other dimensions of the result; of all other sums
};

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The products that a program computes one after the other, and terms of each.
struct Trips {
  int64_t terms;
  double count;
};

Trips tripsOf(const Problem &p, const ContractionConfiguration &block) {
  if (block.kBlock == 0)
    return {p.depth, p.outerTerms};
  std::vector<int64_t> blocks = {std::min(block.kBlock, p.depth)};
  if (p.roles.sums.size() > 1)
    blocks = kernels::sumBlocks(p.spec, block.kBlock);
  Trips trips{1, 1};
  for (size_t level = 0; level < blocks.size(); ++level) {
    int64_t size = p.sizeOf(p.roles.sums[level]), each = blocks[level] > 0 ? blocks[level] : size;
    trips.terms *= each;
    trips.count *= std::ceil(double(size) / double(each));
  }
  return trips;
}

/// Whether no block is cut short by an edge, for which elements are tested.
bool endsEvenly(const Problem &p, const std::vector<int> &dims, int64_t each) {
  return dims.empty() || (p.areKnown({dims.back()}) && p.innermost(dims) % each == 0);
}

double costOfDots(const Problem &p, const ContractionConfiguration &block,
                  const GpuArchitecture &architecture) {
  Trips trips = tripsOf(p, block);
  double programs = p.programs(block), parts = 1;
  if (block.splitsK)
    parts = partsOf(programs, trips.count, double(block.rows * block.columns * trips.terms),
                    architecture);
  ProgramCost cost;
  cost.block = blockOfDots(
      std::max({block.rows * trips.terms, trips.terms * block.columns, block.rows * block.columns}),
      architecture);
  cost.sharedBytes = block.rows * block.columns * block.columnParts * nvidia::bytesOf(p.spec.sum);
  DotWork dot{block.rows, block.columns, trips.terms, {}, {}};
  dot.a = {p.bytesOfA, p.isAlongSum(p.spec.a), p.bytesOfA < 4 ? widened : 0};
  dot.b = {p.bytesOfB, !block.isPacked && p.isAlongSum(p.spec.b), p.bytesOfB < 4 ? widened : 0};
  if (!endsEvenly(p, p.roles.rows, block.rows))
    dot.a.tests = tested;
  if (!block.isPacked && !endsEvenly(p, p.roles.columns, block.columns))
    dot.b.tests = tested;
  addDot(cost, dot, architecture, std::ceil(trips.count / parts) * double(block.columnParts));
  return cyclesOfLaunch(cost, programs, parts, architecture);
}

/// Rows times a vector: one row by all threads of a block with accesses of 128 bits, or several by
/// some threads each, element by element.
double costOfRowSums(const Problem &p, const ContractionConfiguration &block,
                     const GpuArchitecture &architecture) {
  int64_t sums = block.rows * block.columns, bytes = std::max(p.bytesOfA, p.bytesOfB);
  Trips trips = tripsOf(p, block);
  int64_t elements = sums * trips.terms;
  int64_t even = trips.terms & -trips.terms; // the largest power of two that divides it
  int64_t neighbours = std::min(even, accessBytes / bytes), width = sums == 1 ? neighbours : 1;
  double programs = p.programs(block), parts = 1;
  if (block.splitsK)
    parts = partsOf(programs, trips.count, double(elements), architecture);
  double count = std::ceil(trips.count / parts);
  ProgramCost cost;
  cost.block = blockShapeFor({neighbours, heldElements, elements, true}, int64_t(programs * parts),
                             architecture);
  auto threads = double(cost.block.threads);
  double accesses = 2 * double(elements) / double(lanesOfWarp * width);
  cost.instructions =
      count * (accesses * (accessInstructions + elementInstructions * double(width)) +
               threads / lanesOfWarp * exchangeInstructions);
  cost.accesses = count * accesses * std::max(1.0, double(width * bytes) / 4);
  cost.bytes = count * double(elements * (sums == block.rows ? p.bytesOfA : p.bytesOfB));
  double ofThread = std::ceil(double(elements) / threads);
  bool isHeld = sums == 1 && ofThread <= heldElements;
  double loading = isHeld ? loadedCycles : waitedCycles * std::ceil(ofThread / double(width));
  cost.warps = threads / lanesOfWarp;
  cost.waiting = count * (exchangeCycles + loading);
  return cyclesOfLaunch(cost, programs, parts, architecture);
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Whether workers may share the sum: tile-split has to know how many programs there are.
bool canShareSum(const Problem &p, const ContractionConfiguration &block,
                 const GpuArchitecture &architecture) {
  return double(p.depth) * p.outerTerms >= double(longSum) && block.columnParts == 1 &&
         p.areKnown(p.roles.batch) && p.areKnown(p.roles.rows) && p.areKnown(p.roles.columns) &&
         p.programs(block) < double(splitLimits(architecture).enoughPrograms);
}

/// No larger than what there is, in whole eights where it is large.
int64_t atMost(int64_t size, int64_t each) {
  int64_t even = size < 8 ? size : (size + 7) / 8 * 8;
  return std::max<int64_t>(1, std::min(each, even));
}

class Chooser {
public:
  Chooser(const Problem &problem, const GpuArchitecture &architecture)
      : p(problem), architecture(architecture),
        cheapest(kernels::allConstraints(kernels::contractionConstraints(problem.spec),
                                         kernels::contractionSchema(),
                                         plainConstraints({problem.spec, {}, {}})),
                 [&](const ContractionConfiguration &block) {
                   return plainProductCost(problem.spec, block, architecture);
                 }) {}

  /// Rows times a vector.
  void offerRowSums() {
    if (!kernels::canUseRowDots(p.spec, false))
      return;
    for (int64_t count : summedRows) {
      ContractionConfiguration block;
      block.vectorizesReduction = true;
      block.rows = p.rows > 1 ? std::min(p.rows, count) : 1;
      block.columns = p.rows > 1 ? 1 : std::min(p.columns, count);
      offer(block);
    }
  }

  /// Blocks of all sizes, with everything else as in `like`; in panels of so many columns if these
  /// are given.
  void offerDots(const ContractionConfiguration &like, std::optional<int64_t> panel) {
    int64_t columns = p.columns / like.columnParts;
    for (int64_t height : blockRows)
      for (int64_t width : blockColumns) {
        ContractionConfiguration block = like;
        block.rows = p.roles.rows.empty() ? 1 : atMost(p.rows, height);
        block.columns = p.roles.columns.empty() ? 1 : atMost(columns, width);
        while (like.columnParts > 1 && columns % block.columns != 0)
          --block.columns; // parts come out even
        if (panel && block.columns % *panel != 0)
          continue;
        if (block.isPacked)
          block.panels = block.columns / panel.value_or(panelFor(block, columns));
        offer(block);
      }
  }

  const std::optional<ContractionConfiguration> &best() const { return cheapest.best; }

private:
  /// Programs of several panels have to come out even.
  static int64_t panelFor(const ContractionConfiguration &block, int64_t columns) {
    bool isEven = columns % block.columns == 0 && block.columnParts == 1;
    return isEven && block.columns % panelColumns == 0 ? panelColumns : block.columns;
  }

  void offer(ContractionConfiguration block) {
    cheapest.offer(block);
    if (!canShareSum(p, block, architecture))
      return;
    block.splitsK = true;
    for (int64_t terms : sharedTerms) {
      block.kBlock = terms;
      cheapest.offer(block);
    }
  }

  const Problem &p;
  const GpuArchitecture &architecture;
  Cheapest<ContractionConfiguration> cheapest;
};

/// What every target permits of every contraction.
ContractionConfiguration smallest() {
  ContractionConfiguration block;
  block.columns = 1;
  return block;
}

} // namespace

double plainProductCost(const Contraction &contraction,
                        const ContractionConfiguration &configuration,
                        const GpuArchitecture &architecture) {
  Problem problem(contraction);
  return configuration.vectorizesReduction ? costOfRowSums(problem, configuration, architecture)
                                           : costOfDots(problem, configuration, architecture);
}

ContractionConfiguration choosePlainProduct(const Contraction &contraction, bool isRhsWeight,
                                            const GpuArchitecture &architecture) {
  Problem problem(contraction);
  // Whoever reads parts of the columns is computed in the same kernel, where these come out even.
  for (int64_t parts : {contraction.columnParts, int64_t(1)}) {
    Chooser chooser(problem, architecture);
    if (parts == 1)
      chooser.offerRowSums();
    ContractionConfiguration like;
    like.columnParts = parts;
    chooser.offerDots(like, std::nullopt);
    like.isPacked = isRhsWeight && kernels::canPack(contraction);
    if (like.isPacked)
      chooser.offerDots(like, std::nullopt);
    if (chooser.best())
      return *chooser.best();
  }
  return smallest();
}

ContractionConfiguration choosePlainVariant(const Contraction &contraction,
                                            const ContractionConfiguration &kernel,
                                            const GpuArchitecture &architecture) {
  Problem problem(contraction);
  Chooser chooser(problem, architecture);
  if (!kernel.isPacked && kernel.columnParts == 1)
    chooser.offerRowSums();
  ContractionConfiguration like;
  like.isPacked = kernel.isPacked;
  like.columnParts = kernel.columnParts;
  chooser.offerDots(like, kernel.isPacked ? std::optional(panelOf(kernel)) : std::nullopt);
  return chooser.best().value_or(kernel);
}

bool isTransposeProfitable(const Contraction &contraction, bool isRhsWeight,
                           const GpuArchitecture &architecture) {
  Problem given(contraction);
  if (kernels::readsWindows(contraction) || given.roles.columns.empty() || given.columns == 1)
    return false;
  auto cost = [&](const Contraction &product, bool mayBePacked) {
    return plainProductCost(product, choosePlainProduct(product, mayBePacked, architecture),
                            architecture);
  };
  // A weight is transposed when the model is compiled; what seems to be as fast is left as it is.
  double bytes = double(given.columns) * double(given.depth) * given.outerTerms * given.batch *
                 double(given.bytesOfB);
  double rate = bytesOfCycle(architecture) * double(architecture.multiprocessors);
  double transpose = isRhsWeight ? 0 : architecture.rates.launch + transposeTraffic * bytes / rate;
  return cost(conversion::withTransposedRhs(contraction), false) + transpose <
         leastGain * cost(contraction, isRhsWeight);
}

} // namespace tw::target::nvidia
