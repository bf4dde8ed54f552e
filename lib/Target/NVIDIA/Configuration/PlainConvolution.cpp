// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainConvolution.h"
#include "Target/NVIDIA/Configuration/Cheapest.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include <algorithm>
#include <cmath>

namespace tw::target::nvidia {
using kernels::Convolution;
using kernels::ConvolutionConfiguration;
using kernels::Extent;

namespace {

constexpr int64_t unknownSize = 56, unknownChannels = 256;
constexpr int64_t blockColumns[] = {8, 16, 32, 48, 64, 96, 128};
constexpr int64_t blockHeights[] = {1, 2, 4, 7, 8, 14, 16};
constexpr int64_t blockWidths[] = {1, 2, 4, 8, 16, 32, 64, 128};
constexpr int64_t mostParts = 8;    // of a line of places
constexpr int64_t mostPlaces = 256; // of a program
// Sums of a program that are in shared memory at one time.
constexpr int64_t directSums = 2, winogradSums = 12;
// Of Winograd's algorithm: products for a block of 2 x 2 places; left operands in shared memory at
// one time; loads of an element of these, and instructions for it.
constexpr int64_t winogradProducts = 16, winogradOperands = 4;
constexpr double winogradLoads = 4, winogradInstructions = 24, winogradCycles = 600;
constexpr int64_t winogradRegisters = 50;  // of a thread, beside those of a product
constexpr int64_t transformedChannels = 4; // of a program that transforms weights

int64_t sizeOf(const Extent &extent, int64_t unknown) {
  return std::max<int64_t>(1, extent.size.value_or(unknown));
}
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The sizes that decide.
struct Problem {
  explicit Problem(const Convolution &spec) : spec(spec), isChannelwise(isDepthwise(spec)) {
    for (const kernels::ConvolutionAxis &axis : spec.spatial) {
      int64_t phases = spec.isTransposed ? axis.stride : 1;
      int64_t together = spec.hasTransformedWeights ? 2 : phases;
      places.push_back(ceilDiv(sizeOf(axis.output, unknownSize), together));
      taps *= ceilDiv(sizeOf(axis.window, 3), phases);
      programs *= double(phases);
    }
    channels = sizeOf(spec.channels, unknownChannels);
    columns = sizeOf(spec.outputs, unknownChannels);
    programs *= double(sizeOf(spec.batch, 1));
    for (size_t d = 0; d + 2 < places.size(); ++d)
      programs *= double(places[d]);
    bytes = bytesOf(spec.buffers[spec.x].dtype);
  }

  int64_t width() const { return places.back(); }
  int64_t height() const { return places.size() > 1 ? places[places.size() - 2] : 1; }
  double programsOf(const ConvolutionConfiguration &block) const {
    double each = double(spec.groups * ceilDiv(columns, block.columns));
    if (isChannelwise)
      each = double(ceilDiv(columns * spec.groups, block.columns));
    return programs * double(ceilDiv(width(), block.width) * ceilDiv(height(), block.height)) *
           each;
  }

  const Convolution &spec;
  bool isChannelwise;
  std::vector<int64_t> places; // along each spatial dimension; of blocks of 2 x 2, or of a phase
  int64_t taps = 1, channels, columns, bytes;
  double programs = 1; // beside those that blocks make
};

/// A multiplication for each tap: elements are read where they are used.
void addChannelwise(ProgramCost &cost, const Problem &p, double elements, int64_t columns) {
  double warps = elements / lanesOfWarp, taps = double(p.taps);
  auto lines = double(ceilDiv(lanesOfWarp, columns)); // that an access of a warp reads
  cost.instructions = warps * (taps * 7 + 20);
  cost.accesses = warps * (taps + 1) * (lines + 1);
  cost.bytes = 2 * elements * double(p.bytes);
  cost.warps = double(cost.block.threads) / lanesOfWarp;
  cost.waiting = 300 + std::ceil(elements / double(cost.block.threads)) * taps * 10;
}

/// A product for each tap and, where channels come first, for each channel.
void addTaps(ProgramCost &cost, const Problem &p, int64_t rows, int64_t columns,
             const GpuArchitecture &architecture) {
  constexpr double widened = 1, tested = 2; // instructions
  DotWork dot{rows, columns, p.spec.isChannelsFirst ? 1 : p.channels, {}, {}};
  dot.a = {p.bytes, !p.spec.isChannelsFirst, p.bytes < 4 ? widened : 0, tested};
  dot.b = {p.bytes, p.spec.isOutputsFirst, p.bytes < 4 ? widened : 0};
  double times = double(p.taps) * (p.spec.isChannelsFirst ? double(p.channels) : 1);
  cost.sharedBytes = rows * columns * 4 * directSums;
  addDot(cost, dot, architecture, times);
}

/// Winograd's algorithm: what the products multiply by the weights is computed before each of them.
void addWinograd(ProgramCost &cost, const Problem &p, int64_t rows, int64_t columns,
                 const GpuArchitecture &architecture) {
  constexpr int64_t bytes = 4;
  double warps = double(winogradProducts * rows * p.channels) / lanesOfWarp;
  cost.instructions += warps * winogradInstructions;
  cost.accesses += warps * winogradLoads;
  cost.scratch += warps;
  cost.waiting += winogradProducts * winogradCycles;
  cost.sharedBytes = rows * bytes * (columns * winogradSums + p.channels * winogradOperands);
  addDot(cost, {rows, columns, p.channels, {bytes, true}, {bytes, false}}, architecture,
         winogradProducts);
  cost.registers += winogradRegisters;
}

std::vector<int64_t> columnsOffered(const Problem &p) {
  if (p.spec.hasTransformedWeights)
    return {kernels::transformedColumns(p.spec)};
  int64_t all = p.isChannelwise ? p.columns * p.spec.groups : p.columns;
  std::vector<int64_t> offered;
  for (int64_t columns : blockColumns)
    if (columns <= all)
      offered.push_back(columns);
  if (all <= blockColumns[std::size(blockColumns) - 1])
    offered.push_back(all);
  return offered.empty() ? std::vector<int64_t>{1} : offered;
}

/// Powers of two, and even parts of a line.
std::vector<int64_t> widthsOffered(const Problem &p) {
  std::vector<int64_t> offered;
  for (int64_t width : blockWidths)
    if (width < p.width())
      offered.push_back(width);
  for (int64_t parts = 1; parts <= mostParts; ++parts)
    offered.push_back(ceilDiv(p.width(), parts));
  std::sort(offered.begin(), offered.end());
  offered.erase(std::unique(offered.begin(), offered.end()), offered.end());
  return offered;
}

} // namespace

double plainConvolutionCost(const Convolution &convolution,
                            const ConvolutionConfiguration &configuration,
                            const GpuArchitecture &architecture) {
  Problem p(convolution);
  int64_t rows = configuration.width * configuration.height, columns = configuration.columns;
  ProgramCost cost;
  cost.block = blockOfDots(
      p.isChannelwise ? rows * columns
                      : std::max({rows * p.channels, p.channels * columns, rows * columns}),
      architecture);
  if (p.isChannelwise)
    addChannelwise(cost, p, double(rows * columns), columns);
  else if (convolution.hasTransformedWeights)
    addWinograd(cost, p, rows, columns, architecture);
  else
    addTaps(cost, p, rows, columns, architecture);
  return cyclesOfLaunch(cost, p.programsOf(configuration), /*parts=*/1, architecture);
}

ConvolutionConfiguration choosePlainConvolution(const Convolution &convolution,
                                                const GpuArchitecture &architecture) {
  Problem p(convolution);
  Cheapest<ConvolutionConfiguration> cheapest(
      kernels::allConstraints(kernels::convolutionConstraints(convolution),
                              kernels::convolutionSchema(),
                              plainConstraints({convolution, {}, {}})),
      [&](const ConvolutionConfiguration &block) {
        return plainConvolutionCost(convolution, block, architecture);
      });
  ConvolutionConfiguration block;
  block.outputsOutermost = false; // programs that run at one time read the same places
  block.inScratch = convolution.isOutputsFirst;
  if (convolution.hasTransformedWeights)
    block.channelStep = kernels::transformedChannelStep(*convolution.channels.size);
  block.columns = 1;
  cheapest.offer(block);
  for (int64_t columns : columnsOffered(p))
    for (int64_t width : widthsOffered(p))
      for (int64_t height : blockHeights) {
        block.columns = columns, block.width = width, block.height = std::min(height, p.height());
        // Where channels come first, neighbours along a line are read side by side.
        bool isLine = block.height == 1 || !convolution.isChannelsFirst;
        if (isLine && block.width * block.height <= mostPlaces)
          cheapest.offer(block);
      }
  return cheapest.best.value_or(block);
}

/// Sums in several parts are added in shared memory. On an H200 256 channels take 55 us by
/// Winograd's method and 73 without for one image of 14 x 14 places, 694 and 498 for 32 of them.
static bool sumsTooOften(const Convolution &convolution) {
  constexpr int64_t fewPlaces = 1024;
  int64_t places = convolution.batch.size.value_or(fewPlaces + 1);
  for (const kernels::ConvolutionAxis &axis : convolution.spatial)
    places *= *axis.output.size;
  return kernels::transformedChannelStep(*convolution.channels.size) > 0 && places > fewPlaces;
}

bool isTransformProfitable(const Convolution &convolution, const GpuArchitecture &architecture) {
  if (!kernels::canBeWinograd(convolution, panelOutputs) || sumsTooOften(convolution))
    return false;
  Convolution transformed = convolution;
  kernels::transformWeights(transformed, panelOutputs);
  auto cost = [&](const Convolution &one) {
    return plainConvolutionCost(one, choosePlainConvolution(one, architecture), architecture);
  };
  return cost(transformed) < cost(convolution);
}

kernels::WinogradWeightsConfiguration
choosePlainWinogradWeights(const kernels::WinogradWeights &weights) {
  return {std::min(weights.channels, transformedChannels)};
}

} // namespace tw::target::nvidia
