// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/LoopCost.h"
#include "GraphToTile/Analysis/Subkernels/LoopProperties.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "Target/CPU/Configuration/Workers.h"
#include <algorithm>

namespace tw::target::cpu {
using namespace conversion;

namespace {

constexpr int64_t programElements = 1024;   // of an elementwise program: stays in registers and L1
constexpr int64_t copiedElements = 1 << 13; // side by side
constexpr int64_t transposedBlock = 16;
constexpr int64_t columnBlock = 64;
constexpr int64_t updatedBlock =
    1024; // of a tensor that is copied first: pieces of rows take longer
constexpr int64_t workerElements = 1 << 14; // worth handing to another thread
constexpr int64_t unknownExtent = 256;
constexpr int64_t lookedUp = 4;    // elements that take as long as one of a body with a loop
constexpr int64_t fewPrograms = 5; // fewer are so few that computing a row several times pays
constexpr int64_t longElements = 1 << 17; // of a program: some 30 us
constexpr int64_t chunkElements = 1 << 10, leastUnknownChunk = 64;

int64_t roundUp(int64_t number, int64_t to) { return (number + to - 1) / to * to; }

/// Columns of a program that has all rows of them.
int64_t columnBlockOf(const LoopProgram &program) {
  return hasUpdates(program) ? updatedBlock : columnBlock;
}

/// How many elements take as long as all that is computed for one: bodies with loops, such as bags
/// of rows of a table, go wherever their indices say, and each result is written. Parts of one that
/// lie side by side have elements of their own.
int64_t weightOf(const LoopProgram &program) {
  int64_t loops = std::count_if(program.statements.begin(), program.statements.end(),
                                [](const Statement &s) { return !s.carriedDims.empty(); });
  int64_t stores = 0;
  if (partDims(program).empty())
    forEachAccess(program, [&](const Access &, bool isStore) { stores += isStore; });
  return std::max<int64_t>({1, loops * lookedUp, stores});
}

/// The dimension along the axis before the last one, which goes along all of `inner`; -1: none.
int neighbour(const Access &access) {
  return access.axes.size() < 2 ? -1 : access.axes[access.axes.size() - 2].dim;
}

int innermost(const Access &access) { return access.axes.empty() ? -1 : access.axes.back().dim; }

/// The blocks of a program, and how many programs a worker runs in a row.
class BlockChooser {
public:
  explicit BlockChooser(const LoopProgram &program)
      : program(program), parallel(parallelDims(program)), folded(foldedDims(program)),
        parts(partDims(program)), last(int(program.dims.size()) - 1) {
    while (last > 0 && folded[last])
      --last;
  }

  LoopConfiguration run() {
    begin();
    if (last >= 0 && parallel[last])
      growInnermost();
    growOuter();
    shareParts();
    dealPrograms();
    return std::move(chosen);
  }

private:
  static bool has(const std::vector<int> &dims, int dim) {
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
  }

  /// One element of each parallel dimension; a program has all parts, and all of the others.
  void begin() {
    chosen.tilings.resize(program.dims.size());
    int64_t inParts = 0;
    for (int dim : parts)
      inParts += *program.dims[dim].size;
    elements = std::max<int64_t>(inParts, 1);
    for (int dim = 0; dim < int(parallel.size()); ++dim)
      if (parallel[dim])
        chosen.tilings[dim].block = 1;
      else if (!folded[dim] && !has(parts, dim))
        elements *= program.dims[dim].size.value_or(unknownExtent);
  }

  void grow(int dim, int64_t most, bool isEven = true) {
    if (has(program.unitDims, dim))
      return;
    int64_t size = program.dims[dim].size.value_or(most);
    int64_t block = std::max<int64_t>(1, std::min(size, most));
    // As long as each other, so that no program has only the little that is left.
    if (int64_t blocks = (size + block - 1) / block; blocks > 1 && isEven)
      block = std::min(block, dim == last ? roundUp((size + blocks - 1) / blocks, transposedBlock)
                                          : (size + blocks - 1) / blocks);
    chosen.tilings[dim].block = block;
    elements *= block;
  }

  /// Whether all dimensions are parallel, or nothing but folded.
  bool isNest() const {
    for (size_t dim = 0; dim < parallel.size(); ++dim)
      if (!parallel[dim] && !folded[dim])
        return false;
    return true;
  }

  void growInnermost() {
    bool isTransposed = false;
    forEachAccess(program, [&](const Access &access, bool) {
      int inner = innermost(access);
      if (isUpdate(program, access) || inner < 0 || inner == last || !parallel[inner] ||
          !access.covers(last))
        return;
      isTransposed = true;
      if (chosen.tilings[inner].block == 1)
        grow(inner, transposedBlock, /*isEven=*/false);
      // Rows that end sooner go on along the axis before it, so that lines are read at once.
      if (int next = neighbour(access); next >= 0 && next != last && parallel[next] &&
                                        program.dims[inner].size <= transposedBlock &&
                                        chosen.tilings[next].block == 1)
        grow(next, transposedBlock, /*isEven=*/false);
    });
    grow(last, !isNest()      ? (isCopy(program) ? copiedElements : columnBlockOf(program))
               : isTransposed ? 4 * transposedBlock
                              : programElements);
  }

  /// A short innermost dimension makes short vectors, so take several of the next one.
  void growOuter() {
    bool goesOn = isNest();
    for (int dim = last - 1; goesOn && dim >= 0 && elements < programElements / 4; --dim) {
      if (folded[dim] || folded[dim + 1])
        continue;
      int64_t block = chosen.tilings[dim].block;
      goesOn =
          block > 0 && chosen.tilings[dim + 1].block == program.dims[dim + 1].size.value_or(-1);
      if (!goesOn)
        continue;
      elements = std::max<int64_t>(elements / block, 1);
      grow(dim, std::max(block, programElements / elements));
    }
  }

  /// Cuts parts of a concatenation where a program would have much of them.
  void shareParts() {
    if (parts.empty())
      return;
    int64_t most = elements / copiedElements;
    for (int dim : parts)
      most = std::min(most, *program.dims[dim].size);
    // With blocks as long as each other, all parts must have an element for each program.
    auto fits = [&](int64_t count) {
      return std::all_of(parts.begin(), parts.end(), [&](int dim) {
        int64_t size = *program.dims[dim].size, share = (size + count - 1) / count;
        return (size + share - 1) / share == count;
      });
    };
    while (most > 1 && !fits(most))
      --most;
    if (most <= 1)
      return;
    chosen.parts = most;
    elements /= most;
    for (int dim : parts)
      chosen.tilings[dim].block = (*program.dims[dim].size + most - 1) / most;
  }

  /// Innermost first, as many programs as are worth handing to another thread.
  void dealPrograms() {
    int64_t work = std::max<int64_t>(elements, 1) * weightOf(program);
    int64_t rest = std::max<int64_t>(1, workerElements / work);
    for (int dim = last; dim >= 0 && rest > 1; --dim)
      if (LoopTiling &tiling = chosen.tilings[dim]; tiling.block > 0) {
        int64_t count = program.dims[dim].size
                            ? (*program.dims[dim].size + tiling.block - 1) / tiling.block
                            : rest;
        tiling.programs = std::max<int64_t>(1, std::min(count, rest));
        rest /= tiling.programs;
      }
  }

  const LoopProgram &program;
  std::vector<bool> parallel, folded;
  std::vector<int> parts; // dimensions that are stored side by side
  int last;               // the innermost dimension that is not folded
  int64_t elements = 1;   // of a program
  LoopConfiguration chosen;
};

} // namespace

static LoopConfiguration chooseBlocks(const LoopProgram &program) {
  return BlockChooser(program).run();
}

/// Such that a trip has some thousand elements: few enough that they are summed up exactly.
static int64_t chunkOf(const std::vector<LoopTiling> &tilings, const LoopProgram &program,
                       int dim) {
  int64_t others = 1;
  for (size_t other = 0; other < tilings.size(); ++other)
    if (int(other) != dim)
      others *= tilings[other].block > 0 ? tilings[other].block
                                         : program.dims[other].size.value_or(unknownExtent);
  return std::max<int64_t>(1, chunkElements / std::max<int64_t>(1, others));
}

std::optional<int> longDim(const LoopProgram &program) {
  // An unknown length is taken for a long one; how many programs there are has to be known.
  auto length = [&](int dim) { return program.dims[dim].size.value_or(longElements); };
  std::optional<int> longest = longestReducedDim(program);
  if (!longest || !canLoop(program))
    return std::nullopt;
  int64_t programs = 1, elements = 1;
  std::vector<LoopTiling> tilings = chooseBlocks(program).tilings;
  for (int dim = 0; dim < int(tilings.size()); ++dim) {
    if (!program.dims[dim].size && dim != *longest)
      return std::nullopt;
    int64_t block = tilings[dim].block > 0 ? tilings[dim].block : length(dim);
    elements *= block;
    programs *= block > 0 ? (length(dim) + block - 1) / block : 0;
  }
  // Where a chunk is computed once for each reduction, that has to pay.
  bool isOnce = !positionsInLoop(program, *longest).empty();
  bool isWorth =
      elements >= longElements && programs < (isOnce ? splitLimits.enoughPrograms : fewPrograms);
  // A length that is not known may be small: then trips want to be long, and kernels one.
  if (!program.dims[*longest].size)
    isWorth = isWorth && isOnce && chunkOf(tilings, program, *longest) >= leastUnknownChunk;
  return isWorth ? longest : std::nullopt;
}

LoopConfiguration chooseLoops(const LoopProgram &program) {
  LoopConfiguration chosen = chooseBlocks(program);
  if (auto dim = longDim(program); dim && !positionsInLoop(program, *dim).empty())
    chosen.tilings[*dim].chunk = chunkOf(chosen.tilings, program, *dim);
  return chosen;
}

} // namespace tw::target::cpu
