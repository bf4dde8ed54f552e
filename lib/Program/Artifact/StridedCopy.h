// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a strided tensor (a transposed weight, a slice, panels of a packed weight) row after row
// into dense memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw {

/// A tensor in memory: element (i, j, ...) at `strides[0] * i + strides[1] * j + ...` from `first`,
/// counted in elements of `elementBytes` (1, 2, 4 or 8) bytes. Strides may be 0. Memory ends `end`
/// elements behind `first`: what would lie there is zero.
struct StridedSource {
  const std::byte *first;
  std::vector<int64_t> sizes, strides;
  int64_t elementBytes;
  int64_t end;
};

/// The elements in row-major order.
class DenseView {
public:
  explicit DenseView(StridedSource source);
  /// Copies `count` bytes from byte `begin` on; several threads can do that at the same time.
  void copy(int64_t begin, int64_t count, std::byte *to) const;

private:
  void copyElements(int64_t begin, int64_t count, std::byte *to) const;
  /// Of one row or more, of `columns` elements from the one at `element` on.
  void copyRows(int64_t element, int64_t rows, int64_t columns, std::byte *to) const;

  StridedSource source;
  int64_t rows, columns, rowStride, columnStride; // the last two dimensions
};

} // namespace tw
