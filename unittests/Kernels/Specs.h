// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions and convolutions to try templates and cost models with.
#pragma once
#include "Kernels/Attention.h"
#include "Kernels/Contraction.h"
#include "Kernels/Winograd.h"
#include "Language/Trace.h"

namespace tw::kernels {

/// [m, k] x [k, n] -> [m, n], or b as [n, k].
inline Contraction product(int64_t m, int64_t n, int64_t k, bool isTransposed = false) {
  Contraction spec;
  spec.dims = {{m}, {n}, {k}};
  spec.buffers = {{"a", kernel::f32, {{m}, {k}}},
                  {"b", kernel::f32,
                   isTransposed ? std::vector<Extent>{{n}, {k}} : std::vector<Extent>{{k}, {n}}},
                  {"c", kernel::f32, {{m}, {n}}, true}};
  spec.a = {0, {{0}, {2}}};
  spec.b = {1, isTransposed ? std::vector<Axis>{{1}, {2}} : std::vector<Axis>{{2}, {1}}};
  spec.c = {2, {{0}, {1}}};
  return spec;
}

/// A square image of `size`, a window of `window` with "same" padding; channels of a group.
inline Convolution image(int64_t channels, int64_t outputs, int64_t size, int64_t window,
                         int64_t stride = 1, int64_t groups = 1) {
  Convolution spec;
  spec.batch = {1};
  int64_t padding = window / 2, out = (size + 2 * padding - window) / stride + 1;
  for (int d = 0; d < 2; ++d)
    spec.spatial.push_back({{size}, {out}, {window}, stride, 1, padding});
  spec.channels = {channels}, spec.outputs = {outputs}, spec.groups = groups;
  spec.buffers = {{"x", kernel::f32, {{1}, {size}, {size}, {channels * groups}}},
                  {"w", kernel::f32, {{window}, {window}, {channels}, {outputs * groups}}},
                  {"y", kernel::f32, {}, true}};
  for (int64_t extent : {out, out, outputs * groups})
    if (extent != 1)
      spec.buffers[2].shape.push_back({extent});
  return spec;
}

/// The same with filters as they are given: [outputs, channels * window * window].
inline Convolution given(Convolution spec) {
  int64_t terms = *spec.channels.size;
  for (const ConvolutionAxis &axis : spec.spatial)
    terms *= *axis.window.size;
  spec.buffers[spec.w].shape = {spec.outputs, {terms}};
  spec.isOutputsFirst = true;
  return spec;
}

/// The text of what a template writes, or what it says instead.
template <typename Write>
std::string tracedBy(Write write) {
  auto result = kernel::trace("k", write);
  return result.error ? "error: " + result.error->message : result.text;
}
inline std::string traced(const Contraction &spec, const ContractionConfiguration &configuration) {
  return tracedBy([&] { writeContraction(spec, configuration); });
}
inline std::string traced(const Convolution &spec, const ConvolutionConfiguration &configuration) {
  return tracedBy([&] { writeConvolution(spec, configuration); });
}

} // namespace tw::kernels
