// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Layout/SharedTile.h"
#include <cassert>

namespace tw::target::nvidia {

static constexpr int64_t pieceBytes = 16, rowBits = 7; // a swizzle reads the address from 2^7 on
/// A swizzled chunk begins where its pattern does.
static constexpr int64_t patternBytes = 1024;

int64_t Swizzle::apply(int64_t byteAddress) const {
  int64_t pieces = rowBytes / pieceBytes;
  return byteAddress ^ (((byteAddress >> rowBits) & (pieces - 1)) * pieceBytes);
}

SharedTile::SharedTile(int64_t rows, int64_t columns, int64_t elementBytes, int64_t mostRowBytes)
    : rows(rows), elementBytes(elementBytes) {
  assert(columns * elementBytes % pieceBytes == 0);
  int64_t offset = 0;
  for (int64_t first = 0; first < columns;) {
    int64_t rowBytes = mostRowBytes;
    while (rowBytes > (columns - first) * elementBytes)
      rowBytes /= 2;
    int64_t own = rowBytes / elementBytes;
    all.push_back({first, own, offset, {rowBytes}});
    first += own;
    int64_t bytes = rows * rowBytes;
    offset += (bytes + patternBytes - 1) / patternBytes * patternBytes;
  }
}

int64_t SharedTile::bytes() const {
  const Chunk &last = all.back();
  return last.byteOffset + rows * last.columns * elementBytes;
}

int64_t SharedTile::addressOf(int64_t row, int64_t column) const {
  const Chunk *chunk = &all.front();
  for (const Chunk &each : all)
    if (each.firstColumn <= column)
      chunk = &each;
  int64_t inChunk = (row * chunk->columns + column - chunk->firstColumn) * elementBytes;
  return chunk->byteOffset + chunk->swizzle.apply(inChunk);
}

} // namespace tw::target::nvidia
