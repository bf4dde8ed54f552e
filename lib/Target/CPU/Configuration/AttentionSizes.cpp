// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/AttentionSizes.h"
#include "Target/CPU/Configuration/BlocksInMemory.h"
#include <algorithm>

namespace tw::target::cpu {

constexpr int64_t registerVectors = 4; // of a product whose sums lie in memory, side by side
// Cycles of a step along K for each row and vector, where vectors are side by side; of a vector
// alone.
constexpr double besideOthers = 0.54, alone = 0.7;

// Tile registers: rows of a and columns of b, and steps of the sum; products in a cycle, and what
// loads and stores of sums add.
constexpr int64_t tileRows = 16, tileDepth = 32;
constexpr double tileProducts = 512, tileOverhead = 1.3;
// Of a product of f32 that one in pairs takes, and cycles that packing one element does.
constexpr double shareOfPairs = 0.55, packingCycles = 0.2;

static bool areBf16(const kernels::AttentionInputs &spec) {
  auto accesses = {&spec.query, &spec.key, &spec.value};
  return std::all_of(accesses.begin(), accesses.end(), [&](const kernels::Access *access) {
    return spec.buffers[access->buffer].dtype == kernel::bf16;
  });
}

/// Of a variant for few queries it is known that there are no more.
static bool isKnown(const kernels::Extent &extent) { return extent.size || extent.most; }

AttentionSizes::AttentionSizes(const kernels::AttentionInputs &spec, const VectorUnit &unit)
    : queries(sizeOf(spec, spec.queries)), keys(sizeOf(spec, spec.keys)),
      depth(sizeOf(spec, spec.depth)), width(sizeOf(spec, spec.width)), lanes(unit.lanes),
      bytes(spec.sum == kernel::f64 ? 8 : 4), isCausal(spec.isCausal),
      areQueriesKnown(isKnown(spec.dims[spec.queries])),
      areKeysKnown(isKnown(spec.dims[spec.keys])),
      hasPairs(unit.pairRows > 0 && spec.sum == kernel::f32 && areBf16(spec)),
      hasTiles(hasPairs && unit.pairRows >= pairRowsOfTiles) {}

int64_t AttentionSizes::sizeOf(const kernels::AttentionInputs &spec, int dim) {
  const kernels::Extent &extent = spec.dims[dim];
  return extent.size.value_or(extent.most.value_or(unknownExtent));
}

bool AttentionSizes::isInPairs(int64_t rows, int64_t columns, int64_t length) const {
  return hasPairs && rows >= leastPackedRows && columns % tileRows == 0 && length % 2 == 0 &&
         length >= tileDepth;
}

/// Blocks of six rows and four vectors, then one of the vectors left over.
double AttentionSizes::productCycles(int64_t rows, int64_t columns, int64_t length) const {
  int64_t vectors = ceilDiv(columns, lanes), rest = vectors % registerVectors;
  bool isBeside = rest > 1 && columns % lanes == 0;
  double step =
      besideOthers * double(vectors - rest) + (isBeside ? besideOthers : alone) * double(rest);
  double products = double(rows * length) * step;
  if (!isInPairs(rows, columns, length))
    return products;
  bool isInTiles = hasTiles && rows % tileRows == 0 && length % tileDepth == 0;
  return packingCycles * double(columns * length) +
         (isInTiles ? tileOverhead * double(rows * columns * length) / tileProducts
                    : shareOfPairs * products);
}

} // namespace tw::target::cpu
