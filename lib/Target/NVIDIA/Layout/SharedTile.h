// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a tile lie in shared memory, as TMA writes and wgmma reads them: in chunks
// of columns whose rows are 128, 64 or 32 bytes, of which pieces of 16 bytes change places
// (swizzle), so that a column is spread over all banks.
#pragma once
#include <cstdint>
#include <vector>

namespace tw::target::nvidia {

/// Within 8 rows of `rowBytes` bytes, piece p of row r lies where piece p xor (r mod its bits)
/// would. PTX ISA, "Swizzling Modes".
struct Swizzle {
  int64_t rowBytes; // 128, 64, 32; 16: nothing changes places

  bool changesPlaces() const { return rowBytes > 16; }
  /// Its own inverse.
  int64_t apply(int64_t byteAddress) const;
};

/// Columns of a tile that lie together, row after row.
struct Chunk {
  int64_t firstColumn, columns, byteOffset;
  Swizzle swizzle;
};

class SharedTile {
public:
  /// Chunks as wide as possible, with rows of up to `mostRowBytes`, a power of two; columns x
  /// elementBytes is a multiple of 16.
  SharedTile(int64_t rows, int64_t columns, int64_t elementBytes, int64_t mostRowBytes = 128);

  int64_t bytes() const;
  const std::vector<Chunk> &chunks() const { return all; }
  int64_t addressOf(int64_t row, int64_t column) const;

private:
  int64_t rows, elementBytes;
  std::vector<Chunk> all;
};

} // namespace tw::target::nvidia
