// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The convolution template beside loops in double precision: interpreted, and compiled by the cpu
// target, in the configuration that is chosen and in others.
#include "Language/Trace.h"
#include "Target/CPU/Configuration/ConvolutionCost.h"
#include "TemplateKernels.h"
#include "unittests/Kernels/Specs.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace tw;
using namespace tw::kernels;

namespace {

struct Dim {
  int64_t input, window, stride = 1, dilation = 1, padding = 0, extra = 0;
};

struct Case {
  std::vector<Dim> dims;
  int64_t batch = 1, channels = 1, outputs = 1, groups = 1; // channels of all groups
  bool isTransposed = false, isFirst = false;
  kernel::DType operand = kernel::f32, sum = kernel::f32;

  int64_t output(const Dim &d) const {
    int64_t reach = (d.window - 1) * d.dilation + 1;
    return isTransposed ? (d.input - 1) * d.stride + reach - 2 * d.padding + d.extra
                        : (d.input + 2 * d.padding - reach) / d.stride + 1;
  }

  Convolution spec() const {
    Convolution spec;
    std::vector<Extent> x = {{batch}}, w, y;
    auto keep = [&](int64_t size) {
      if (size != 1)
        y.push_back({size});
    };
    keep(batch);
    if (isFirst)
      x.push_back({channels});
    for (const Dim &d : dims) {
      spec.spatial.push_back({{d.input}, {output(d)}, {d.window}, d.stride, d.dilation, d.padding});
      x.push_back({d.input}), w.push_back({d.window}), keep(output(d));
    }
    if (!isFirst)
      x.push_back({channels});
    w.push_back({channels / groups}), w.push_back({outputs}), keep(outputs);
    spec.batch = {batch}, spec.channels = {channels / groups}, spec.outputs = {outputs / groups};
    spec.groups = groups, spec.isTransposed = isTransposed, spec.isChannelsFirst = isFirst;
    spec.sum = sum;
    spec.buffers = {{"x", operand, x}, {"w", operand, w}, {"y", sum, y, true}};
    return spec;
  }
};

/// Calls f for each point of a box.
void forEach(const std::vector<int64_t> &sizes,
             llvm::function_ref<void(const std::vector<int64_t> &)> f) {
  std::vector<int64_t> point(sizes.size());
  for (int64_t size : sizes)
    if (size == 0)
      return;
  for (;;) {
    f(point);
    size_t d = sizes.size();
    while (d > 0 && ++point[d - 1] == sizes[d - 1])
      point[--d] = 0;
    if (d == 0)
      return;
  }
}

int64_t offset(const std::vector<int64_t> &sizes, const std::vector<int64_t> &point) {
  int64_t at = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    at = at * sizes[d] + point[d];
  return at;
}

/// Scatters each product of an element of the smaller side to where it goes.
std::vector<double> truth(const Case &c, const HostTensor &x, const HostTensor &w) {
  std::vector<int64_t> yShape = {c.batch}, window, places;
  for (const Dim &d : c.dims) {
    yShape.push_back(c.output(d)), window.push_back(d.window);
    places.push_back(c.isTransposed ? d.input : c.output(d));
  }
  yShape.push_back(c.outputs);
  int64_t each = c.channels / c.groups, eachOut = c.outputs / c.groups;
  std::vector<double> y(
      size_t(std::accumulate(yShape.begin(), yShape.end(), int64_t(1), std::multiplies<>())));
  std::vector<int64_t> loops = {c.batch, each, c.outputs};
  loops.insert(loops.end(), window.begin(), window.end());
  loops.insert(loops.end(), places.begin(), places.end());
  std::vector<double> inputs = valuesOf(x), filters = valuesOf(w);
  std::vector<int64_t> from, to, tap;
  forEach(loops, [&](const std::vector<int64_t> &i) {
    from = {i[0]}, to = {i[0]}, tap = {};
    int64_t channel = i[2] / eachOut * each + i[1];
    if (c.isFirst)
      from.push_back(channel);
    for (size_t d = 0; d < c.dims.size(); ++d) {
      const Dim &dim = c.dims[d];
      int64_t k = i[3 + d], p = i[3 + c.dims.size() + d];
      int64_t other = p * dim.stride + k * dim.dilation - dim.padding;
      if (other < 0 || other >= (c.isTransposed ? c.output(dim) : dim.input))
        return;
      tap.push_back(k);
      from.push_back(c.isTransposed ? p : other), to.push_back(c.isTransposed ? other : p);
    }
    if (!c.isFirst)
      from.push_back(channel);
    to.push_back(i[2]), tap.push_back(i[1]), tap.push_back(i[2]);
    y[size_t(offset(yShape, to))] +=
        inputs[size_t(offset(x.sizes(), from))] * filters[size_t(offset(w.sizes(), tap))];
  });
  return y;
}

std::vector<HostTensor> inputsOf(const Convolution &spec) {
  std::vector<HostTensor> inputs;
  for (int buffer : {spec.x, spec.w})
    inputs.push_back(randomTensor(spec.buffers[buffer], 3 + buffer));
  return inputs;
}

/// [window..., C, O] as [O / columns, window..., C, columns].
HostTensor packed(const HostTensor &w, int64_t columns) {
  std::vector<int64_t> sizes = w.sizes();
  int64_t outputs = sizes.back(), rows = w.count() / outputs;
  sizes.insert(sizes.begin(), outputs / columns);
  sizes.back() = columns;
  HostTensor made = *HostTensor::create(w.dtype(), sizes);
  size_t bytes = info(w.dtype()).bytes;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t o = 0; o < outputs; ++o) {
      int64_t to = (o / columns * rows + row) * columns + o % columns;
      std::copy_n(w.bytes().data() + (row * outputs + o) * int64_t(bytes), bytes,
                  made.bytes().data() + to * int64_t(bytes));
    }
  return made;
}

/// [window..., C, O] as [O, C * taps].
HostTensor outputsFirst(const HostTensor &w) {
  int64_t outputs = w.sizes().back(), channels = w.sizes()[w.sizes().size() - 2];
  int64_t taps = w.count() / outputs / channels;
  HostTensor made = *HostTensor::create(w.dtype(), {outputs, channels * taps});
  size_t bytes = info(w.dtype()).bytes;
  for (int64_t from = 0; from < w.count(); ++from) {
    int64_t tap = from / outputs / channels, c = from / outputs % channels, o = from % outputs;
    std::copy_n(w.bytes().data() + size_t(from) * bytes, bytes,
                made.bytes().data() + size_t((o * channels + c) * taps + tap) * bytes);
  }
  return made;
}

/// Runs what transforms the weights, too.
HostTensor transformed(Convolution &spec, const HostTensor &w) {
  WinogradWeights weights = transformWeights(spec, target::cpu::panelOutputs);
  auto made = target::cpu::chooseWinogradWeights(weights);
  auto trace = kernel::trace("k", [&] { writeWinogradWeights(weights, made); });
  EXPECT_FALSE(trace.error) << trace.error->message;
  std::vector<HostTensor> given;
  given.push_back(*HostTensor::create(w.dtype(), w.sizes()));
  std::ranges::copy(w.bytes(), given[0].bytes().begin());
  return std::move(target::CompiledKernel(withoutDestinations(trace.text)).run(given)[0]);
}

void check(const Case &c, const ConvolutionConfiguration &configuration, bool transforms = false,
           bool isGiven = false) {
  Convolution spec = c.spec();
  std::vector<HostTensor> inputs = inputsOf(spec);
  std::vector<double> wanted = truth(c, inputs[0], inputs[1]);
  if (configuration.isPacked)
    inputs[1] = packed(inputs[1], configuration.columns);
  if (isGiven) {
    spec = given(spec);
    inputs[1] = outputsFirst(inputs[1]);
  }
  if (transforms)
    inputs[1] = transformed(spec, inputs[1]);
  ASSERT_TRUE(holds(convolutionConstraints(spec), numbersOf(configuration)));
  auto trace = kernel::trace("k", [&] { writeConvolution(spec, configuration); });
  ASSERT_FALSE(trace.error) << trace.error->message;
  std::string text = withoutDestinations(trace.text);
  SCOPED_TRACE(text);
  target::CompiledKernel kernel(text);
  for (bool isCompiled : {false, true}) {
    std::vector<HostTensor> results = isCompiled ? kernel.run(inputs) : kernel.interpret(inputs);
    ASSERT_EQ(size_t(results[0].count()), wanted.size());
    double largest = 1;
    for (double value : wanted)
      largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(at(results[0], int64_t(i)), wanted[i], 2e-6 * largest)
          << (isCompiled ? "compiled, " : "interpreted, ") << "element " << i;
  }
}

/// Filters as they are given.
void checkGiven(const Case &c) {
  for (target::cpu::VectorUnit unit : {target::cpu::VectorUnit{16, 32}, {8, 16}})
    check(c, target::cpu::chooseConvolution(given(c.spec()), unit), false, true);
}

void checkChosen(const Case &c) {
  Convolution spec = c.spec();
  for (bool packs : {false, true})
    check(c, target::cpu::chooseConvolution(spec, {16, 32}, packs));
  check(c, target::cpu::chooseConvolution(spec, {8, 16}));
}

TEST(ConvolutionKernel, OneTwoAndThreeDimensions) {
  checkChosen({{{13, 3, 1, 1, 1}}, 2, 5, 7});
  checkChosen({{{9, 3, 1, 1, 1}, {11, 3, 1, 1, 1}}, 2, 5, 32});
  checkChosen({{{4, 2}, {5, 3, 1, 1, 1}, {6, 3, 1, 1, 1}}, 1, 3, 16});
}

TEST(ConvolutionKernel, StridesDilationPadding) {
  checkChosen({{{17, 5, 2, 3, 6}, {12, 3, 3, 1, 1}}, 1, 4, 19});
  checkChosen({{{8, 4, 4}, {8, 4, 4}}, 1, 3, 16});
  checkChosen({{{3, 5, 1, 1, 4}}, 1, 2, 3}); // more padding than elements
}

TEST(ConvolutionKernel, LongSumsAndLargeWindows) {
  checkChosen({{{3, 3, 1, 1, 1}, {3, 3, 1, 1, 1}}, 1, 300, 16});
  checkChosen({{{12, 11}, {12, 9}}, 1, 2, 5});
}

TEST(ConvolutionKernel, Groups) {
  checkChosen({{{6, 3, 1, 1, 1}, {7, 3, 1, 1, 1}}, 2, 12, 24, 4});
  checkChosen({{{9, 3, 2, 1, 1}}, 1, 4, 64, 2});
  checkChosen({{{6, 3, 1, 1, 1}, {7, 3, 1, 1, 1}}, 2, 37, 37, 37}); // depthwise
  checkChosen({{{6, 7, 1, 1, 3}, {9, 7, 1, 1, 3}}, 1, 16, 16, 16});
  checkChosen({{{5, 3, 1, 1, 1}, {5, 3, 1, 1, 1}}, 1, 6, 12, 6}); // two outputs a channel
}

TEST(ConvolutionKernel, Transposed) {
  checkChosen({{{5, 3, 1, 1, 1}, {6, 3, 1, 1, 1}}, 1, 4, 8, 1, true});
  checkChosen({{{5, 4, 2, 1, 1}, {6, 4, 2, 1, 1}}, 2, 4, 16, 1, true});
  checkChosen({{{4, 3, 2, 1, 1, 1}, {5, 3, 3, 1, 0, 2}}, 1, 4, 5, 1, true});
  checkChosen({{{4, 3, 2, 3, 2, 1}}, 1, 4, 6, 2, true}); // taps between elements
  checkChosen({{{4, 4, 4}, {3, 4, 4}}, 1, 8, 8, 8, true});
  checkChosen({{{1, 1, 2}, {1, 9, 2}}, 1, 1, 1, 1, true}); // strides longer than an axis
  checkChosen({{{1, 3, 2}, {1, 1, 2}, {1, 2, 5}}, 3, 3, 9, 3, true});
}

TEST(ConvolutionKernel, ChannelsFirst) {
  checkChosen({{{15, 7, 2, 1, 3}, {17, 7, 2, 1, 3}}, 2, 3, 32, 1, false, true});
  checkChosen({{{30, 20}}, 1, 4, 3, 1, false, true});
}

TEST(ConvolutionKernel, Dtypes) {
  std::vector<Dim> dims = {{6, 3, 1, 1, 1}, {7, 3, 1, 1, 1}};
  checkChosen({dims, 1, 5, 16, 1, false, false, kernel::f64, kernel::f64});
  checkChosen({dims, 1, 5, 16, 1, false, false, kernel::bf16, kernel::f32});
  checkChosen({dims, 1, 8, 8, 8, false, false, kernel::f16, kernel::f32});
  checkChosen({dims, 1, 5, 6, 1, false, false, kernel::i8, kernel::i64});
}

TEST(ConvolutionKernel, OtherConfigurations) {
  Case c{{{7, 3, 1, 1, 1}, {9, 3, 1, 1, 1}}, 2, 40, 32};
  ConvolutionConfiguration block{.width = 3, .height = 2, .isPacked = true};
  check(c, block);
  block.outputsOutermost = false;
  check(c, block);
  block = {.width = 9, .height = 7, .columns = 32, .isPacked = true, .inScratch = true};
  check(c, block);
  block.channelStep = 20;
  check(c, block);
}

TEST(ConvolutionKernel, FiltersAsTheyAreGiven) {
  checkGiven({{{9, 3, 2, 1, 1}, {11, 3, 2, 1, 1}}, 2, 64, 128}); // two blocks of channels
  checkGiven({{{7, 3, 1, 2, 2}, {6, 2, 1, 1, 1}}, 1, 5, 37});
  checkGiven({{{8, 1, 2}, {9, 1, 2}}, 1, 512, 64});
  checkGiven({{{300, 3, 1, 1, 1}}, 1, 32, 64}); // more places than a program has
}

TEST(ConvolutionKernel, Winograd) {
  ConvolutionConfiguration block{.width = 3, .height = 2, .columns = 64};
  check({{{7, 3, 1, 1, 1}, {9, 3, 1, 1, 1}}, 1, 12, 128}, block, true); // odd sizes
  block.outputsOutermost = false, block.channelStep = 4;
  check({{{12, 3, 1, 1, 0}, {8, 3, 1, 1, 2}}, 2, 12, 64}, block, true);
  check({{{12, 3, 1, 1, 0}, {8, 3, 1, 1, 2}}, 2, 20, 64}, block, true, true);
}

} // namespace
