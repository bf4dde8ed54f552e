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
  source.sizes = sizes, source.strides = strides;
}

/// A few elements that always follow each other are one: pairs of bf16 are copied as u32.
static void widen(StridedSource &source) {
  if (source.sizes.empty() || source.strides.back() != 1)
    return;
  int64_t together = source.sizes.back(), bytes = together * source.elementBytes;
  auto isMultiple = [&](int64_t number) { return number % together == 0; };
  if ((bytes != 2 && bytes != 4 && bytes != 8) || !isMultiple(source.end) ||
      !std::all_of(source.strides.begin(), source.strides.end() - 1, isMultiple))
    return;
  source.sizes.pop_back();
  source.strides.pop_back();
  for (int64_t &stride : source.strides)
    stride /= together;
  source.end /= together;
  source.elementBytes = bytes;
}

/// Through tiles that fit into registers and a few cache lines: a transposition reads along one
/// dimension and writes along the other.
template <typename T>
static void copyInTiles(const std::byte *from, int64_t rows, int64_t columns, int64_t rowStride,
                        int64_t columnStride, std::byte *to) {
  constexpr int64_t tile = 16;
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
        std::memcpy(to + ((r + i) * columns + c) * sizeof(T), block[i].data(), width * sizeof(T));
    }
}

DenseView::DenseView(StridedSource given) : source(std::move(given)) {
  collapse(source);
  widen(source);
  while (source.sizes.size() < 2) {
    source.sizes.insert(source.sizes.begin(), 1);
    source.strides.insert(source.strides.begin(), 0);
  }
  rows = source.sizes.end()[-2], columns = source.sizes.back();
  rowStride = source.strides.end()[-2], columnStride = source.strides.back();
}

void DenseView::copy(int64_t begin, int64_t count, std::byte *to) const {
  int64_t each = source.elementBytes;
  // A part of an element, at the start and at the end.
  auto copyPart = [&](int64_t from, int64_t bytes) {
    std::array<std::byte, 8> element;
    copyElements(from / each, 1, element.data());
    std::memcpy(to, element.data() + from % each, static_cast<size_t>(bytes));
    begin += bytes, count -= bytes, to += bytes;
  };
  if (count > 0 && begin % each != 0)
    copyPart(begin, std::min(count, each - begin % each));
  int64_t whole = count / each;
  copyElements(begin / each, whole, to);
  begin += whole * each, count -= whole * each, to += whole * each;
  if (count > 0)
    copyPart(begin, count);
}

void DenseView::copyElements(int64_t begin, int64_t count, std::byte *to) const {
  while (count > 0) {
    int64_t column = begin % columns, row = begin / columns % rows;
    // Whole rows, or what there is of one.
    bool isWhole = column == 0 && count >= columns;
    int64_t height = isWhole ? std::min(count / columns, rows - row) : 1;
    int64_t width = isWhole ? columns : std::min(count, columns - column);
    int64_t element = row * rowStride + column * columnStride, outer = begin / columns / rows;
    for (size_t d = source.sizes.size() - 2; d-- > 0; outer /= source.sizes[d])
      element += outer % source.sizes[d] * source.strides[d];
    copyRows(element, height, width, to);
    begin += height * width, count -= height * width;
    to += height * width * source.elementBytes;
  }
}

void DenseView::copyRows(int64_t element, int64_t height, int64_t width, std::byte *to) const {
  int64_t each = source.elementBytes;
  const std::byte *from = source.first + element * each;
  if (element + (height - 1) * rowStride + (width - 1) * columnStride >= source.end) {
    // The last elements lie behind the end of memory.
    for (int64_t r = 0; r < height; ++r)
      for (int64_t c = 0; c < width; ++c, to += each) {
        int64_t at = r * rowStride + c * columnStride;
        if (element + at < source.end)
          std::memcpy(to, from + at * each, static_cast<size_t>(each));
        else
          std::memset(to, 0, static_cast<size_t>(each));
      }
    return;
  }
  if (columnStride == 1) {
    for (int64_t r = 0; r < height; ++r)
      std::memcpy(to + r * width * each, from + r * rowStride * each,
                  static_cast<size_t>(width * each));
    return;
  }
  auto copyThem = each == 1   ? copyInTiles<uint8_t>
                  : each == 2 ? copyInTiles<uint16_t>
                  : each == 4 ? copyInTiles<uint32_t>
                              : copyInTiles<uint64_t>;
  copyThem(from, height, width, rowStride, columnStride, to);
}

} // namespace tw
