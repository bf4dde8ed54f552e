// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/StridedCopy.h"
#include <algorithm>
#include <array>
#include <cstring>

namespace tw {

/// Merges dimensions that one stride steps through, so that rows and columns get long.
static void collapse(StridedSource &source) {
  std::vector<int64_t> sizes, strides;
  for (size_t d = 0; d < source.sizes.size(); ++d) {
    if (source.sizes[d] == 1)
      continue;
    if (!sizes.empty() && strides.back() == source.strides[d] * source.sizes[d]) {
      sizes.back() *= source.sizes[d];
      strides.back() = source.strides[d];
    } else {
      sizes.push_back(source.sizes[d]);
      strides.push_back(source.strides[d]);
    }
  }
  while (sizes.size() < 2) {
    sizes.insert(sizes.begin(), 1);
    strides.insert(strides.begin(), 0);
  }
  source.sizes = sizes, source.strides = strides;
}

/// A block of rows, through tiles that fit into registers and a few cache lines: a transposition
/// reads along one dimension and writes along the other.
template <typename T>
static void copyRows(const std::byte *from, int64_t rows, int64_t columns, int64_t rowStride,
                     int64_t columnStride, std::byte *to) {
  constexpr int64_t tile = 16;
  T *target = reinterpret_cast<T *>(to);
  std::array<std::array<T, tile>, tile> block;
  for (int64_t r = 0; r < rows; r += tile)
    for (int64_t c = 0; c < columns; c += tile) {
      int64_t height = std::min(tile, rows - r), width = std::min(tile, columns - c);
      const std::byte *corner = from + (r * rowStride + c * columnStride) * sizeof(T);
      for (int64_t j = 0; j < width; ++j)
        for (int64_t i = 0; i < height; ++i) // files align nothing
          std::memcpy(&block[i][j], corner + (i * rowStride + j * columnStride) * sizeof(T),
                      sizeof(T));
      for (int64_t i = 0; i < height; ++i)
        std::copy_n(block[i].data(), width, target + (r + i) * columns + c);
    }
}

/// The same, of which the last elements lie behind the `end` of memory and are zero.
static void copyRowsUpTo(int64_t end, const StridedSource &source, int64_t element, int64_t rows,
                         std::byte *to) {
  size_t inner = source.sizes.size() - 1;
  auto bytes = static_cast<size_t>(source.elementBytes);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < source.sizes[inner]; ++c, to += bytes) {
      int64_t at = element + r * source.strides[inner - 1] + c * source.strides[inner];
      if (at < end)
        std::memcpy(to, source.first + at * source.elementBytes, bytes);
      else
        std::memset(to, 0, bytes);
    }
}

bool forEachDensePiece(StridedSource source, int64_t pieceBytes,
                       const std::function<bool(const std::byte *, int64_t)> &take) {
  collapse(source);
  for (int64_t size : source.sizes)
    if (size == 0)
      return true;
  size_t outer = source.sizes.size() - 2;
  int64_t rows = source.sizes[outer], columns = source.sizes[outer + 1];
  int64_t rowStride = source.strides[outer], columnStride = source.strides[outer + 1];
  int64_t rowBytes = columns * source.elementBytes;
  int64_t together = std::clamp<int64_t>(pieceBytes / rowBytes, 1, rows);
  auto copy = source.elementBytes == 1   ? copyRows<uint8_t>
              : source.elementBytes == 2 ? copyRows<uint16_t>
              : source.elementBytes == 4 ? copyRows<uint32_t>
                                         : copyRows<uint64_t>;
  std::vector<std::byte> piece(static_cast<size_t>(together * rowBytes));
  std::vector<int64_t> position(outer, 0);
  while (true) {
    int64_t element = 0;
    for (size_t d = 0; d < outer; ++d)
      element += position[d] * source.strides[d];
    for (int64_t r = 0; r < rows; r += together) {
      int64_t count = std::min(together, rows - r), corner = element + r * rowStride;
      if (corner + (count - 1) * rowStride + (columns - 1) * columnStride < source.end)
        copy(source.first + corner * source.elementBytes, count, columns, rowStride, columnStride,
             piece.data());
      else
        copyRowsUpTo(source.end, source, corner, count, piece.data());
      if (!take(piece.data(), count * rowBytes))
        return false;
    }
    size_t d = outer;
    while (d > 0 && ++position[d - 1] == source.sizes[d - 1])
      position[--d] = 0;
    if (d == 0)
      return true;
  }
}

} // namespace tw
