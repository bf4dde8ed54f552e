// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Convolution.h"
#include "Kernels/KernelFrame.h"
#include "Kernels/Winograd.h"
#include "Support/Size.h"
#include <algorithm>

namespace tw::kernels {
using namespace tw::kernel;

bool isDepthwise(const Convolution &convolution) {
  return convolution.groups > 1 && convolution.channels.size == 1 && convolution.outputs.size == 1;
}

void simplifyTransposed(Convolution &convolution) {
  auto isSimple = [](const ConvolutionAxis &axis) { return axis.stride == 1 && axis.window.size; };
  if (!convolution.isTransposed ||
      !std::all_of(convolution.spatial.begin(), convolution.spatial.end(), isSimple))
    return;
  convolution.isTransposed = false;
  convolution.isReversed = !convolution.isReversed;
  for (ConvolutionAxis &axis : convolution.spatial)
    axis.padding = (*axis.window.size - 1) * axis.dilation - axis.padding;
}

std::string refuse(const Convolution &convolution) {
  auto isEmpty = [](const ConvolutionAxis &axis) { return axis.output.size == 0; };
  if (std::any_of(convolution.spatial.begin(), convolution.spatial.end(), isEmpty) ||
      convolution.channels.size == 0 || convolution.outputs.size == 0)
    return "it has no elements";
  if (convolution.isChannelsFirst && !convolution.channels.size)
    return "channels that come first are not counted before the call";
  if (convolution.isChannelsFirst && (convolution.groups != 1 || convolution.isTransposed))
    return "channels come first, in groups or transposed";
  if (convolution.groups > 1 && (!convolution.channels.size || !convolution.outputs.size))
    return "groups whose channels are not counted before the call";
  return {};
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

using Configured = ConvolutionConfiguration;
static constexpr Member<Configured> members[] = {
    {"width", &Configured::width, 1, "positions of a program along the last dimension"},
    {"height", &Configured::height, 1, "positions of a program along the dimension before it"},
    {"columns", &Configured::columns, 1, "output channels in a program"},
    {"width_programs", &Configured::widthPrograms, 1,
     "programs along the width that follow each other on one worker"},
    {"column_programs", &Configured::columnPrograms, 1, "the same along the output channels"},
    {"outputs_outermost", &Configured::outputsOutermost, 0,
     "whether programs walk over all positions before the next output channels"},
    {"packed", &Configured::isPacked, 0, "whether the weight is stored in panels"},
    {"in_scratch", &Configured::inScratch, 0,
     "whether a program's block lies in memory, with loops over taps and channels around it"},
    {"channel_step", &Configured::channelStep, 0,
     "channels in a trip of such a loop; 0: all of them"},
};

const ConfigurationSchema &convolutionSchema() {
  static const ConfigurationSchema schema = schemaOf<Configured>("convolution", members);
  return schema;
}
Numbers numbersOf(const ConvolutionConfiguration &configuration) {
  return numbersOf<Configured>(configuration, members);
}
ConvolutionConfiguration convolutionFrom(const Numbers &fields) {
  return fromNumbers<Configured>(fields, members);
}

bool canPack(const Convolution &convolution) {
  const std::vector<Extent> &shape = convolution.buffers[convolution.w].shape;
  return !isDepthwise(convolution) && !convolution.hasTransformedWeights &&
         !convolution.isOutputsFirst &&
         std::all_of(shape.begin(), shape.end(), [](const Extent &e) { return bool(e.size); });
}

std::vector<int> packedOrder(const Convolution &convolution) {
  int spatial = int(convolution.spatial.size());
  std::vector<int> order = {spatial + 1};
  for (int axis = 0; axis <= spatial; ++axis)
    order.push_back(axis);
  return order;
}

/// A block of so many elements is as large as it may be: it lies on the stack or in the workspace.
constexpr int64_t mostElements = 1 << 20;

std::vector<Constraint> convolutionConstraints(const Convolution &convolution) {
  std::vector<Constraint> constraints = {
      {"width * height * columns", std::to_string(mostElements), "a block is no larger"}};
  auto add = [&](const std::string &less, const std::string &more, const char *reason) {
    constraints.emplace_back(less, more, reason);
  };
  auto mustFit = [&](const char *field, const ConvolutionAxis &axis) {
    int64_t together = convolution.hasTransformedWeights ? 2
                       : convolution.isTransposed        ? axis.stride
                                                         : 1;
    if (axis.output.size)
      add(field, std::to_string((*axis.output.size + together - 1) / together),
          "there are no more places");
  };
  mustFit("width", convolution.spatial.back());
  if (size_t count = convolution.spatial.size(); count > 1)
    mustFit("height", convolution.spatial[count - 2]);
  else
    add("height", "1", "it has one spatial dimension");
  if (!canPack(convolution))
    add("packed", "0", "the weight is not stored in panels");
  if (convolution.isOutputsFirst)
    add("1", "in_scratch", "filters as they are given are transposed block by block, in memory");
  if (isDepthwise(convolution)) {
    add("in_scratch + channel_step", "0", "each output has one channel");
    return constraints;
  }
  auto mustDivide = [&](const std::string &field, const Extent &extent, const std::string &where,
                        const char *reason) {
    if (extent.size)
      add(where + " * (" + std::to_string(*extent.size) + " mod " + field + ")", "0", reason);
  };
  if (convolution.outputs.size == 1)
    add("columns", "1", "there is one output channel");
  mustDivide("columns", convolution.outputs, "packed", "panels come out even");
  if (convolution.groups > 1)
    mustDivide("columns", convolution.outputs, "1", "a block is of one group");
  mustDivide("(channel_step + 1 floordiv (channel_step + 1))", convolution.channels, "1",
             "channels come out even");
  if (!convolution.channels.size)
    add("channel_step", "0", "channels are counted at the call");
  if (convolution.isChannelsFirst)
    add("in_scratch", "0", "channels come first");
  if (convolution.hasTransformedWeights) {
    add("in_scratch", "0", "weights are transformed");
    std::string panel = std::to_string(transformedColumns(convolution));
    add("columns", panel, "weights are transformed in panels");
    add(panel, "columns", "weights are transformed in panels");
    if (int64_t step = transformedChannelStep(*convolution.channels.size)) {
      constexpr const char *reason = "long sums of transformed products are not exact enough";
      add("1", "channel_step", reason);
      add("channel_step", std::to_string(step), reason);
    }
  } else {
    add("channel_step", "channel_step * in_scratch",
        "a block that is not in scratch memory takes all channels");
  }
  return constraints;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// Sums of floats are added up in parts of this many terms: one long chain is several times as far
/// from the exact sum.
constexpr int64_t longestChain = 256;
/// Taps that are written one after the other, as products of matrices and as products of a channel
/// each; more run in loops. They bound how long a kernel's text becomes, and no machine: windows of
/// 3 x 3 would be nine products of matrices, each of which is code of its own on every target;
/// windows of 5 x 5 are 25 single operations.
constexpr int64_t writtenProducts = 8, writtenTaps = 25;
/// Places outside of every tensor.
constexpr int64_t farAway = int64_t(1) << 32;

/// Sums of products, in parts.
class PartialSums {
public:
  /// `isChain`: all that is added fits one part, which `total` begins.
  PartialSums(const Tile &total, bool isChain) : total(total), isChain(isChain) {}

  /// `add` gives the sum of what it is given and `terms` terms; no number: of unknown many.
  template <typename Add>
  void take(std::optional<int64_t> terms, Add add) {
    if (isChain) {
      total = add(total);
      return;
    }
    if (hasPart && !(terms && taken + *terms <= longestChain))
      flush();
    part = add(hasPart ? part : zeros(total.shape(), total.dtype()));
    hasPart = true;
    taken += terms.value_or(longestChain);
  }
  Tile sum() {
    if (hasPart)
      flush();
    return total;
  }

private:
  void flush() {
    total = total + part;
    hasPart = false, taken = 0;
  }
  Tile total, part;
  bool isChain, hasPart = false;
  int64_t taken = 0;
};

class ConvolutionWriter {
public:
  ConvolutionWriter(const Convolution &spec, const ConvolutionConfiguration &configuration)
      : spec(spec), configuration(configuration), spatial(spec.spatial.size()),
        isChannelwise(isDepthwise(spec)), blocks(blocksOf(spec, configuration)),
        frame(dimsOf(), buffersOf(), tilingsOf()) {
    rows = 1;
    for (int64_t block : blocks)
      rows = rows * block;
  }

  void write() {
    Tile none = zeros({rows, configuration.columns}, spec.sum);
    store(spec.isOutputsFirst       ? sumOfGiven(none)
          : configuration.inScratch ? sumInScratch(0, none)
          : spec.isChannelsFirst    ? sumChannels(none)
                                    : sumTaps(0, none));
  }

private:
  //===--- the grid -----------------------------------------------------------===//

  /// Places of a program along each spatial dimension.
  static std::vector<int64_t> blocksOf(const Convolution &spec,
                                       const ConvolutionConfiguration &configuration) {
    std::vector<int64_t> blocks(spec.spatial.size(), 1);
    blocks.back() = configuration.width;
    if (blocks.size() > 1)
      blocks[blocks.size() - 2] = configuration.height;
    return blocks;
  }

  /// Transposed, places at a distance of the stride see the same taps: they are a program's, and
  /// which of them it has is a dimension of the grid.
  int64_t phases(size_t d) const { return spec.isTransposed ? spec.spatial[d].stride : 1; }
  /// Those that have a place: of an axis of size 1, which the result does not have, the first
  /// alone.
  int64_t phasePrograms(size_t d) const {
    return std::min(phases(d),
                    std::max<int64_t>(1, spec.spatial[d].output.size.value_or(phases(d))));
  }

  // Dimensions of the frame: outputs, the batch, spatial ones, phases; outputs last if they are not
  // outermost.
  int outputsDim() const { return configuration.outputsOutermost ? 0 : 1 + 2 * int(spatial); }
  int batchDim() const { return configuration.outputsOutermost ? 1 : 0; }
  int spatialDim(size_t d) const { return batchDim() + 1 + int(d); }
  int phaseDim(size_t d) const { return spatialDim(spatial) + int(d); }

  /// All outputs.
  Extent outputs() const {
    auto each = spec.outputs.size;
    return each ? Extent{*each * spec.groups} : spec.outputs;
  }

  std::vector<Extent> dimsOf() const {
    std::vector<Extent> dims(2 + 2 * spatial);
    dims[outputsDim()] = outputs();
    dims[batchDim()] = spec.batch;
    for (size_t d = 0; d < spatial; ++d) {
      dims[spatialDim(d)] = spec.spatial[d].output;
      dims[phaseDim(d)] = {phasePrograms(d)};
    }
    return dims;
  }

  std::vector<DimTiling> tilingsOf() const {
    std::vector<DimTiling> tilings(2 + 2 * spatial);
    tilings[outputsDim()] = {configuration.columns, configuration.columnPrograms};
    tilings[batchDim()] = {1};
    for (size_t d = 0; d < spatial; ++d) {
      tilings[spatialDim(d)] = {blocks[d] * phases(d)};
      tilings[phaseDim(d)] = {1};
    }
    tilings[spatialDim(spatial - 1)].programs = configuration.widthPrograms;
    return tilings;
  }

  std::vector<BufferSpec> buffersOf() const {
    std::vector<BufferSpec> buffers = spec.buffers;
    if (!configuration.isPacked)
      return buffers;
    std::vector<Extent> panels, &shape = buffers[spec.w].shape;
    for (int axis : packedOrder(spec))
      panels.push_back(shape[axis]);
    *panels[0].size /= configuration.columns;
    panels.push_back({configuration.columns});
    shape = panels;
    return buffers;
  }

  //===--- taps ---------------------------------------------------------------===//

  /// Where a tap is in the window, and where it reads for the block's first place.
  struct Tap {
    Index inWindow, inInput;
  };

  /// How many taps a program looks at along a dimension.
  Extent tapCount(size_t d) const {
    const ConvolutionAxis &axis = spec.spatial[d];
    if (!isEveryNth(d) || !axis.window.size)
      return axis.window;
    return {(*axis.window.size + axis.stride - 1) / axis.stride};
  }
  /// Whether the taps that a program's places see are every stride-th of them.
  bool isEveryNth(size_t d) const {
    return phases(d) > 1 && spec.spatial[d].dilation == 1 && spec.spatial[d].window.size;
  }

  Tap tapOf(size_t d, const Index &number) const {
    const ConvolutionAxis &axis = spec.spatial[d];
    Index first = frame.program(spatialDim(d)) * blocks[d];
    if (!spec.isTransposed)
      return {spec.isReversed ? *axis.window.size - 1 - number : number,
              first * axis.stride + number * axis.dilation - axis.padding};
    if (axis.stride == 1)
      return {number, first - number * axis.dilation + axis.padding};
    Index shifted = frame.program(phaseDim(d)) + axis.padding;
    if (isEveryNth(d))
      return {mod(shifted, axis.stride) + number * axis.stride,
              first + floorDiv(shifted, axis.stride) - number};
    // A tap between two elements of the input reads nothing.
    Index reach = shifted - number * axis.dilation;
    return {number, first + floorDiv(reach, axis.stride) + mod(reach, axis.stride) * farAway};
  }

  int64_t stepOf(size_t d) const { return spec.isTransposed ? 1 : spec.spatial[d].stride; }

  /// Taps of the dimensions from `level` on.
  std::optional<int64_t> tapsFrom(size_t level) const {
    int64_t count = 1;
    for (size_t d = level; d < spatial; ++d) {
      auto own = tapCount(d).size;
      if (!own)
        return std::nullopt;
      count *= *own;
    }
    return count;
  }

  /// Whether some places have a tap less than others: the last one is beyond the window.
  bool isUneven(size_t d) const {
    return isEveryNth(d) && *spec.spatial[d].window.size % spec.spatial[d].stride != 0;
  }
  bool areUneven(size_t level) const {
    for (size_t d = level; d < spatial; ++d)
      if (isUneven(d))
        return true;
    return false;
  }

  Index tapEnd(size_t d) const {
    if (!isUneven(d))
      return frame.size(tapCount(d));
    const ConvolutionAxis &axis = spec.spatial[d];
    // The first tap is (phase + padding) mod stride; this is stride - 1 less it, without a minus.
    Index rest =
        mod((frame.program(phaseDim(d)) + (axis.padding + 1)) * (axis.stride - 1), axis.stride);
    return floorDiv(rest + *axis.window.size, axis.stride);
  }

  /// Terms of a tap.
  std::optional<int64_t> termsOfTap() const {
    return isChannelwise || spec.isChannelsFirst ? std::optional<int64_t>(1) : spec.channels.size;
  }
  /// Whether all terms are few enough to be added up one after the other.
  bool isShort() const {
    auto count = tapsFrom(0), each = spec.isChannelsFirst ? spec.channels.size : termsOfTap();
    return count && each && *count * *each <= longestChain;
  }

  /// The sum plus that over the taps of the dimensions from `level` on: in loops, the innermost
  /// ones one after the other.
  Tile sumTaps(size_t level, const Tile &sum) {
    auto left = tapsFrom(level);
    if (!left || *left > (isChannelwise ? writtenTaps : writtenProducts) || areUneven(level))
      return forLoop(0, tapEnd(level), 1, sum, [&](const Index &number, const Tile &before) {
        taps.push_back(tapOf(level, number));
        Tile after = sumTaps(level + 1, before);
        taps.pop_back();
        return after;
      });
    PartialSums sums(sum, isShort());
    addTaps(level, sums, termsOfTap(),
            [&](const Tile &sum) { return addProduct(sum, 0, spec.channels); });
    return sums.sum();
  }

  template <typename Add>
  void addTaps(size_t level, PartialSums &sums, std::optional<int64_t> terms, Add add) {
    if (level == spatial)
      return sums.take(terms, add);
    for (int64_t number = 0; number < *tapCount(level).size; ++number) {
      taps.push_back(tapOf(level, number));
      addTaps(level + 1, sums, terms, add);
      taps.pop_back();
    }
  }

  /// Filters as they are given: those of some channels are transposed, and each tap takes its rows.
  Tile sumOfGiven(const Tile &sum) {
    int64_t step = configuration.channelStep, all = *spec.channels.size;
    if (step == 0)
      return addGiven(sum, 0, all);
    return forLoop(0, all / step, 1, sum, [&](const Index &c, const Tile &before) {
      return addGiven(before, c * step, step);
    });
  }

  Tile addGiven(const Tile &sum, const Index &first, int64_t count) {
    int64_t columns = configuration.columns, all = *tapsFrom(0), tap = 0;
    Tile filters = transpose(load(frame.buffer(spec.w), {outputProgram() * columns, first * all},
                                  {columns, count * all}));
    PartialSums sums(sum, false);
    addTaps(0, sums, count, [&](const Tile &before) {
      int64_t inWindow = spec.isReversed ? all - 1 - tap : tap;
      ++tap;
      return multiplyAdd(loadInput(first, {count}),
                         slice(filters, {inWindow, 0}, {count, columns}, {all, 1}), before);
    });
    return sums.sum();
  }

  /// Channels that come first are steps of the sum as taps are.
  Tile sumChannels(const Tile &sum) {
    return forLoop(0, *spec.channels.size, 1, sum, [&](const Index &c, const Tile &before) {
      outerChannels.push_back(c);
      Tile after = sumTaps(0, before);
      outerChannels.pop_back();
      return after;
    });
  }

  /// Loops over taps; the sum of each is added to what there is.
  Tile sumInScratch(size_t level, const Tile &sum) {
    if (level < spatial)
      return forLoop(0, tapEnd(level), 1, sum, [&](const Index &number, const Tile &before) {
        taps.push_back(tapOf(level, number));
        Tile after = sumInScratch(level + 1, before);
        taps.pop_back();
        return after;
      });
    int64_t step = configuration.channelStep;
    Tile none = zeros({rows, configuration.columns}, spec.sum);
    if (step == 0)
      return sum + addProduct(none, 0, spec.channels);
    return sum + forLoop(0, ceilDiv(frame.size(spec.channels), step), 1, none,
                         [&](const Index &c, const Tile &part) {
                           return addProduct(part, c * step, {step});
                         });
  }

  //===--- products -----------------------------------------------------------===//

  /// The sum plus the product of the current taps and `count` channels from `first` on.
  Tile addProduct(const Tile &sum, const Index &first, const Extent &count) {
    if (isChannelwise)
      return fma(cast(loadInput(0, {configuration.columns}), spec.sum),
                 broadcast(cast(loadWeights(0, {1}), spec.sum), {rows, configuration.columns}),
                 sum);
    Extent channels = spec.isChannelsFirst ? Extent{1} : count;
    return multiplyAdd(loadInput(first, channels), loadWeights(first, channels), sum);
  }

  Tile multiplyAdd(const Tile &a, const Tile &b, const Tile &sum) const {
    bool isFloat = spec.sum <= f64,
         isSame = spec.buffers[spec.x].dtype == spec.buffers[spec.w].dtype;
    return isFloat && isSame ? dot(a, b, sum) : dot(cast(a, spec.sum), cast(b, spec.sum), sum);
  }

  Index outputProgram() const { return frame.program(outputsDim()); }

  /// [rows, channels]
  Tile loadInput(const Index &firstChannel, const Extent &channels) {
    Index c = spec.isChannelsFirst ? outerChannels.back() : firstChannel;
    if (isChannelwise)
      c = outputProgram() * configuration.columns;
    else if (spec.groups > 1)
      c = c + floorDiv(outputProgram(), *spec.outputs.size / configuration.columns) *
                  *spec.channels.size;
    if (spec.firstChannel != 0)
      c = c + spec.firstChannel;
    kernel::Size extent = frame.size(channels);
    Positions positions = {frame.program(batchDim())};
    Shape extents = {1};
    std::vector<int64_t> strides = {1};
    auto takeChannels = [&] {
      positions.push_back(c);
      extents.push_back(extent);
      strides.push_back(1);
    };
    if (spec.isChannelsFirst)
      takeChannels();
    for (size_t d = 0; d < spatial; ++d) {
      positions.push_back(taps[d].inInput);
      extents.push_back(blocks[d]);
      strides.push_back(stepOf(d));
    }
    if (!spec.isChannelsFirst)
      takeChannels();
    const BufferSpec &buffer = spec.buffers[spec.x];
    Tile tile = load(frame.buffer(spec.x), positions, extents,
                     {.strides = strides, .pad = constant(0, buffer.dtype)});
    return reshape(tile, {rows, extent});
  }

  /// [channels, columns]
  Tile loadWeights(const Index &firstChannel, const Extent &channels) {
    Index c = spec.isChannelsFirst ? outerChannels.back() : firstChannel, o = outputProgram();
    kernel::Size extent = frame.size(channels);
    Positions positions;
    Shape extents;
    auto take = [&](const Index &position, const kernel::Size &extent) {
      positions.push_back(position);
      extents.push_back(extent);
    };
    if (configuration.isPacked)
      take(o, 1);
    for (size_t d = 0; d < spatial; ++d)
      take(taps[d].inWindow, 1);
    take(c, extent);
    take(configuration.isPacked ? Index(0) : o * configuration.columns, configuration.columns);
    return reshape(load(frame.buffer(spec.w), positions, extents), {extent, configuration.columns});
  }

  //===--- the result ---------------------------------------------------------===//

  void store(const Tile &sums) {
    Positions positions;
    Shape extents;
    StoreOptions options;
    bool isStrided = false;
    auto take = [&](const Extent &axis, const Index &position, const kernel::Size &extent,
                    int64_t stride) {
      if (axis.size == 1)
        return;
      positions.push_back(position);
      extents.push_back(extent);
      options.strides.push_back(stride);
      isStrided |= stride != 1;
    };
    take(spec.batch, frame.program(batchDim()), 1, 1);
    for (size_t d = 0; d < spatial; ++d) {
      Index first = frame.program(spatialDim(d)) * (blocks[d] * phases(d));
      take(spec.spatial[d].output, phases(d) > 1 ? first + frame.program(phaseDim(d)) : first,
           blocks[d], phases(d));
    }
    take(outputs(), outputProgram() * configuration.columns, configuration.columns, 1);
    options.drop = isStrided;
    if (!isStrided)
      options.strides.clear();
    kernel::store(frame.buffer(spec.y), positions, reshape(sums, extents), options);
  }

  const Convolution &spec;
  const ConvolutionConfiguration &configuration;
  size_t spatial;
  bool isChannelwise;
  std::vector<int64_t> blocks;
  KernelFrame frame;
  kernel::Size rows;
  // Of the loops that are being written, the outermost first.
  std::vector<Tap> taps;
  std::vector<Index> outerChannels; // where channels come first
};

} // namespace

void writeConvolution(const Convolution &spec, const ConvolutionConfiguration &configuration) {
  if (spec.hasTransformedWeights)
    writeWinograd(spec, configuration);
  else
    ConvolutionWriter(spec, configuration).write();
}

} // namespace tw::kernels
