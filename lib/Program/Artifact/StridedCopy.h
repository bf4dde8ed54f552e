// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a strided tensor (a transposed weight, a slice) row after row into dense memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Gives all elements in row-major order to `take`, in dense pieces of about `pieceBytes` (at least
/// one row). Ends early, with false, when `take` returns false.
bool forEachDensePiece(StridedSource source, int64_t pieceBytes,
                       const std::function<bool(const std::byte *bytes, int64_t count)> &take);

} // namespace tw
