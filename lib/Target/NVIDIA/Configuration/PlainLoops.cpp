// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainLoops.h"
#include "GraphToTile/Analysis/Subkernels/LoopProperties.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Emission/BulkLoads.h"
#include <algorithm>
#include <set>

namespace tw::target::nvidia {
using namespace conversion;

namespace {

// A multiprocessor begins a block of threads only every 160 ns, in which it could read and write 5
// kB. So programs are large where there are many. Of few, a program either fills a block of threads
// or is so small that a lane of a warp has a few elements (Emission/BlockShape.h): in between it
// would be a warp's that has many (gelu of 1024 x 768 takes 4.0 us in programs of 256 or 2048
// elements, and 7.2 in those of 1024).
constexpr int64_t mostElements = 4096, manyElements = 1024, fewElements = 2048, leastElements = 256;
constexpr int64_t programsOfMultiprocessor = 32;
constexpr int64_t evenColumns = 16; // blocks along the last dimension are multiples of it
// What warps read along one dimension and write along another.
constexpr int64_t turnedRows = 16, turnedColumns = 64;
// Columns of a program that has all rows of them: neighbours that a warp reads at once, and twice
// as many where so few programs share the rows.
constexpr int64_t summedColumns = 32, sharedColumns = 64;
// A row that 512 threads hold in registers, and rows of a program that reads what they share once.
// Measured on an H200 (a norm with two weights, f16, us): of 24576 elements one 118, two 110, four
// 126; of 16384, which registers hold, 136, 168 and 180; of 32768, of which two leave room for one
// block, 154 and 163. So there must be room for two blocks, with so much scratch each; and for each
// multiprocessor some programs: fewer end at different times. Where a block can keep what rows
// share (Emission/BulkLoads.h), of a row that 1024 threads hold, one row is faster: 104 for 24576.
constexpr int64_t longestHeld = 512 * 32, rowsTogether = 2, blocksOfRows = 2, scratchOfRows = 4096,
                  programsOfRows = 8, longestTaken = 1024 * 32;
constexpr int64_t unknownExtent = 256, unknownRow = 1 << 20;
// A row that many blocks of threads share, and elements of a trip of the loop; trips of all
// programs, which are as many parts at most: these are combined one after the other.
constexpr int64_t sharedElements = 1 << 17, chunkElements = 1 << 14, leastChunk = 64,
                  mostTrips = 128;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class BlockChooser {
public:
  BlockChooser(const LoopProgram &program, const GpuArchitecture &architecture)
      : program(program), architecture(architecture), parallel(parallelDims(program)),
        folded(foldedDims(program)), parts(partDims(program)), last(int(program.dims.size()) - 1) {
    while (last > 0 && folded[last])
      --last;
  }

  LoopConfiguration run() {
    begin();
    if (last >= 0 && parallel[last])
      growInnermost();
    growOuter();
    takeRowsTogether();
    shareParts();
    return std::move(chosen);
  }

private:
  static bool has(const std::vector<int> &dims, int dim) {
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
  }
  int64_t sizeOf(int dim) const {
    return std::max<int64_t>(1, program.dims[dim].size.value_or(unknownExtent));
  }

  /// One element of each parallel dimension; a program has all parts, and all of the others.
  void begin() {
    chosen.tilings.resize(program.dims.size());
    int64_t inParts = 0;
    for (int dim : parts)
      inParts += sizeOf(dim);
    elements = std::max<int64_t>(inParts, 1);
    for (int dim = 0; dim < int(parallel.size()); ++dim)
      if (parallel[dim])
        chosen.tilings[dim].block = 1, programs *= sizeOf(dim);
      else if (!folded[dim] && !has(parts, dim))
        elements *= sizeOf(dim);
  }

  /// Elements that a program of a nest has: as many programs as keep all multiprocessors busy.
  int64_t wanted() const {
    int64_t all = elements * programs;
    int64_t many = architecture.multiprocessors * programsOfMultiprocessor;
    if (int64_t each = all / many; each >= manyElements)
      return std::min(each, mostElements);
    return all >= 2 * architecture.multiprocessors * fewElements ? fewElements : leastElements;
  }

  /// Takes up to `most` elements of a dimension of which a program has one.
  void grow(int dim, int64_t most) {
    if (has(program.unitDims, dim))
      return;
    int64_t size = sizeOf(dim), block = std::clamp<int64_t>(most, 1, size);
    // As long as each other, so that no program has only the little that is left.
    if (int64_t blocks = ceilDiv(size, block); blocks > 1) {
      block = ceilDiv(size, blocks);
      if (dim == last)
        block = std::min(size, ceilDiv(block, evenColumns) * evenColumns);
    }
    chosen.tilings[dim].block = block;
    elements *= block;
    programs = programs / size * ceilDiv(size, block);
  }

  /// Whether all dimensions are parallel, or nothing but folded.
  bool isNest() const {
    for (size_t dim = 0; dim < parallel.size(); ++dim)
      if (!parallel[dim] && !folded[dim])
        return false;
    return true;
  }

  int64_t columnsOfSums() const {
    int64_t others = programs / sizeOf(last), programsOfSums = ceilDiv(sizeOf(last), summedColumns);
    bool areFew = others * programsOfSums < architecture.multiprocessors / 4;
    return areFew ? sharedColumns : summedColumns;
  }

  void growInnermost() {
    int64_t most = isNest() || isCopy(program) ? wanted() : columnsOfSums();
    forEachAccess(program, [&](const Access &access, bool) {
      int inner = access.axes.empty() ? -1 : access.axes.back().dim;
      if (isUpdate(program, access) || inner < 0 || inner == last || !parallel[inner] ||
          !access.covers(last))
        return;
      if (chosen.tilings[inner].block == 1)
        grow(inner, turnedRows);
      most = std::min(most, turnedColumns);
    });
    grow(last, most);
  }

  /// Where a program has all of the innermost dimension, it takes several of the next one.
  void growOuter() {
    bool goesOn = isNest();
    for (int dim = last - 1; goesOn && dim >= 0; --dim) {
      if (folded[dim] || folded[dim + 1])
        continue;
      int64_t block = chosen.tilings[dim].block;
      goesOn =
          block > 0 && chosen.tilings[dim + 1].block == program.dims[dim + 1].size.value_or(-1);
      if (!goesOn || block > 1)
        continue;
      if (int64_t more = wanted() / elements; more > 1)
        grow(dim, more);
    }
  }

  /// Several rows that are reduced, where they are longer than registers hold and share more than
  /// each has of its own, as the weights of a norm: these are read once for all of the rows.
  void takeRowsTogether() {
    int row = last - 1;
    if (last < 1 || parallel[last] || !parallel[row] || folded[row] || !program.dims[row].size ||
        chosen.tilings[row].block != 1 || sizeOf(last) <= longestHeld)
      return;
    RowBytes bytes = bytesOfRow(row);
    bool hasRoom =
        blocksOfRows * (rowsTogether * bytes.own + scratchOfRows) <= architecture.sharedBytes;
    bool areMany = programs / rowsTogether >= architecture.multiprocessors * programsOfRows;
    if (bytes.shared > bytes.own && bytes.own > 0 && hasRoom && areMany &&
        sizeOf(row) % rowsTogether == 0 && !canKeepShared(bytes))
      grow(row, rowsTogether);
  }

  struct RowBytes {
    int64_t own = 0, shared = 0;
  };

  bool canKeepShared(const RowBytes &bytes) const {
    return sizeOf(last) <= longestTaken && bytes.own % accessBytes == 0 &&
           areEnoughToKeep(programs, architecture) &&
           hasRoomToKeep(bytes.shared, bytes.own, architecture);
  }

  /// What a row reads along the innermost dimension: of its own, and the same as others.
  RowBytes bytesOfRow(int row) const {
    RowBytes bytes;
    std::set<int> seen;
    forEachAccess(program, [&](const Access &access, bool isStore) {
      if (isStore || !access.covers(last) || !seen.insert(access.buffer).second)
        return;
      int64_t read = sizeOf(last) * kernels::bytesOf(program.buffers[size_t(access.buffer)].dtype);
      (access.covers(row) ? bytes.own : bytes.shared) += read;
    });
    return bytes;
  }

  /// Cuts parts of a concatenation where a program would have much of them.
  void shareParts() {
    if (parts.empty())
      return;
    int64_t most = elements / mostElements;
    for (int dim : parts)
      most = std::min(most, sizeOf(dim));
    // With blocks as long as each other, all parts must have an element for each program.
    auto fits = [&](int64_t count) {
      return std::all_of(parts.begin(), parts.end(), [&](int dim) {
        return ceilDiv(sizeOf(dim), ceilDiv(sizeOf(dim), count)) == count;
      });
    };
    while (most > 1 && !fits(most))
      --most;
    if (most <= 1)
      return;
    chosen.parts = most;
    for (int dim : parts)
      chosen.tilings[dim].block = ceilDiv(sizeOf(dim), most);
  }

  const LoopProgram &program;
  const GpuArchitecture &architecture;
  std::vector<bool> parallel, folded;
  std::vector<int> parts;             // dimensions that are stored side by side
  int last;                           // the innermost dimension that is not folded
  int64_t elements = 1, programs = 1; // of a program; of the kernel
  LoopConfiguration chosen;
};

/// What a dimension that is reduced meets.
struct Shares {
  int64_t programs = 1; // of the kernel
  int64_t others = 1;   // elements of a program along the other dimensions
};

Shares sharesOf(const std::vector<LoopTiling> &tilings, const LoopProgram &program, int dim) {
  Shares shares;
  for (int other = 0; other < int(tilings.size()); ++other) {
    int64_t size = std::max<int64_t>(1, program.dims[other].size.value_or(unknownExtent));
    int64_t block = tilings[other].block > 0 ? tilings[other].block : size;
    if (other != dim)
      shares.programs *= ceilDiv(size, block), shares.others *= block;
  }
  return shares;
}

int64_t chunkOf(const Shares &shares, const kernels::Extent &extent) {
  int64_t chunk = std::max<int64_t>(1, chunkElements / shares.others);
  return std::max(chunk, ceilDiv(extent.size.value_or(1), mostTrips * shares.programs));
}

} // namespace

std::optional<int> sharedDim(const LoopProgram &program, const GpuArchitecture &architecture) {
  std::optional<int> longest = longestReducedDim(program);
  if (!longest || !canLoop(program))
    return std::nullopt;
  // How many programs there are has to be known.
  for (int dim = 0; dim < int(program.dims.size()); ++dim)
    if (!program.dims[dim].size && dim != *longest)
      return std::nullopt;
  const kernels::Extent &extent = program.dims[*longest];
  Shares shares = sharesOf(BlockChooser(program, architecture).run().tilings, program, *longest);
  // Where each reduction becomes a kernel of its own, that reads all once more, that has to pay.
  bool isOnce = !positionsInLoop(program, *longest).empty();
  int64_t enough = splitLimits(architecture).enoughPrograms, few = isOnce ? enough : enough / 4;
  bool isWorth =
      shares.others * extent.size.value_or(unknownRow) >= sharedElements && shares.programs < few;
  // A length that is not known may be small: then trips want to be long, and kernels one.
  if (!extent.size)
    isWorth = isWorth && isOnce && chunkOf(shares, extent) >= leastChunk;
  return isWorth ? longest : std::nullopt;
}

LoopConfiguration choosePlainLoops(const LoopProgram &program,
                                   const GpuArchitecture &architecture) {
  LoopConfiguration chosen = BlockChooser(program, architecture).run();
  if (auto dim = sharedDim(program, architecture); dim && !positionsInLoop(program, *dim).empty())
    chosen.tilings[*dim].chunk =
        chunkOf(sharesOf(chosen.tilings, program, *dim), program.dims[*dim]);
  return chosen;
}

} // namespace tw::target::nvidia
