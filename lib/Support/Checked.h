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

inline std::optional<int64_t> checkedSub(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}

inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}

/// a / b rounded down; empty also when b is 0.
inline std::optional<int64_t> checkedFloorDiv(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN))
    return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0)); // / rounds toward 0
}

/// What rounding down leaves, which has b's sign, as in Python; empty when b is 0.
inline std::optional<int64_t> checkedMod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) // INT64_MIN % -1 traps
    return b == 0 ? std::nullopt : std::optional<int64_t>(0);
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// How often a loop from `begin` to before `end` runs: max(0, ceildiv(end - begin, step)); never
/// where `step` is 0, downward where it is negative.
inline uint64_t tripCount(int64_t begin, int64_t end, int64_t step) {
  __int128 distance = __int128(end) - begin, by = step;
  if (by < 0)
    distance = -distance, by = -by;
  return by == 0 || distance <= 0 ? 0 : uint64_t((distance + by - 1) / by);
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
