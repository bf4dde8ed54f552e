// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Winograd.h"
#include "Kernels/KernelFrame.h"
#include <algorithm>
#include <cmath>

namespace tw::kernels {
using namespace tw::kernel;

/// How far results are from the exact ones grows with the terms that are added up one after the
/// other, and each is a sum of nine products of transformed operands: of 128 channels and more they
/// would be up to 3.7 times as far as PyTorch's (2 is what is allowed), with 64 up to 1.5 times.
constexpr int64_t longestSum = 64, shortestSum = 16;

int64_t transformedChannelStep(int64_t channels) {
  if (channels <= longestSum)
    return 0;
  int64_t step = longestSum;
  while (channels % step != 0)
    --step;
  return step;
}

bool canBeWinograd(const Convolution &convolution, int64_t columns) {
  auto hasShortSums = [](int64_t channels) {
    return channels <= longestSum || transformedChannelStep(channels) >= shortestSum;
  };
  auto fits = [](const ConvolutionAxis &axis) {
    return axis.window.size == 3 && axis.stride == 1 && axis.dilation == 1 && axis.output.size &&
           *axis.output.size > 1;
  };
  const std::vector<BufferSpec> &buffers = convolution.buffers;
  return convolution.spatial.size() == 2 && convolution.groups == 1 && !convolution.isTransposed &&
         !convolution.isChannelsFirst && !convolution.hasTransformedWeights &&
         convolution.channels.size && hasShortSums(*convolution.channels.size) &&
         convolution.outputs.size && *convolution.outputs.size % columns == 0 &&
         buffers[convolution.x].dtype == f32 && buffers[convolution.w].dtype == f32 &&
         convolution.sum == f32 &&
         std::all_of(convolution.spatial.begin(), convolution.spatial.end(), fits);
}

static constexpr Member<WinogradWeightsConfiguration> members[] = {
    {"channels", &WinogradWeightsConfiguration::channels, 1, "input channels in a program"}};

const ConfigurationSchema &winogradWeightsSchema() {
  static const ConfigurationSchema schema =
      schemaOf<WinogradWeightsConfiguration>("winograd_weights", members);
  return schema;
}
Numbers numbersOf(const WinogradWeightsConfiguration &configuration) {
  return numbersOf<WinogradWeightsConfiguration>(configuration, members);
}
WinogradWeightsConfiguration winogradWeightsFrom(const Numbers &fields) {
  return fromNumbers<WinogradWeightsConfiguration>(fields, members);
}
std::vector<Constraint> winogradWeightsConstraints(const WinogradWeights &weights) {
  return {{"channels", std::to_string(weights.channels), "there are no more channels"}};
}

WinogradWeights transformWeights(Convolution &convolution, int64_t columns) {
  WinogradWeights weights{{convolution.buffers[convolution.w]},
                          *convolution.channels.size,
                          *convolution.outputs.size,
                          convolution.isOutputsFirst,
                          convolution.isReversed};
  BufferSpec transformed{
      "transformed", f32, {{weights.outputs / columns}, {16}, convolution.channels, {columns}}};
  convolution.buffers[convolution.w] = transformed;
  convolution.hasTransformedWeights = true;
  convolution.isOutputsFirst = convolution.isReversed = false;
  transformed.isOutput = true;
  weights.buffers.push_back(transformed);
  return weights;
}

int64_t transformedColumns(const Convolution &convolution) {
  return *convolution.buffers[convolution.w].shape.back().size;
}

namespace {

/// A sum of tiles times numbers, of which those that are 0 are left out.
class Combination {
public:
  template <typename MakeTile>
  void add(double factor, MakeTile tile) {
    if (factor == 0)
      return;
    Tile term = factor == 1 || factor == -1 ? tile() : tile() * std::abs(factor);
    if (isEmpty)
      sum = factor < 0 ? -term : term;
    else
      sum = factor < 0 ? sum - term : sum + term;
    isEmpty = false;
  }
  Tile sum;

private:
  bool isEmpty = true;
};

// y = A^T [(G w G^T) * (B^T x B)] A, element by element.
constexpr double weightsBy[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double inputBy[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
constexpr double outputBy[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};

/// The sum of tiles times numbers. Terms that are added come first: then nothing has to be negated.
template <size_t N, typename MakeTile>
Tile combine(const double (&factors)[N], MakeTile tile) {
  Combination sum;
  for (bool isAdded : {true, false})
    for (size_t i = 0; i < N; ++i)
      if ((factors[i] > 0) == isAdded)
        sum.add(factors[i], [&] { return tile(int64_t(i)); });
  return sum.sum;
}

/// A row of B^T and a column of A^T for a loop over them: x[first] + sign * x[second], which is
/// added to the outputs times `outputs`.
struct Row {
  explicit Row(const Index &i)
      : first(i - floorDiv(i, 3) * 2), second(floorDiv(i, 3) * 2 - floorDiv(i, 2) + 2),
        sign(select(i == 1, number(1), number(-1))),
        outputs{select(i == 3, number(0), number(1)),
                select(i == 0, number(0), select(i == 1, number(1), number(-1)))} {}
  Index first, second;
  Scalar sign, outputs[2];

private:
  static Scalar number(double value) { return constant(value, f32); }
};

} // namespace

void writeWinogradWeights(const WinogradWeights &weights,
                          const WinogradWeightsConfiguration &configuration) {
  int64_t channels = configuration.channels, columns = *weights.buffers[1].shape.back().size;
  KernelFrame frame({{weights.outputs}, {weights.channels}}, weights.buffers,
                    {{columns}, {channels}});
  Index o = frame.program(0), c = frame.program(1) * channels;
  Tile given; // by channels and taps
  if (weights.isOutputsFirst)
    given = transpose(load(frame.buffer(0), {o * columns, c * 9}, {columns, channels * 9}));
  auto tap = [&](int64_t a, int64_t b) {
    if (weights.isReversed)
      a = 2 - a, b = 2 - b;
    return weights.isOutputsFirst
               ? slice(given, {a * 3 + b, 0}, {channels, columns}, {9, 1})
               : reshape(load(frame.buffer(0), {a, b, c, o * columns}, {1, 1, channels, columns}),
                         {channels, columns});
  };
  // Stores follow each other, so that one loop makes them all, of what they have in common.
  std::vector<Tile> sums;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j)
      sums.push_back(reshape(combine(weightsBy[i],
                                     [&](int64_t a) {
                                       return combine(weightsBy[j],
                                                      [&](int64_t b) { return tap(a, b); });
                                     }),
                             {1, 1, channels, columns}));
  for (int64_t i = 0; i < 16; ++i)
    store(frame.buffer(1), {o, i, c, 0}, sums[i]);
}

namespace {

class WinogradWriter {
public:
  WinogradWriter(const Convolution &spec, const ConvolutionConfiguration &configuration)
      : spec(spec), configuration(configuration), isOuter(configuration.outputsOutermost),
        frame(inOrder(Extent(spec.outputs),
                      {spec.batch, spec.spatial[0].output, spec.spatial[1].output}),
              spec.buffers,
              inOrder(DimTiling{configuration.columns},
                      {{1},
                       {2 * configuration.height},
                       {2 * configuration.width, configuration.widthPrograms}})) {
    int first = isOuter ? 1 : 0;
    output = frame.program(isOuter ? 0 : 3), image = frame.program(first);
    line = frame.program(first + 1) * (2 * configuration.height);
    place = frame.program(first + 2) * (2 * configuration.width);
  }

  void write() {
    Tile none = zeros({blocks(), configuration.columns}, f32);
    // A loop over rows of products: all at once are much code.
    auto [y00, y01, y10, y11] = forLoop(
        0, 4, 1, carry(none, none, none, none),
        [&](const Index &i, const Tile &y00, const Tile &y01, const Tile &y10, const Tile &y11) {
          Row row(i);
          Tile products[4];
          for (int64_t j = 0; j < 4; ++j)
            products[j] = product(row, i, j);
          auto part = [&](int64_t right) {
            return combine(outputBy[right], [&](int64_t j) { return products[j]; });
          };
          Tile left = part(0), right = part(1);
          return carry(y00 + left * row.outputs[0], y01 + right * row.outputs[0],
                       y10 + left * row.outputs[1], y11 + right * row.outputs[1]);
        });
    store(0, 0, y00), store(0, 1, y01), store(1, 0, y10), store(1, 1, y11);
  }

private:
  /// Outputs first, or last.
  template <typename T>
  std::vector<T> inOrder(const T &ofOutputs, std::vector<T> others) const {
    others.insert(isOuter ? others.begin() : others.end(), ofOutputs);
    return others;
  }
  int64_t blocks() const { return configuration.height * configuration.width; }

  /// The sum over channels of one of the products, for all blocks.
  Tile product(const Row &row, const Index &i, int64_t j) {
    Tile none = zeros({blocks(), configuration.columns}, f32);
    int64_t step = configuration.channelStep;
    if (step == 0)
      return add(row, i, j, 0, *spec.channels.size, none);
    return forLoop(0, *spec.channels.size / step, 1, none, [&](const Index &c, const Tile &sum) {
      return sum + add(row, i, j, c * step, step, none);
    });
  }

  Tile add(const Row &row, const Index &i, int64_t j, const Index &c, int64_t count,
           const Tile &sum) {
    auto input = [&](const Index &down, int64_t right) {
      return load(frame.buffer(spec.x),
                  {image, line + down - spec.spatial[0].padding,
                   place + (right - spec.spatial[1].padding), c},
                  {1, configuration.height, configuration.width, count},
                  {.strides = {1, 2, 2, 1}, .pad = 0.0});
    };
    Tile a = combine(inputBy[j], [&](int64_t right) {
      return input(row.first, right) + input(row.second, right) * row.sign;
    });
    Tile b =
        load(frame.buffer(spec.w), {output, i * 4 + j, c, 0}, {1, 1, count, configuration.columns});
    return dot(reshape(a, {blocks(), count}), reshape(b, {count, configuration.columns}), sum);
  }

  /// Every second place of every second line.
  void store(int64_t down, int64_t right, const Tile &sums) {
    Positions positions;
    Shape extents;
    StoreOptions options{.drop = true};
    auto take = [&](const Index &position, int64_t extent, int64_t stride) {
      positions.push_back(position);
      extents.push_back(extent);
      options.strides.push_back(stride);
    };
    if (spec.batch.size != 1)
      take(image, 1, 1);
    take(line + down, configuration.height, 2);
    take(place + right, configuration.width, 2);
    take(output * configuration.columns, configuration.columns, 1);
    kernel::store(frame.buffer(spec.y), positions, reshape(sums, extents), options);
  }

  const Convolution &spec;
  const ConvolutionConfiguration &configuration;
  bool isOuter;
  KernelFrame frame;
  Index output, image, line, place; // of the program
};

} // namespace

void writeWinograd(const Convolution &spec, const ConvolutionConfiguration &configuration) {
  WinogradWriter(spec, configuration).write();
}

} // namespace tw::kernels
