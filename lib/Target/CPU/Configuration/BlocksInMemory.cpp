// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/BlocksInMemory.h"
#include "Target/CPU/Configuration/Memory.h"
#include "Target/CPU/Configuration/Workers.h"
#include <algorithm>

namespace tw::target::cpu {
using kernels::Access;
using kernels::Axis;
using kernels::ContractionRoles;
using kernels::rolesOf;

namespace {

// Blocks in scratch: where both operands are converted there, and where b is beside the products.
constexpr int64_t convertedRows = 96, convertedWidth = 128, unpackedWidth = 256;
// Rows that use a panel at once, its columns, terms of the sum in it. More rows are cut into parts
// of VectorUnit::panelRows; these are not, for each part reads the panel again.
constexpr int64_t mostPackedRows = 208, packedColumns = 64, packedDepth = 256;
// The same where rows of a are copied beside the products, too, or come from slow caches for each
// program: as many columns as possible meet them.
constexpr int64_t mostWideRows = 256, mostWideColumns = 256;
// Rows that leave room for a panel of b in the first-level cache, which then holds `shallowDepth`
// of its rows.
constexpr int64_t coolRows = 64, shallowDepth = 128;
constexpr int64_t leastStreamed = 128; // of the sum's length
// The same with 16 registers, whose panels have 16 columns: blocks of fewer terms are read before
// they would be prefetched, and sums go to memory and back too often.
constexpr int64_t leastStreamedNarrow = packedDepth;
// Products in tile registers: steps of the sum that are one instruction; rows that pass by a block
// of b, and steps of it (40 KB for 32 columns: rows of a pass by the first-level cache).
constexpr int64_t pairDepth = 32, mostPairRows = 256, mostPairDepth = 640;
// Terms of a sum that is made in registers where b is transposed by a kernel of its own, and rows
// for each of them, from which on that pays.
constexpr int64_t shortSum = 64, rowsPerTerm = 8;
// Rows of a up to which a transposed b is multiplied row by row (Plan/Products.cpp).
constexpr int64_t mostRowsOfDots = 8;

/// Whether an operand has to be converted, which wants a block that uses it often, in scratch; with
/// 32 registers it is done again and again, beside the products.
bool convertsFirst(const Contraction &contraction, const VectorUnit &unit) {
  auto isHalf = [&](const Access &access) {
    return contraction.buffers[access.buffer].dtype <= kernel::bf16;
  };
  return contraction.sum == kernel::f32 && unit.registers < 32 &&
         (isHalf(contraction.a) || isHalf(contraction.b));
}

/// Whether they are converted beside the products: a vector of b is two of f32 by one instruction
/// each (CPU/Dot/UnpackBf16.h).
bool convertsInProducts(const Contraction &contraction) {
  return isBf16Product(contraction) && rolesOf(contraction).sums.size() == 1;
}

/// A block in memory of which `block` is what registers have.
CPUContraction blockInMemory(const Contraction &contraction, const VectorUnit &unit,
                             const CPUContraction &block) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t columns = sizeOf(contraction, roles.columns);
  bool unpacks = convertsInProducts(contraction);
  const int64_t widest = unpacks ? unpackedWidth : convertedWidth;
  CPUContraction made = block;
  made.hasAccumulatorsInMemory = true;
  made.rows = convertedRows;
  for (int64_t width = widest; width > block.columns; width -= unit.lanes)
    if (columns % width == 0 || !block.isPacked) {
      made.columns = width;
      break;
    }
  // What is converted beside the products is best read from one end to the other.
  if (int64_t panel = 2 * unit.lanes; block.isPacked && unpacks)
    made.panels =
        made.columns % panel == 0 && columns % made.columns == 0 ? made.columns / panel : 1;
  if (roles.sums.size() == 1)
    made.kBlock = widest, made.splitsK = true;
  return made;
}

/// Whether an operand that the kernel does not read in pairs can be packed in pairs beside the
/// products (Plan/Products.cpp).
bool takesPairs(const Contraction &contraction, const VectorUnit &unit) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t depth = sizeOf(contraction, roles.sums);
  return unit.pairRows > 0 && isBf16Product(contraction) && roles.sums.size() == 1 &&
         depth % 2 == 0 && depth >= pairDepth &&
         sizeOf(contraction, roles.rows) >= leastPackedRows &&
         sizeOf(contraction, roles.columns) % packedColumns == 0;
}

/// Whether a, whose rows lie along K, is copied beside the products (Plan/Products.cpp).
bool copiesA(const Contraction &contraction, const VectorUnit &unit) {
  const Axis &last = contraction.a.axes.back();
  return unit.hasSlowThirdLevel && !isBf16Product(contraction) && last.dim >= 0 &&
         contraction.c.covers(last.dim);
}

/// Whether the next program finds nothing of its rows of a in the second-level cache.
bool readsAAnew(const Contraction &contraction, const VectorUnit &unit) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = std::min(sizeOf(contraction, roles.rows), mostWideRows);
  return unit.hasSlowThirdLevel && !isBf16Product(contraction) &&
         rows * sizeOf(contraction, roles.sums) * int64_t(sizeof(float)) >=
             crowdedBytes(unit.caches);
}

/// Whether b, which could not be packed beforehand, is to be packed beside the products, panel by
/// panel: where vectors of it do not lie in memory, or where its rows come by again when the caches
/// have forgotten them, or in pairs.
bool packsInProducts(const Contraction &contraction, const VectorUnit &unit) {
  ContractionRoles roles = rolesOf(contraction);
  if (roles.rows.empty() || roles.columns.empty() || roles.sums.size() != 1 ||
      sizeOf(contraction, roles.rows) <= mostRowsOfDots)
    return false;
  if (takesPairs(contraction, unit))
    return true;
  int64_t depth = sizeOf(contraction, roles.sums);
  int64_t shallow = unit.registers < 32          ? packedColumns
                    : copiesA(contraction, unit) ? packedDepth
                                                 : 2 * packedDepth;
  if (!isTransposed(contraction))
    return depth > shallow;
  // Sums of a few terms go to memory and back for little, and each part of the rows transposes b
  // again: where there are many, a kernel of its own does so once.
  bool isOnce = depth <= shortSum && sizeOf(contraction, roles.rows) >= rowsPerTerm * depth;
  return sizeOf(contraction, roles.columns) > 1 && !isOnce;
}

/// Whether panels of a packed b can pass by a block of sums in memory, and there are enough rows.
/// Processors with 16 registers have small second-level caches, which keep little of a weight.
bool canStreamPanels(const Contraction &contraction, const VectorUnit &unit) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t depth = sizeOf(contraction, roles.sums);
  bool isLarge =
      depth * sizeOf(contraction, roles.columns) * int64_t(sizeof(float)) > unit.caches.secondLevel;
  return !roles.rows.empty() && roles.sums.size() == 1 && !convertsInProducts(contraction) &&
         sizeOf(contraction, roles.rows) >= streamedRows &&
         (unit.registers >= 32 ? depth >= leastStreamed : depth >= leastStreamedNarrow && isLarge);
}

/// Whether panels of a packed b are to pass by a block of sums in memory, so that the next one is
/// prefetched meanwhile. Each weight of a model is read once a call, and the caches have forgotten
/// it.
bool streamsPanels(const Contraction &contraction, const VectorUnit &unit, int64_t parts) {
  ContractionRoles roles = rolesOf(contraction);
  if (!canStreamPanels(contraction, unit) || !contraction.dims[roles.rows.back()].size)
    return false;
  int64_t columns = sizeOf(contraction, roles.columns) / parts, width = columnsInMemory(unit);
  int64_t padded = (columns + width - 1) / width * width;
  // Equal parts come out even, and of others little is to be computed in vain.
  bool fits = parts > 1 ? padded == columns : 10 * padded <= 11 * columns;
  return fits;
}

/// Steps of a sum of `depth` that a block in memory makes at once: of equal length where there is
/// such a length, so that none is cut short at the call.
int64_t stepsAtOnce(int64_t depth, int64_t most) {
  for (int64_t steps = most; steps >= most / 2; steps -= 2)
    if (depth % steps == 0)
      return steps;
  return most;
}

/// Steps of a sum of pairs whose b stays in the first-level cache; 0 if there is no such number.
int64_t pairsAtOnce(int64_t depth) {
  if (depth <= mostPairDepth && depth % pairDepth == 0)
    return depth; // sums are read and written once
  for (int64_t steps = mostPairDepth; steps >= mostPairDepth / 4; steps -= pairDepth)
    if (depth % steps == 0)
      return steps;
  return 0;
}

/// Steps of a sum for which a block of b, whose rows lie along them, is transposed at once: the
/// copy then stays in the first-level cache, where both the transposition and the products find it.
/// They divide the sum and are whole squares of vectors, for parts of these take as long. 0 if
/// there is no such number.
int64_t transposedAtOnce(const Contraction &contraction, const VectorUnit &unit) {
  int64_t depth = sizeOf(contraction, rolesOf(contraction).sums);
  // CPUs with a slow third level were measured with longer parts alone.
  if (!isTransposed(contraction) || takesPairs(contraction, unit) || depth <= packedDepth ||
      unit.hasSlowThirdLevel)
    return 0;
  for (int64_t steps = shallowDepth; steps >= shallowDepth / 2; steps -= unit.lanes)
    if (depth % steps == 0)
      return steps;
  return 0;
}

/// Whole blocks of columns: the most, unless fewer keep workers more evenly busy beside `others`.
int64_t wideColumns(const Contraction &contraction, int64_t others) {
  int64_t columns = sizeOf(contraction, rolesOf(contraction).columns), best = packedColumns;
  for (int64_t width = 2 * packedColumns; width <= mostWideColumns; width += packedColumns)
    if (columns % width == 0 && (best == packedColumns || !isMoreEven(others * (columns / best),
                                                                      others * (columns / width))))
      best = width;
  return best;
}

/// Columns of a panel, `usual` ones: a vector less where these keep workers more evenly busy (12
/// panels of 64 are 16 of 48), with 32 registers at the same speed.
int64_t panelColumns(const Contraction &contraction, const VectorUnit &unit, int64_t usual,
                     int64_t others) {
  int64_t columns = sizeOf(contraction, rolesOf(contraction).columns);
  int64_t less = usual - unit.lanes;
  bool isMore = unit.registers >= 32 && columns % less == 0 &&
                isMoreEven(others * (columns / less), others * ((columns + usual - 1) / usual));
  return isMore ? less : usual;
}

/// Whether each row of a block of b, which is copied beside the products, begins on another page:
/// those that are prefetched are found by the processor page by page.
bool readsPages(const Contraction &contraction, const VectorUnit &unit) {
  return unit.hasSlowThirdLevel && !isTransposed(contraction) && !isBf16Product(contraction);
}

/// The most columns of which rows of b may be copied that keep workers evenly busy, so that fewer
/// programs come to a page; nothing if there are none.
std::optional<int64_t> pageColumns(const Contraction &contraction, int64_t others) {
  int64_t columns = sizeOf(contraction, rolesOf(contraction).columns);
  for (int64_t width = mostWideColumns; width > 2 * packedColumns; width -= packedColumns)
    if (columns % width == 0 && busyShare(others * (columns / width)) >= goodShare)
      return width;
  return std::nullopt;
}

/// All rows use a panel if they are few, else equal parts of them.
CPUContraction panelBlock(const Contraction &contraction, const VectorUnit &unit,
                          const CPUContraction &like) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = sizeOf(contraction, roles.rows), depth = sizeOf(contraction, roles.sums);
  CPUContraction made = like;
  made.hasAccumulatorsInMemory = true;
  // Whole tile registers have 16 rows, and the best blocks of them 32.
  bool copies = !made.isPacked && copiesA(contraction, unit);
  bool isTall = copies || (!made.isPacked && readsAAnew(contraction, unit));
  int64_t whole = 1;
  if (!made.isPacked && unit.pairRows >= pairRowsOfTiles && takesPairs(contraction, unit))
    whole = rows % 32 == 0 ? 32 : rows % 16 == 0 ? 16 : 1;
  int64_t most = isTall                                                 ? mostWideRows
                 : rows <= mostPackedRows || isBf16Product(contraction) ? mostPackedRows
                                                                        : unit.panelRows;
  auto programsOf = [&](int64_t mostRows) { return (rows + mostRows - 1) / mostRows; };
  std::optional<int64_t> paged;
  if (!made.isPacked && !copies && readsPages(contraction, unit))
    for (int64_t fewer : {most, std::min(most, unit.panelRows)})
      if (!paged && (paged = pageColumns(contraction, programsOf(fewer))))
        most = fewer;
  int64_t programs = programsOf(most), units = rows / whole;
  made.rows = (units + programs - 1) / programs * whole;
  int64_t usual = made.isPacked ? columnsInMemory(unit) : packedColumns;
  made.columns = copies                  ? wideColumns(contraction, programs)
                 : paged                 ? *paged
                 : made.columnParts == 1 ? panelColumns(contraction, unit, usual, programs)
                                         : usual;
  bool isCool = made.isPacked && made.rows <= coolRows && unit.registers >= 32;
  // What is read again for each part of the sum: all sums, and copies of a as large as they.
  int64_t atOnce = (copies ? 1 : made.isPacked && unit.hasSlowThirdLevel ? 3 : 2) * packedDepth;
  // Where b and a copy of a are read side by side, a panel of b stays in the first-level cache.
  int64_t steps = isCool || copies || paged ? shallowDepth : packedDepth;
  int64_t transposed = made.isPacked ? 0 : transposedAtOnce(contraction, unit);
  made.kBlock = transposed > 0             ? transposed
                : isCool || depth > atOnce ? stepsAtOnce(depth, steps)
                                           : 0;
  return made;
}

/// Whether several sums are to be made in blocks of all of them, which are copied beside the
/// products.
bool copiesBoxes(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  return roles.sums.size() > 1 && !roles.rows.empty() && !roles.columns.empty() &&
         contraction.dims[roles.sums.back()].size && contraction.dims[roles.rows.back()].size;
}

/// Terms of a block of several sums.
int64_t termsOf(const std::vector<int64_t> &blocks) {
  int64_t terms = 1;
  for (int64_t block : blocks)
    terms *= block;
  return terms;
}

/// Equal parts of the rows and of the columns: all of these that one program can have read both
/// operands once.
CPUContraction blockOfBoxes(const Contraction &contraction, const VectorUnit &unit,
                            const CPUContraction &like) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = sizeOf(contraction, roles.rows), columns = sizeOf(contraction, roles.columns);
  CPUContraction made = like;
  made.hasAccumulatorsInMemory = true;
  int64_t programs = (rows + mostWideRows - 1) / mostWideRows;
  made.rows = (rows + programs - 1) / programs;
  int64_t parts = (columns + mostWideColumns - 1) / mostWideColumns;
  int64_t vectors = (columns + parts * unit.lanes - 1) / (parts * unit.lanes);
  made.columns = columns % packedColumns == 0 ? wideColumns(contraction, programs)
                                              : std::min(columns, vectors * unit.lanes);
  made.kBlock = termsOf(kernels::sumBlocks(contraction, packedDepth));
  return made;
}

/// Whether rows of pairs can pass by a block of b in the first-level cache: there are more of them
/// than tile registers hold, in whole tiles.
bool canStreamPairs(const Contraction &contraction, const VectorUnit &unit) {
  ContractionRoles roles = rolesOf(contraction);
  if (unit.pairRows < pairRowsOfTiles || roles.rows.empty() || roles.sums.size() != 1)
    return false;
  int64_t rows = sizeOf(contraction, roles.rows);
  return rows > unit.pairRows && rows % unit.pairRows == 0 &&
         pairsAtOnce(sizeOf(contraction, roles.sums)) > 0;
}

/// Whether they do: as many of them as are known.
bool streamsPairs(const Contraction &contraction, const VectorUnit &unit) {
  return canStreamPairs(contraction, unit) &&
         contraction.dims[rolesOf(contraction).rows.back()].size;
}

/// Equal parts of the rows, of whole tiles.
CPUContraction pairsInMemory(const Contraction &contraction, const VectorUnit &unit,
                             const CPUContraction &like) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t tiles = sizeOf(contraction, roles.rows) / unit.pairRows;
  int64_t programs = (tiles * unit.pairRows + mostPairRows - 1) / mostPairRows;
  int64_t depth = sizeOf(contraction, roles.sums), steps = pairsAtOnce(depth);
  CPUContraction made = like;
  made.hasAccumulatorsInMemory = true;
  made.rows = (tiles + programs - 1) / programs * unit.pairRows;
  made.kBlock = steps < depth ? steps : 0;
  return made;
}

} // namespace

int64_t sizeOf(const Contraction &contraction, const std::vector<int> &dims) {
  if (dims.empty())
    return 1;
  const kernels::Extent &extent = contraction.dims[dims.back()];
  return extent.size.value_or(extent.most.value_or(unknownExtent));
}

bool isTransposed(const Contraction &contraction) {
  const Axis &last = contraction.b.axes.back();
  return last.dim >= 0 && !contraction.c.covers(last.dim);
}

bool isForgotten(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  return roles.batch.empty() && sizeOf(contraction, roles.columns) *
                                        sizeOf(contraction, roles.sums) * int64_t(sizeof(float)) >
                                    forgottenBytes;
}

std::optional<CPUContraction> variantInMemory(const Contraction &contraction,
                                              const VectorUnit &unit,
                                              const CPUContraction &inRegisters) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = sizeOf(contraction, roles.rows);
  if (!inRegisters.isPacked && inRegisters.columnParts == 1 && packsInProducts(contraction, unit))
    return panelBlock(contraction, unit, inRegisters);
  if (inRegisters.isInterleaved() && inRegisters.isPacked && isForgotten(contraction) &&
      canStreamPairs(contraction, unit) && roles.rows.size() == 1)
    return pairsInMemory(contraction, unit, inRegisters);
  // Two products of a row and a vector of b in a cycle take no longer than reading that.
  int64_t vectorBytes = unit.lanes * int64_t(sizeof(float));
  if (!inRegisters.isPacked || inRegisters.isInterleaved() || !isForgotten(contraction) ||
      unit.registers < 32 || !canStreamPanels(contraction, unit) || roles.rows.size() != 1 ||
      rows * memoryRate > 2 * vectorBytes)
    return std::nullopt;
  CPUContraction made = inRegisters;
  made.hasAccumulatorsInMemory = true;
  made.rows = rows;
  made.kBlock = stepsAtOnce(sizeOf(contraction, roles.sums), shallowDepth);
  return made;
}

std::optional<CPUContraction> chooseInMemory(const Contraction &contraction, const VectorUnit &unit,
                                             const CPUContraction &inRegisters) {
  if (inRegisters.isInterleaved())
    return streamsPairs(contraction, unit)
               ? std::optional(pairsInMemory(contraction, unit, inRegisters))
               : std::nullopt;
  bool isWhole = inRegisters.columnParts == 1;
  if (isWhole && !inRegisters.isPacked && copiesBoxes(contraction))
    return blockOfBoxes(contraction, unit, inRegisters);
  if (isWhole && convertsFirst(contraction, unit) &&
      sizeOf(contraction, rolesOf(contraction).rows) >= convertedRows)
    return blockInMemory(contraction, unit, inRegisters);
  bool pays = inRegisters.isPacked ? streamsPanels(contraction, unit, inRegisters.columnParts)
                                   : isWhole && packsInProducts(contraction, unit);
  return pays ? std::optional(panelBlock(contraction, unit, inRegisters)) : std::nullopt;
}

} // namespace tw::target::cpu
