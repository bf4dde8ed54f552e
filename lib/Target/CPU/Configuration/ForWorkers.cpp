// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/ForWorkers.h"
#include "Target/CPU/Configuration/BlocksInMemory.h"
#include "Target/CPU/Configuration/Workers.h"
#include <algorithm>

namespace tw::target::cpu {
using kernels::ContractionRoles;
using kernels::rolesOf;

namespace {

// Cycles for an element of b, and of a, in each step of the sum, beside products: of copies, which
// take a tenth of the time of 128 rows by 768 x 3072 on a Xeon; and, assumed, of reading what other
// programs read, too.
constexpr double copiedElement = 0.35, readElement = 0.1;
// Another kernel is compiled, which takes as long as the first, only where it is clearly faster.
constexpr double clearlyForProducts = 0.85, clearlyForConvolutions = 0.75;
// Of a program: how long workers wait for the last one, which began late or was interrupted. 16
// cores of a Xeon take 64 programs of dY W of 1024 x 1024 x 1024 0.75 of the time of 16, in the
// median, though one core takes both as long.
constexpr double waitsForLast = 0.5;
// With fewer rows, loading a panel takes longer than its products; and blocks of transformed
// places.
constexpr int64_t leastRows = 32, leastBlocks = 12;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Programs of equal length.
struct Programs {
  int64_t count;
  double cycles; // of one
  double timeOf(int64_t workers) const {
    return (double(ceilDiv(count, workers)) + waitsForLast) * cycles;
  }
};

/// From how many workers on `many` is clearly faster than `few`; nothing if it is not for
/// `someWorkers`. By numbers that machines have: three programs are as even as can be for three.
std::optional<int64_t> leastWorkers(const Programs &many, const Programs &few, double clearly) {
  constexpr int64_t usual[] = {2, 4, 6, 8, 12, someWorkers};
  std::optional<int64_t> least;
  for (int64_t workers : llvm::reverse(usual)) {
    if (many.timeOf(workers) >= clearly * few.timeOf(workers))
      break;
    least = workers;
  }
  return least;
}

/// The best of many candidates for `someWorkers`, and from how many on.
template <typename C, typename Estimate>
std::optional<ForWorkers<C>> best(const std::vector<C> &candidates, const C &kernel, double clearly,
                                  Estimate programsOf) {
  Programs few = programsOf(kernel);
  const C *chosen = nullptr;
  double least = few.timeOf(someWorkers);
  for (const C &candidate : candidates) {
    Programs many = programsOf(candidate);
    if (many.cycles >= handedOverCycles && many.timeOf(someWorkers) < least)
      chosen = &candidate, least = many.timeOf(someWorkers);
  }
  if (!chosen)
    return std::nullopt;
  auto workers = leastWorkers(programsOf(*chosen), few, clearly);
  return workers ? std::optional(ForWorkers<C>{*workers, *chosen}) : std::nullopt;
}

bool isKnown(const Contraction &contraction) {
  return llvm::all_of(contraction.dims,
                      [](const kernels::Extent &extent) { return extent.size.has_value(); });
}

bool isKnown(const Convolution &convolution) {
  bool isSized = llvm::all_of(convolution.spatial, [](const kernels::ConvolutionAxis &axis) {
    return axis.output.size.has_value();
  });
  return isSized && convolution.batch.size && convolution.outputs.size;
}

Programs programsOf(const Contraction &contraction, const VectorUnit &unit,
                    const CPUContraction &block) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = sizeOf(contraction, roles.rows), columns = sizeOf(contraction, roles.columns);
  int64_t batch = 1;
  for (int dim : roles.batch)
    batch *= *contraction.dims[dim].size;
  double step = double(block.rows) * double(ceilDiv(block.columns, unit.lanes)) / 2 +
                double(block.columns) * (block.isPacked ? readElement : copiedElement) +
                double(block.rows) * readElement;
  return {batch * ceilDiv(rows, block.rows) * ceilDiv(columns, block.columns),
          double(sizeOf(contraction, roles.sums)) * step};
}

Programs programsOf(const Convolution &convolution, const VectorUnit &unit,
                    const ConvolutionConfiguration &block) {
  int64_t count = *convolution.batch.size * convolution.groups *
                  ceilDiv(*convolution.outputs.size, block.columns);
  int64_t each[] = {block.width, block.height};
  for (auto [d, axis] : llvm::enumerate(llvm::reverse(convolution.spatial)))
    count *= ceilDiv(*axis.output.size, d > 1                               ? 1
                                        : convolution.hasTransformedWeights ? 2 * each[d]
                                                                            : each[d]);
  return {count, convolutionCost(convolution, block, unit) / double(count)};
}

} // namespace

std::optional<double> timeForWorkers(const Contraction &contraction, const VectorUnit &unit,
                                     const CPUContraction &block, int64_t workers) {
  return isKnown(contraction) ? std::optional(programsOf(contraction, unit, block).timeOf(workers))
                              : std::nullopt;
}

std::optional<double> timeForWorkers(const Convolution &convolution, const VectorUnit &unit,
                                     const ConvolutionConfiguration &block, int64_t workers) {
  return isKnown(convolution) ? std::optional(programsOf(convolution, unit, block).timeOf(workers))
                              : std::nullopt;
}

std::optional<ForWorkers<CPUContraction>> chooseForWorkers(const Contraction &contraction,
                                                           const VectorUnit &unit,
                                                           const CPUContraction &kernel) {
  ContractionRoles roles = rolesOf(contraction);
  if (!kernel.hasAccumulatorsInMemory || kernel.isInterleaved() || kernel.splitsK ||
      kernel.columnParts > 1 || roles.rows.size() != 1 || roles.columns.size() != 1 ||
      roles.sums.size() != 1 || !isKnown(contraction))
    return std::nullopt;
  int64_t columns = sizeOf(contraction, roles.columns);
  std::vector<CPUContraction> candidates;
  std::vector<int64_t> widths = {kernel.columns};
  for (int64_t width = kernel.columns - unit.lanes; !kernel.isPacked && width >= 2 * unit.lanes;
       width -= unit.lanes)
    if (columns % width == 0)
      widths.push_back(width);
  for (int64_t parts = 1; parts <= 4 && ceilDiv(kernel.rows, parts) >= leastRows; ++parts)
    for (int64_t width : widths) {
      CPUContraction block = kernel;
      block.rows = ceilDiv(kernel.rows, parts);
      block.columns = width;
      block.rowPrograms = block.columnPrograms = 1;
      if (isLegal(contraction, block, unit))
        candidates.push_back(block);
    }
  return best(candidates, kernel, clearlyForProducts,
              [&](const CPUContraction &block) { return programsOf(contraction, unit, block); });
}

std::optional<ForWorkers<ConvolutionConfiguration>>
chooseForWorkers(const Convolution &convolution, const VectorUnit &unit,
                 const ConvolutionConfiguration &kernel) {
  bool isWinograd = convolution.hasTransformedWeights;
  if ((!isWinograd && !kernel.inScratch) || convolution.isTransposed || !isKnown(convolution))
    return std::nullopt;
  std::vector<ConvolutionConfiguration> candidates;
  for (int64_t parts = 2; parts <= kernel.height; ++parts) {
    ConvolutionConfiguration block = kernel;
    block.height = ceilDiv(kernel.height, parts);
    block.widthPrograms = block.columnPrograms = 1;
    if (block.width * block.height >= leastBlocks && isLegal(convolution, block, unit))
      candidates.push_back(block);
  }
  return best(
      candidates, kernel, clearlyForConvolutions,
      [&](const ConvolutionConfiguration &block) { return programsOf(convolution, unit, block); });
}

std::vector<Constraint> workersConstraints(const VectorUnit &unit) {
  constexpr const char *why = "sums in registers are made in another order";
  return {{"1", "accumulators_in_memory", why},
          {std::to_string(unit.registers),
           "rows * (columns ceildiv " + std::to_string(unit.lanes) + ")", why},
          {"9", "rows", why}};
}

} // namespace tw::target::cpu
