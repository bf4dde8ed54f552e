// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which configuration of a convolution is the fastest: cycles that programs take, by what was
// measured of blocks in registers, and of weights and inputs that come from one cache or another.
#include "Target/CPU/Configuration/ConvolutionCost.h"
#include "Target/CPU/Configuration/Memory.h"
#include "Target/CPU/Configuration/Workers.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw::target::cpu {
using kernels::ConvolutionAxis;
using kernels::Extent;

namespace {

constexpr int64_t unknownSize = 56, unknownChannels = 256;
// Bytes of caches for which the costs below were fitted, on a Xeon with 48 KiB and 2 MiB, too,
// where its own sizes made ResNet-50 no faster.
constexpr int64_t firstLevel = 32 << 10, secondLevel = 1 << 20;
constexpr int64_t ways = 8, wayBytes = firstLevel / ways; // of the first level
// Bytes in a cycle from there, hardly at the cost of the products.
constexpr double secondLevelRate = 48, notHidden = 0.15;
// Cycles of a program beside its steps, and of a block in registers that is a part of one in
// scratch; for a vector of sums that is stored and loaded again; for one of the input that is
// copied because some of its places lie outside.
constexpr double programCycles = 60, partCycles = 20, handedOnVector = 3, copiedVector = 0.5;
constexpr double summedVector = 4;  // of sums that are added to others
constexpr double copiedElement = 4; // that lies in an image, or outside: 9 were measured with AVX2
constexpr int64_t spareRegisters = 2; // that code between taps needs
// Bytes of weights whose prefetch hides all of the wait; Plan/Prefetches.cpp does from half of
// them on.
constexpr int64_t prefetchedBlock = 1 << 15;
constexpr int64_t mostVectors = 8, mostPlaces = 14, scratchPlaces = 56;
constexpr int64_t mostColumnsInScratch = 64;
constexpr int64_t rowsAtOnce = 6;    // of a block in scratch that are in registers
constexpr int64_t channelChunk = 32; // steps along channels are multiples of it
constexpr int64_t fewestChannels = 64, fewestBlocks = 16, mostBlocks = 56;
constexpr int64_t channelwiseLines = 1, channelwisePlaces = 8;
// Longer parts of lines, whose places share what they read, where there are registers for some of
// them. On a Xeon with AMX a depthwise 3 x 3 convolution takes 0.80 of the time with 14 places
// instead of 7; with 28 MobileNetV2 takes as long, and a tenth longer to compile.
constexpr int64_t channelwiseLine = 14, manyRegisters = 32;
// Of images, which have few channels, steps from nine places on take longer: 1.1 to 1.6 times for
// 3 x 3 windows and 1.5 to 1.9 for 7 x 7 on a Xeon with AMX; of 8 channels and more they do not.
constexpr int64_t imageChannels = 4, imagePlaces = 8;
constexpr double tooManyOfImages = 1.5;
constexpr int64_t deepImage =
    28; // from here on a depthwise one passes over all channels of a place
// Bytes of weights, read and written, that are transformed, and transposed, in a cycle; cycles for
// an element of a block that a program transposes, which comes from memory.
constexpr double transformedBytes = 6, transposedBytes = 2.5, transposedElement = 0.6;
constexpr int64_t givenPlaces = 200;  // of a program that transposes filters
constexpr int64_t givenChannels = 64; // of a block of them, and
constexpr int64_t givenRows = 256;    // of them, at least
constexpr int64_t mostGivenTaps = 9;  // each is a product of its own
constexpr double hardlyLonger = 1.1;  // times as long on one worker, for more of them
constexpr int64_t workerPlaces = 192; // that follow each other

int64_t sizeOf(const Extent &extent, int64_t unknown) { return extent.size.value_or(unknown); }

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Of the taps of an axis those that lie outside for the first place, and for the last one.
int64_t tapsOutside(const ConvolutionAxis &axis) {
  if (!axis.input.size || !axis.output.size || !axis.window.size)
    return 0;
  int64_t window = *axis.window.size, first = ceilDiv(axis.padding, axis.dilation);
  int64_t end = (*axis.output.size - 1) * axis.stride + (window - 1) * axis.dilation - axis.padding;
  int64_t last = ceilDiv(end - (*axis.input.size - 1), axis.dilation);
  return std::clamp<int64_t>(first, 0, window) + std::clamp<int64_t>(last, 0, window);
}

/// The sizes that decide.
struct Problem {
  Problem(const Convolution &spec, const VectorUnit &unit)
      : lanes(unit.lanes), registers(unit.registers) {
    for (const ConvolutionAxis &axis : spec.spatial) {
      int64_t phases = spec.isTransposed ? axis.stride : 1;
      outputs.push_back(ceilDiv(sizeOf(axis.output, unknownSize), phases));
      taps *= ceilDiv(sizeOf(axis.window, 3), phases);
      inputBytes *= sizeOf(axis.input, unknownSize);
      repeats *= phases;
    }
    windowLines = taps / ceilDiv(sizeOf(spec.spatial.back().window, 3),
                                 spec.isTransposed ? spec.spatial.back().stride : 1);
    edgeTaps = spec.isTransposed ? 0 : tapsOutside(spec.spatial.back()) * windowLines;
    channels = sizeOf(spec.channels, unknownChannels);
    columns = sizeOf(spec.outputs, unknownChannels);
    groups = spec.groups;
    isOutputsFirst = spec.isOutputsFirst;
    images = sizeOf(spec.batch, 1);
    bytes = spec.sum == kernel::f64 ? 8 : 4;
    inputBytes *= channels * groups * bytes;
    distance = (spec.isChannelsFirst ? 1 : channels * groups) * bytes *
               (spec.isTransposed ? 1 : spec.spatial.back().stride);
    weightBytes = taps * channels * columns * groups * bytes;
  }
  /// Cycles of one step of the sum for a block in registers, weights in the first-level cache: two
  /// products a cycle, 1.7 loads, a chain of additions four cycles long, of which some are late.
  static double step(double rows, double vectors) {
    return std::max({rows * vectors / 2, (rows + vectors) / 1.7, 4.5}) * 1.08;
  }
  double bytesOf(double vectors) const { return vectors * double(lanes * bytes); }
  int64_t height() const { return outputs.size() < 2 ? 1 : outputs[outputs.size() - 2]; }
  /// Programs beside those along the last two dimensions.
  double outer() const {
    double count = double(images * groups * repeats);
    for (size_t d = 0; d + 2 < outputs.size(); ++d)
      count *= double(outputs[d]);
    return count;
  }

  int64_t lanes, registers, taps = 1, channels, columns, groups, images, bytes, repeats = 1;
  int64_t windowLines; // lines of taps along the last dimension
  int64_t edgeTaps;    // that lie outside for the first or last place of a line
  int64_t inputBytes = 1, weightBytes;
  int64_t distance; // of the inputs of two places along the last dimension, in bytes
  bool isOutputsFirst;
  std::vector<int64_t> outputs; // places, of one phase
};

/// Cycles of one step in which rows of x come from the second-level cache instead of the first: the
/// lines that one step after the other reads are more than the first level holds, or, of rows whose
/// distance is a multiple of a large power of two, more than there are ways in one of its sets.
double waitForInputs(const Problem &p, int64_t rows) {
  int64_t sets = wayBytes / std::gcd(p.distance, wayBytes);
  if (ceilDiv(rows, sets) > ways)
    return double(rows) / 4;
  return rows * p.channels * p.bytes > firstLevel ? double(rows) / 8 : 0;
}

/// Cycles of waiting for an x that the second-level cache does not hold, which is read `times`
/// times; half of it is hidden.
double waitForFarInput(const Problem &p, double times) {
  return p.inputBytes > secondLevel ? double(p.inputBytes) * times / 8 / 2 : 0;
}

/// Cycles that the first rows of a block in memory wait for the `lines`, in bytes, of a step's
/// weights, where nothing has prefetched them.
double waitForWeights(const Problem &p, const ConvolutionConfiguration &block, double lines,
                      double first) {
  double step = double(block.channelStep > 0 ? block.channelStep : p.channels);
  if (p.weightBytes <= forgottenBytes || step * lines >= double(prefetchedBlock))
    return 0;
  return std::max(0.0, lines / double(memoryRate) - first);
}

/// Cycles of one program beside its steps. A block that leaves few registers is stored between
/// lines of taps.
double cyclesBeside(const Problem &p, double rows, double vectors) {
  bool isFull = int64_t(rows * vectors + vectors) + 1 > p.registers - spareRegisters;
  return programCycles + (isFull ? handedOnVector * rows * vectors * double(p.windowLines) : 0);
}

/// Cycles of programs at the ends of lines for one block of columns: taps that lie outside for some
/// places of a block are applied to a copy of all of them, so narrow blocks copy less. Elements of
/// images are copied one by one, all of those that a program reads whose last places do not exist.
double cyclesAtEdges(const Problem &p, const ConvolutionConfiguration &block) {
  double programs = p.outer() * double(ceilDiv(p.height(), block.height)), copied = copiedVector;
  int64_t taps = p.edgeTaps, vectors = ceilDiv(p.channels, p.lanes);
  if (p.channels <= imageChannels) {
    copied = copiedElement * double(p.channels);
    taps += p.outputs.back() % block.width != 0 ? p.taps : 0;
  }
  return copied * programs * double(block.width * block.height * taps * vectors);
}

double cyclesInRegisters(const Problem &p, const ConvolutionConfiguration &block) {
  double vectors = double(ceilDiv(block.columns, p.lanes)), lines = p.bytesOf(vectors);
  double rows = double(block.width * block.height);
  double columnBlocks = double(ceilDiv(p.columns, block.columns));
  double programs = p.outer() * double(ceilDiv(p.outputs.back(), block.width)) *
                    double(ceilDiv(p.height(), block.height));
  double depth = double(p.taps * p.channels), panel = depth * lines;
  double step = Problem::step(rows, vectors), first = step;
  // Weights of a panel that the first-level cache does not hold come from the second; where no
  // cache near by holds all of them the first program of a panel waits for them.
  if (panel > double(firstLevel))
    step += lines / secondLevelRate * notHidden;
  if (p.weightBytes > forgottenBytes)
    first = std::max(step, lines / double(memoryRate));
  double wait = waitForInputs(p, block.width * block.height);
  step += wait, first += wait;
  if (p.channels <= imageChannels && block.width * block.height > imagePlaces)
    step *= tooManyOfImages, first *= tooManyOfImages;
  // A block whose columns are no whole vectors lies in memory.
  if (block.columns % p.lanes != 0)
    step *= 2, first *= 2;
  double cycles =
      columnBlocks * (depth * (first + (programs - 1) * step) +
                      programs * cyclesBeside(p, rows, vectors) + cyclesAtEdges(p, block));
  return cycles + waitForFarInput(p, block.outputsOutermost ? columnBlocks : 1);
}

/// Cycles of one step for all rows of a block in memory, in even blocks of registers.
double stepInMemory(int64_t rows, double vectors) {
  int64_t blocks = ceilDiv(rows, rowsAtOnce), height = rows / blocks, taller = rows % blocks;
  return double(taller) * Problem::step(double(height + 1), vectors) +
         double(blocks - taller) * Problem::step(double(height), vectors);
}

/// How many programs there are.
int64_t programsInScratch(const Problem &p, const ConvolutionConfiguration &block) {
  return int64_t(p.outer()) * ceilDiv(p.outputs.back(), block.width) *
         ceilDiv(p.height(), block.height) * ceilDiv(p.columns, block.columns);
}

/// All places of an image in scratch: weights are read once, and used from the first-level cache.
double cyclesInScratch(const Problem &p, const ConvolutionConfiguration &block) {
  double vectors = double(ceilDiv(block.columns, p.lanes)), lines = p.bytesOf(vectors);
  int64_t rows = block.width * block.height;
  double step = stepInMemory(rows, vectors);
  step +=
      (handedOnVector * double(rows) * vectors + partCycles * double(ceilDiv(rows, rowsAtOnce))) /
      double(block.channelStep > 0 ? block.channelStep : p.channels);
  step += double(rows) / double(p.lanes); // of x, which is copied to scratch
  double first = Problem::step(double(rowsAtOnce), vectors);
  step += waitForWeights(p, block, lines, first) + lines / secondLevelRate * notHidden;
  return double(programsInScratch(p, block)) * double(p.taps * p.channels) *
             (step + (p.isOutputsFirst ? double(block.columns) * transposedElement : 0)) +
         waitForFarInput(p, double(ceilDiv(p.columns, block.columns)));
}

/// Blocks of 2 x 2 places by 16 products. Inputs are transformed again for each block of columns;
/// weights are prefetched.
double cyclesByWinograd(const Problem &p, const ConvolutionConfiguration &block) {
  double vectors = double(ceilDiv(block.columns, p.lanes));
  int64_t blocks = block.width * block.height;
  double step = stepInMemory(blocks, vectors);
  if (block.channelStep > 0)
    step += summedVector * double(blocks) * vectors / double(block.channelStep);
  double programs =
      double(p.images * ceilDiv(p.outputs.back(), 2 * block.width) *
             ceilDiv(p.height(), 2 * block.height) * ceilDiv(p.columns, block.columns));
  double transforms = 2.5 * double(p.channels) + 1.4 * double(block.columns);
  return programs * (16 * double(p.channels) * step + transforms * double(blocks));
}

/// Channels along vectors; what is moved decides, so weights should stay in registers.
ConvolutionConfiguration chooseChannelwise(const Convolution &spec, const Problem &p) {
  ConvolutionConfiguration block;
  block.columns = std::min(p.lanes, p.groups);
  bool isLong = p.registers >= manyRegisters && spec.spatial.back().stride == 1;
  block.width = std::min(p.outputs.back(), isLong ? channelwiseLine : channelwisePlaces);
  for (int64_t width = block.width; width >= 4; --width)
    if (p.outputs.back() % width == 0) {
      block.width = width;
      break;
    }
  block.height = channelwiseLines;
  block.outputsOutermost = p.outputs.back() < deepImage;
  if (!spec.outputs.size)
    block.columns = p.lanes;
  return block;
}

/// How wide blocks may be: whole vectors, which panels have to come out even in.
std::vector<int64_t> widths(const Convolution &spec, const Problem &p, bool isPacked) {
  std::vector<int64_t> found;
  auto fits = [&](int64_t width) {
    return !spec.outputs.size || (!isPacked && spec.groups == 1) || *spec.outputs.size % width == 0;
  };
  for (int64_t vectors = 1; vectors <= mostVectors; ++vectors)
    if (int64_t width = vectors * p.lanes;
        fits(width) && (vectors == 1 || width < p.columns + p.lanes))
      found.push_back(width);
  if (!found.empty() && spec.outputs.size != 1)
    return found;
  for (int64_t width = std::min(p.columns, mostVectors / 2 * p.lanes); width >= 1; --width)
    if (p.columns % width == 0)
      return {width};
  return {1};
}

/// Those of every target, too.
std::vector<Constraint> allConstraints(const Convolution &spec, const VectorUnit &unit) {
  return kernels::allConstraints(kernels::convolutionConstraints(spec),
                                 kernels::convolutionSchema(), convolutionConstraints(spec, unit));
}

double cycles(const Convolution &spec, const Problem &p, const ConvolutionConfiguration &block) {
  return spec.hasTransformedWeights ? cyclesByWinograd(p, block)
         : block.inScratch          ? cyclesInScratch(p, block)
                                    : cyclesInRegisters(p, block);
}

/// The cheapest of those that are offered and legal.
class Cheapest {
public:
  Cheapest(const Convolution &spec, const Problem &problem, const VectorUnit &unit,
           const ConvolutionConfiguration &first)
      : best(first), spec(spec), problem(problem), constraints(allConstraints(spec, unit)),
        least(cycles(spec, problem, first)), isFound(isLegal(first)) {}

  void offer(const ConvolutionConfiguration &block) {
    double cost = cycles(spec, problem, block);
    if ((cost < least || !isFound) && isLegal(block))
      least = cost, best = block, isFound = true;
  }
  ConvolutionConfiguration best;

private:
  bool isLegal(const ConvolutionConfiguration &block) const {
    return kernels::holds(constraints, kernels::numbersOf(block));
  }

  const Convolution &spec;
  const Problem &problem;
  std::vector<Constraint> constraints;
  double least;
  bool isFound;
};

/// The fewest channels of a block of weights that is large enough to be prefetched; 0 if all of
/// them are little more, or fall into no such blocks.
int64_t prefetchedChannels(const Problem &p, int64_t columns) {
  int64_t least = ceilDiv(prefetchedBlock, columns * p.bytes);
  for (int64_t step = ceilDiv(least, channelChunk) * channelChunk; step <= 2 * least;
       step += channelChunk)
    if (p.channels % step == 0 && p.channels > step)
      return step;
  return 0;
}

ConvolutionConfiguration chooseTransformed(const Convolution &spec, const Problem &p,
                                           const VectorUnit &unit) {
  ConvolutionConfiguration block;
  block.columns = kernels::transformedColumns(spec);
  block.channelStep = kernels::transformedChannelStep(p.channels);
  Cheapest cheapest(spec, p, unit, block);
  // A part of a line, or several lines.
  int64_t most = std::max<int64_t>(4, ceilDiv(p.outputs.back(), mostBlocks));
  for (int64_t parts = 1; parts <= most; ++parts)
    for (int64_t height = 1; height <= ceilDiv(p.height(), 2); ++height) {
      block.width = ceilDiv(ceilDiv(p.outputs.back(), 2), parts), block.height = height;
      int64_t blocks = block.width * block.height;
      if (blocks >= fewestBlocks && blocks <= mostBlocks)
        cheapest.offer(block);
    }
  return cheapest.best;
}

/// A block in scratch of fewer columns where that keeps clearly more workers busy, and one of them
/// hardly longer: all weights are still read once, but inputs are copied again for each block.
ConvolutionConfiguration evenOut(const Convolution &spec, const Problem &p,
                                 const ConvolutionConfiguration &block, const VectorUnit &unit) {
  ConvolutionConfiguration narrow = block;
  narrow.columns = block.columns / 2;
  narrow.channelStep = prefetchedChannels(p, narrow.columns);
  bool isWorth = isMoreEven(programsInScratch(p, narrow), programsInScratch(p, block)) &&
                 cyclesInScratch(p, narrow) <= hardlyLonger * cyclesInScratch(p, block);
  return isWorth && isLegal(spec, narrow, unit) ? narrow : block;
}

/// Filters as they are given: as many places as possible share a block that is transposed.
ConvolutionConfiguration chooseGiven(const Problem &p, const VectorUnit &unit) {
  ConvolutionConfiguration block;
  block.inScratch = true;
  block.columns = std::min(columnsInMemory(unit), p.columns);
  int64_t parts = ceilDiv(p.outputs.back(), givenPlaces);
  block.width = ceilDiv(p.outputs.back(), parts);
  block.height = std::clamp<int64_t>(givenPlaces / block.width, 1, p.height());
  int64_t step = std::max(givenChannels, givenRows / p.taps);
  while (step > channelChunk && p.channels % step != 0)
    step -= channelChunk;
  block.channelStep = p.channels % step == 0 && p.channels > step ? step : 0;
  return block;
}

/// Programs of a line follow each other.
ConvolutionConfiguration inOrder(const Problem &p, ConvolutionConfiguration block) {
  block.widthPrograms = std::max<int64_t>(
      1, std::min(ceilDiv(p.outputs.back(), block.width), workerPlaces / block.width));
  return block;
}

} // namespace

std::vector<Constraint> convolutionConstraints(const Convolution &spec, const VectorUnit &unit) {
  if (spec.hasTransformedWeights)
    return {};
  // The block, one row of w and one element of x for it.
  std::string vectors = "(columns ceildiv " + std::to_string(unit.lanes) + ")";
  return {{"(width * height * " + vectors + " + " + vectors + " + 1) * (1 - in_scratch)",
           std::to_string(unit.registers),
           "vector registers hold the block, a row of the weight and an element of the input"}};
}

bool isLegal(const Convolution &spec, const ConvolutionConfiguration &configuration,
             const VectorUnit &unit) {
  return kernels::holds(allConstraints(spec, unit), kernels::numbersOf(configuration));
}

double convolutionCost(const Convolution &spec, const ConvolutionConfiguration &configuration,
                       const VectorUnit &unit) {
  return cycles(spec, Problem(spec, unit), configuration);
}

/// A transform at run time: what is read and written goes through memory.
static double cyclesOfTransform(const Problem &p) {
  return double(p.channels * p.columns * p.bytes) * (9 + 16) / transformedBytes;
}

kernels::WinogradWeightsConfiguration
chooseWinogradWeights(const kernels::WinogradWeights &weights) {
  // Filters are read in runs of 9 elements a channel: 256 x 256 take a core of a Xeon 0.27 ms so,
  // 0.31 with 16 channels and 0.36 with all.
  constexpr int64_t together = 64;
  return {weights.isOutputsFirst ? std::min(weights.channels, together) : 1};
}

/// Of a convolution with filters transposed before, with that.
static double cyclesTransposed(Convolution spec, const VectorUnit &unit) {
  std::vector<Extent> shape;
  for (const ConvolutionAxis &axis : spec.spatial)
    shape.push_back(axis.window);
  shape.insert(shape.end(), {spec.channels, spec.outputs});
  spec.buffers[spec.w].shape = shape;
  spec.isOutputsFirst = false;
  Problem p(spec, unit);
  return cycles(spec, p, chooseConvolution(spec, unit)) +
         2 * double(p.weightBytes) / transposedBytes;
}

/// Of one whose filters are no others than those given.
static double cyclesAsGiven(const Convolution &spec, const VectorUnit &unit, bool isKnown) {
  return cycles(spec, Problem(spec, unit), chooseConvolution(spec, unit, isKnown));
}

bool isFilterTransposeProfitable(const Convolution &spec, const VectorUnit &unit) {
  if (!spec.isOutputsFirst)
    return false;
  Problem p(spec, unit);
  bool fits = spec.sum == kernel::f32 && spec.buffers[spec.w].dtype == kernel::f32 &&
              p.columns % columnsInMemory(unit) == 0 && p.taps <= mostGivenTaps;
  return !fits || cyclesTransposed(spec, unit) < cyclesAsGiven(spec, unit, false);
}

bool isTransformProfitable(const Convolution &spec, const VectorUnit &unit, bool isKnown) {
  Problem p(spec, unit);
  if (!canBeWinograd(spec, panelOutputs) || p.channels < fewestChannels)
    return false;
  Convolution transformed = spec;
  kernels::transformWeights(transformed, panelOutputs);
  ConvolutionConfiguration block = chooseTransformed(transformed, p, unit);
  double direct = cyclesAsGiven(spec, unit, isKnown);
  if (spec.isOutputsFirst)
    direct = std::min(direct, cyclesTransposed(spec, unit));
  return block.width * block.height >= fewestBlocks &&
         cycles(transformed, p, block) + (isKnown ? 0 : cyclesOfTransform(p)) < direct;
}

ConvolutionConfiguration chooseConvolution(const Convolution &spec, const VectorUnit &unit,
                                           bool wantsPacked) {
  Problem p(spec, unit);
  if (isDepthwise(spec))
    return chooseChannelwise(spec, p);
  if (spec.hasTransformedWeights)
    return inOrder(p, chooseTransformed(spec, p, unit));
  if (spec.isOutputsFirst)
    return chooseGiven(p, unit);
  ConvolutionConfiguration first;
  first.isPacked = wantsPacked && canPack(spec) && spec.outputs.size &&
                   (spec.groups > 1 || *spec.outputs.size % unit.lanes == 0);
  std::vector<int64_t> columns = widths(spec, p, first.isPacked);
  first.columns = columns.front();
  Cheapest cheapest(spec, p, unit, first);
  for (int64_t count : columns)
    for (bool outputsOutermost : {true, false})
      for (int64_t width = 1; width <= std::min(mostPlaces, p.outputs.back()); ++width) {
        bool isWhole = spec.spatial.size() > 1 && width == p.outputs.back();
        for (int64_t height = 1; height <= (isWhole ? std::min(p.height(), mostPlaces / width) : 1);
             ++height) {
          ConvolutionConfiguration block = first;
          block.columns = count, block.width = width, block.height = height;
          block.outputsOutermost = outputsOutermost;
          cheapest.offer(block);
        }
      }
  if (p.outputs.back() * p.height() <= scratchPlaces && spec.outputs.size &&
      spec.sum == kernel::f32) {
    // Inputs are copied once for all columns of a program.
    for (int64_t wide = columnsInMemory(unit); wide <= mostColumnsInScratch; wide *= 2) {
      if (*spec.outputs.size % wide != 0)
        break;
      ConvolutionConfiguration block = first;
      block.inScratch = true;
      block.columns = wide, block.width = p.outputs.back(), block.height = p.height();
      block.channelStep = prefetchedChannels(p, wide);
      cheapest.offer(block);
    }
    if (cheapest.best.inScratch)
      cheapest.best = evenOut(spec, p, cheapest.best, unit);
  }
  return cheapest.best.inScratch ? cheapest.best : inOrder(p, cheapest.best);
}

} // namespace tw::target::cpu
