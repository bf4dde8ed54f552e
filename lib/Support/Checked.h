// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic for sizes, offsets and strides that come from files. Empty means overflow.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace tw {

inline std::optional<int64_t> checkedAdd(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}

inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}

/// The product of `sizes`; empty when one is negative or the product does not fit 63 bits.
inline std::optional<int64_t> checkedProduct(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 0)
      return std::nullopt;
    auto next = checkedMul(product, size);
    if (!next)
      return std::nullopt;
    product = *next;
  }
  return product;
}

} // namespace tw
