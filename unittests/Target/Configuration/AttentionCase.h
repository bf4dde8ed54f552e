// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small attention, and its scores in double precision, for tests of the templates of attention
// and of its gradients.
#pragma once
#include "Kernels/AttentionInputs.h"
#include "unittests/Target/Templates/TemplateKernels.h"
#include <cmath>

namespace tw {

enum class Mask { None, Seen, Added };

/// query [b, g, l, e], key [b, s, e], value [b, s, f], mask [l, s] or [b, s].
struct AttentionCase {
  int64_t b = 1, g = 1, l = 1, s = 1, e = 1, f = 1;
  bool isCausal = false, hasSums = false;
  Mask mask = Mask::None;
  bool isMaskOfKeys = false;
  kernel::DType dtype = kernel::f32;
  std::string unknown = {}; // which of L and S are symbols

  kernels::Extent extent(char name, int64_t size) const {
    bool isSymbol = unknown.find(name) != std::string::npos;
    return isSymbol ? kernels::Extent{std::nullopt, std::string(1, name)} : kernels::Extent{size};
  }
  kernel::DType sum() const { return dtype == kernel::f64 ? kernel::f64 : kernel::f32; }
  double scale() const { return 1 / std::sqrt(double(e)); }

  /// A buffer along some of the dimensions b, g, l, s, e, f, by their numbers.
  static kernels::Access add(kernels::AttentionInputs &spec, const char *name, kernel::DType type,
                             const std::vector<int> &dims, bool isOutput = false) {
    kernels::Access access{int(spec.buffers.size()), {}};
    kernels::BufferSpec buffer{name, type, {}, isOutput};
    for (int dim : dims)
      access.axes.push_back({dim}), buffer.shape.push_back(spec.dims[dim]);
    spec.buffers.push_back(buffer);
    return access;
  }

  void describeInputs(kernels::AttentionInputs &spec) const {
    spec.dims = {{b}, {g}, extent('L', l), extent('S', s), {e}, {f}};
    spec.queries = 2, spec.keys = 3, spec.depth = 4, spec.width = 5;
    spec.scale = scale(), spec.isCausal = isCausal;
    spec.sum = sum();
    spec.query = add(spec, "q", dtype, {0, 1, 2, 4});
    spec.key = add(spec, "k", dtype, {0, 3, 4});
    spec.value = add(spec, "v", dtype, {0, 3, 5});
    if (mask != Mask::None)
      spec.mask =
          add(spec, "m", mask == Mask::Seen ? kernel::i1 : kernel::f32, {isMaskOfKeys ? 0 : 2, 3});
  }

  /// The scores of one query; -infinity where it may not see a key.
  std::vector<double> scores(const std::vector<std::vector<double>> &in, int64_t batch,
                             int64_t group, int64_t query) const {
    std::vector<double> scores(size_t(s), -INFINITY);
    for (int64_t key = 0; key < s; ++key) {
      double dot = 0, added = 1;
      for (int64_t i = 0; i < e; ++i)
        dot += in[0][size_t(((batch * g + group) * l + query) * e + i)] *
               in[1][size_t((batch * s + key) * e + i)];
      if (mask != Mask::None)
        added = in[3][size_t((isMaskOfKeys ? batch : query) * s + key)];
      if ((mask == Mask::Seen && added == 0) || (isCausal && key > query))
        continue;
      scores[size_t(key)] = dot * scale() + (mask == Mask::Added ? added : 0);
    }
    return scores;
  }
};

/// The log of the sum of the exponentials of scores; -infinity where all are.
inline double logSumExp(const std::vector<double> &scores) {
  double most = -INFINITY, total = 0;
  for (double score : scores)
    most = std::max(most, score);
  if (most == -INFINITY)
    return most;
  for (double score : scores)
    total += std::exp(score - most);
  return most + std::log(total);
}

} // namespace tw
