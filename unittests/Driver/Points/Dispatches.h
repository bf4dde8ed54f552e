// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches of each kind of kernel, as text of the dispatch level.
#pragma once
#include <cstdint>
#include <string>

namespace tw {

/// In place of a size: one that only calls tell. Where it stands twice, both are the same.
constexpr int64_t anySize = -1, otherSize = -2;

/// x [rows, sum] times w [sum, columns], which may be a weight; sums are f32.
struct ProductCase {
  int64_t rows, columns, sum;
  const char *dtype = "f32";
  bool isWeight = true;
};
std::string text(const ProductCase &product);

/// size x size places with channels last; windows of 3 x 3 weights, padded. As many groups as
/// channels make it depthwise.
struct ConvolutionCase {
  int64_t size, channels, outputs, groups = 1;
};
std::string text(const ConvolutionCase &convolution);

/// heads of queries and keys of so many elements.
struct AttentionCase {
  int64_t heads, queries, keys, depth;
  const char *dtype = "f32";
};
std::string attentionText(const AttentionCase &attention);
/// The gradients with respect to queries, keys and values.
std::string attentionGradientText(const AttentionCase &attention);

/// Programs of loops: x [rows, columns] transposed; the sum of each row; two tensors side by side.
std::string transposeText(int64_t rows, int64_t columns);
std::string rowSumText(int64_t rows, int64_t columns);
std::string concatenationText(int64_t rows, int64_t left, int64_t right);

} // namespace tw
