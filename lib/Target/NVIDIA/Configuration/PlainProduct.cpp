// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program's block is shared out to its threads (Emission/DotBlock.h), so larger blocks read less
// for each product, and smaller ones are programs for more multiprocessors.
#include "Target/NVIDIA/Configuration/PlainProduct.h"
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include "Target/NVIDIA/Emission/Lanes.h"
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
// Rows of a vector's product that a program has side by side, and lengths from which on workers
// share a sum; terms of it in a trip.
constexpr int64_t summedRows[] = {1, 2, 4, 8};
constexpr int64_t longSum = 1024, sharedTerms = 512;
// 128-bit accesses of a row by a thread, where all threads share it.
constexpr int64_t rowBytesOfThread = 64;
constexpr double reduceCycles = 250; // of a row by a block's threads: exchanges and a barrier

/// The sizes that decide.
struct Problem {
  explicit Problem(const Contraction &spec) : spec(spec), roles(rolesOf(spec)) {
    rows = sizeOf(roles.rows), columns = sizeOf(roles.columns), depth = sizeOf(roles.sums);
    for (auto *dims : {&roles.batch, &roles.rows, &roles.columns, &roles.sums})
      for (int dim : *dims)
        if (dims == &roles.batch || dim != dims->back())
          (dims == &roles.sums ? repeats : batch) *= double(sizeOf(dim));
    bytesOfA = bytesOf(spec.a), bytesOfB = bytesOf(spec.b);
  }

  int64_t sizeOf(int dim) const {
    const kernels::Extent &extent = spec.dims[dim];
    return std::max<int64_t>(1, extent.size.value_or(extent.most.value_or(unknownExtent)));
  }
  int64_t sizeOf(const std::vector<int> &dims) const {
    return dims.empty() ? 1 : sizeOf(dims.back());
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
  int64_t rows, columns, depth, bytesOfA, bytesOfB;
  double batch = 1, repeats = 1; // of programs; of the innermost sum in a program
};

/// Whether a block may be cut short by an edge, which is then tested for.
bool endsEvenly(const Problem &p, const std::vector<int> &dims, int64_t each) {
  return dims.empty() || (p.spec.dims[dims.back()].size && *p.spec.dims[dims.back()].size % each == 0);
}

double costOfDots(const Problem &p, const ContractionConfiguration &block,
                  const GpuArchitecture &architecture) {
  bool isSplit = block.splitsK && block.kBlock > 0;
  int64_t depth = block.kBlock > 0 ? std::min(block.kBlock, p.depth) : p.depth;
  double trips = std::ceil(double(p.depth) / double(depth)), parts = 1;
  double programs = p.programs(block);
  if (isSplit && programs < double(splitLimits.enoughPrograms))
    parts = std::clamp(double(splitLimits.wantedPrograms) / programs, 1.0, trips);
  ProgramCost cost;
  cost.threads = threadsOfTile(
      std::max({block.rows * depth, depth * block.columns, block.rows * block.columns}));
  cost.sharedBytes = block.rows * block.columns * 4;
  DotWork dot{block.rows, block.columns, depth, true, {}, {}};
  constexpr double widened = 1, tested = 2; // instructions
  dot.a = {p.bytesOfA, p.isAlongSum(p.spec.a), p.bytesOfA < 4 ? widened : 0};
  dot.b = {p.bytesOfB, !block.isPacked && p.isAlongSum(p.spec.b), p.bytesOfB < 4 ? widened : 0};
  if (!endsEvenly(p, p.roles.rows, block.rows))
    dot.a.instructions += tested;
  if (!block.isPacked && !endsEvenly(p, p.roles.columns, block.columns))
    dot.b.instructions += tested;
  addDot(cost, dot, p.repeats * trips / parts * double(block.columnParts));
  double again = parts > 1 ? 2500 : 0; // a second launch, which combines
  return cyclesOfLaunch(cost, programs * parts, architecture) + again;
}

/// Rows times a vector: one row by all threads of a block with accesses of 128 bits, or several by
/// some threads each, element by element.
double costOfRowSums(const Problem &p, const ContractionConfiguration &block,
                     const GpuArchitecture &architecture) {
  int64_t sums = block.rows * block.columns, bytes = std::max(p.bytesOfA, p.bytesOfB);
  int64_t width = sums == 1 ? std::max<int64_t>(1, 16 / bytes) : 1;
  int64_t depth = block.kBlock > 0 ? std::min(block.kBlock, p.depth) : p.depth;
  ProgramCost cost;
  cost.threads = threadsOfTile(sums * depth / width);
  auto elements = double(sums * depth), warps = double(cost.threads) / lanesOfWarp;
  double trips = std::ceil(double(p.depth) / double(depth));
  double accesses = 2 * elements / double(lanesOfWarp * width);
  cost.instructions = trips * (accesses * (2 + 3 * double(width)) + warps * 40);
  cost.accesses = trips * accesses * double(width) / 2;
  cost.bytes = trips * double(sums * depth * (sums == block.rows ? p.bytesOfA : p.bytesOfB));
  // Loads of a thread follow each other where it has several, but for a row's, which stay.
  double steps = std::ceil(elements / double(width * cost.threads));
  bool isHeld = sums == 1 && depth * bytes <= cost.threads * rowBytesOfThread;
  cost.chain = trips * (reduceCycles + (isHeld ? 600 : 200 * steps));
  return cyclesOfLaunch(cost, p.programs(block), architecture);
}

/// Whether workers may share the sum: as tile-split does, which has to know how many programs there
/// are.
bool canShareSum(const Problem &p, const ContractionConfiguration &block) {
  auto isKnown = [&](const std::vector<int> &dims) {
    return std::ranges::all_of(dims, [&](int dim) { return p.spec.dims[dim].size.has_value(); });
  };
  return p.roles.sums.size() == 1 && p.depth >= longSum && block.columnParts == 1 &&
         isKnown(p.roles.batch) && isKnown(p.roles.rows) && isKnown(p.roles.columns) &&
         p.programs(block) < double(splitLimits.enoughPrograms);
}

class Chooser {
public:
  Chooser(const Problem &problem, const GpuArchitecture &architecture)
      : problem(problem), architecture(architecture),
        constraints(kernels::allConstraints(kernels::contractionConstraints(problem.spec),
                                            kernels::contractionSchema(),
                                            plainConstraints({problem.spec, {}, {}}))) {}

  void offer(ContractionConfiguration block) {
    take(block);
    if (!canShareSum(problem, block))
      return;
    block.splitsK = true;
    block.kBlock = sharedTerms;
    take(block);
  }

  std::optional<ContractionConfiguration> best;

private:
  void take(const ContractionConfiguration &block) {
    double cost = plainProductCost(problem.spec, block, architecture);
    if ((!best || cost < least) && kernels::holds(constraints, kernels::numbersOf(block)))
      best = block, least = cost;
  }

  const Problem &problem;
  const GpuArchitecture &architecture;
  std::vector<kernels::Constraint> constraints;
  double least = 0;
};

/// No larger than what there is, in whole eights where it is large.
int64_t atMost(int64_t size, int64_t each) {
  int64_t even = size < 8 ? size : (size + 7) / 8 * 8;
  return std::max<int64_t>(1, std::min(each, even));
}

void offerDots(Chooser &chooser, const Problem &p, const ContractionConfiguration &like,
               std::optional<int64_t> panel) {
  int64_t columns = p.columns / like.columnParts;
  for (int64_t height : blockRows)
    for (int64_t width : blockColumns) {
      ContractionConfiguration block = like;
      block.rows = p.roles.rows.empty() ? 1 : atMost(p.rows, height);
      block.columns = p.roles.columns.empty() ? 1 : atMost(columns, width);
      if (panel && block.columns % *panel != 0)
        continue;
      while (like.columnParts > 1 && columns % block.columns != 0)
        --block.columns; // parts come out even
      if (block.isPacked) {
        bool isEven = columns % block.columns == 0 && like.columnParts == 1;
        int64_t own = panel.value_or(
            isEven && block.columns % panelColumns == 0 ? panelColumns : block.columns);
        block.panels = block.columns / own;
      }
      chooser.offer(block);
    }
}

void offerRowSums(Chooser &chooser, const Problem &p) {
  for (int64_t count : summedRows) {
    ContractionConfiguration block;
    block.vectorizesReduction = true;
    block.rows = p.rows > 1 ? std::min(p.rows, count) : 1;
    block.columns = p.rows > 1 ? 1 : std::min(p.columns, count);
    chooser.offer(block);
  }
}

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
  Chooser chooser(problem, architecture);
  if (kernels::canUseRowDots(contraction, false))
    offerRowSums(chooser, problem);
  for (int64_t parts : {contraction.columnParts, int64_t(1)}) {
    ContractionConfiguration like;
    like.columnParts = parts;
    like.isPacked = isRhsWeight && kernels::canPack(contraction) && !chooser.best;
    if (parts == 1 || !chooser.best)
      offerDots(chooser, problem, like, std::nullopt);
    if (chooser.best && parts > 1)
      break; // whoever reads the parts is computed in the same kernel
  }
  return chooser.best.value_or(smallest());
}

ContractionConfiguration choosePlainVariant(const Contraction &contraction,
                                            const ContractionConfiguration &kernel,
                                            const GpuArchitecture &architecture) {
  Problem problem(contraction);
  Chooser chooser(problem, architecture);
  if (!kernel.isPacked && kernels::canUseRowDots(contraction, false))
    offerRowSums(chooser, problem);
  ContractionConfiguration like;
  like.isPacked = kernel.isPacked;
  like.columnParts = kernel.columnParts;
  offerDots(chooser, problem, like,
            kernel.isPacked ? std::optional(panelOf(kernel)) : std::nullopt);
  return chooser.best.value_or(kernel);
}

bool isTransposeProfitable(const Contraction &contraction, bool isRhsWeight,
                           const GpuArchitecture &architecture) {
  Problem given(contraction);
  if (given.roles.columns.empty() || given.columns == 1)
    return false;
  auto cost = [&](const Contraction &product, bool isPacked) {
    return plainProductCost(product, choosePlainProduct(product, isPacked, architecture),
                            architecture);
  };
  Contraction transposed = conversion::withTransposedRhs(contraction);
  // What is transposed is read and written once, by accesses of which few find lines together;
  // weights are when the model is compiled.
  double bytes = double(given.columns) * double(given.depth) * given.batch * double(given.bytesOfB);
  double transpose = isRhsWeight ? 0 : 2500 + 4 * bytes / (28 * double(architecture.multiprocessors));
  return cost(transposed, false) + transpose < cost(contraction, isRhsWeight);
}

} // namespace tw::target::nvidia
