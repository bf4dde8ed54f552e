// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Attention/AttentionPlan.h"
#include <algorithm>
#include <array>

namespace tw::target::nvidia {

static constexpr int64_t rowsOfGroup = 64, mostWarpGroups = 3, mostStages = 4;
static constexpr int64_t mostQueryStages = 2;
static constexpr int64_t registerUnit = 8, mostBlocks = 6;

/// How many blocks fit beside each other, with registers for the scores, of which some are there
/// twice while they become weights, or for weights and the second product's sums.
static int64_t blocksBeside(const AttentionShape &shape, const AttentionPlan &plan,
                            const GpuArchitecture &architecture) {
  int64_t registers = alignUp(
      std::max(shape.terms * 11 / 20 + 36, shape.terms / 4 + shape.width / 2 + 28), registerUnit);
  int64_t byRegisters = registersOfMultiprocessor / (registers * plan.threads());
  int64_t byMemory =
      (architecture.sharedBytes + systemSharedBytes) / (plan.sharedBytes + systemSharedBytes);
  return std::clamp<int64_t>(std::min(byRegisters, byMemory), 1, mostBlocks);
}

/// By warp groups, registers of a thread for scores, the same in 16 bits, the second product's sums
/// and masks that are read ahead, where ptxas neither spills nor serializes products: in one loop,
/// where loops follow each other or a trip follows a loop (in which sums are copied, too), and
/// where masks are read. Found by trying all blocks of all head sizes (nvidia_registers_test).
struct Room {
  int64_t values; // of all these
  int64_t copied; // of sums twice, and of weights
  int64_t uneven; // sums of a row that go out in pieces of less than 64, too
};
static constexpr int64_t any = 1024;
using Rooms = std::array<Room, mostWarpGroups + 1>;

static Rooms roomsWithMasks(const AttentionShape &shape) {
  constexpr Rooms behind = {{{}, {112, 200, any}, {}, {}}};
  constexpr Rooms behindLoops = {{{}, {120, 200, any}, {}, {}}};
  constexpr Rooms behindUnknown = {{{}, {88, 200, any}, {}, {}}};
  constexpr Rooms behindHidden = {{{}, {160, any, any}, {}, {}}};
  constexpr Rooms behindHiddenUnknown = {{{}, {156, any, any}, {}, {}}};
  constexpr Rooms ahead = {{{}, {168, any, any}, {160, any, 192}, {112, 132, 128}}};
  constexpr Rooms aheadLoops = {{{}, {152, any, any}, {}, {}}};
  constexpr Rooms aheadTail = {{{}, {160, 227, 192}, {144, 196, any}, {112, 132, 128}}};
  if (shape.hides != Hides::Nothing)
    return shape.hasUnknownSizes ? behindHiddenUnknown : behindHidden;
  if (shape.maskRegisters == 0)
    return shape.hasUnknownSizes ? behindUnknown : shape.hasLoops ? behindLoops : behind;
  return shape.hasLoops ? aheadLoops : shape.hasTail ? aheadTail : ahead;
}

static Rooms roomsFor(const AttentionShape &shape) {
  constexpr Rooms one = {{{}, {208, any, any}, {176, any, 224}, {128, any, 160}}};
  constexpr Rooms oneUnknown = {{{}, {208, any, any}, {148, any, 224}, {128, any, 160}}};
  constexpr Rooms byRow = {{{}, {200, any, any}, {168, any, 224}, {128, any, 160}}};
  constexpr Rooms byRowUnknown = {{{}, {180, any, any}, {152, any, 224}, {116, any, 160}}};
  constexpr Rooms loops = {{{}, {168, any, any}, {160, 264, 160}, {108, 132, any}}};
  constexpr Rooms tail = {{{}, {200, 227, any}, {168, 200, any}, {128, 132, any}}};
  // What is combined: wide states of three warp groups are spilled on their way.
  constexpr Rooms wideDealt = {{{}, {}, {176, any, 224}, {111, any, 160}}};
  // What a program begins with goes past its products where it has none.
  constexpr Rooms parts = {{{}, {184, any, any}, {148, any, 224}, {120, any, 160}}};
  constexpr Rooms wideParts = {{{}, {184, any, any}, {148, any, 224}, {111, any, 160}}};
  constexpr Rooms maskedParts = {{{}, {148, any, any}, {}, {}}};
  if (shape.mayHaveNoTrip)
    return shape.isMasked ? maskedParts : shape.width > 64 ? wideParts : parts;
  if (shape.dealtTo > 0 && shape.width > 64)
    return wideDealt;
  if (shape.isMasked)
    return roomsWithMasks(shape);
  if (shape.hides == Hides::ByRow)
    return shape.hasUnknownSizes ? byRowUnknown : byRow;
  if (shape.hides == Hides::End)
    return shape.hasUnknownSizes ? oneUnknown : one;
  return shape.hasLoops ? loops : shape.hasTail ? tail : one;
}

/// Where loops follow each other, ptxas moves weights of so few terms between products, which it
/// serializes then (C7513), however many registers there are.
static bool hasTooFewTerms(const AttentionShape &shape, int64_t warpGroups) {
  return shape.hasLoops &&
         ((warpGroups <= 2 && shape.terms == 48) || (warpGroups == 1 && shape.terms == 32));
}

static bool fitsRegisters(const AttentionShape &shape, int64_t warpGroups) {
  Room room = roomsFor(shape)[size_t(warpGroups)];
  constexpr int64_t ofSizes = 4;
  if (shape.hasUnknownSizes)
    room.copied -= ofSizes;
  // Of terms that are compared with each row's place, or whose masks are looked for.
  int64_t places = shape.hides == Hides::Nothing ? 0
                   : shape.isMasked              ? shape.terms / 4
                   : shape.hides == Hides::ByRow ? shape.terms / 8
                                                 : 0;
  return shape.terms / 2 + shape.terms / 4 + shape.width / 2 + shape.maskRegisters + places <=
             room.values &&
         shape.width + shape.terms / 4 <= room.copied &&
         (shape.width % 64 == 0 || shape.width <= room.uneven) &&
         !hasTooFewTerms(shape, warpGroups);
}

/// Columns that TMA brings in chunks: what lies behind the last ones is not multiplied.
static int64_t loadedColumns(int64_t width) {
  constexpr int64_t narrowestChunk = 16;
  return alignUp(width, narrowestChunk);
}

int64_t chooseStages(const AttentionShape &shape, const GpuArchitecture &architecture) {
  // Where trips are dealt, each warp group has stages of its own, if there are as many for all.
  for (bool isEven : {shape.dealtTo > 0, false})
    for (int64_t stages = shape.hasLoop ? mostStages : 1; stages > 0; --stages)
      if ((!isEven || stages % shape.dealtTo == 0) && planAttention(shape, stages, architecture))
        return stages;
  return 0;
}

/// What all warp groups but one give to that one: numbers of 32 bits of each thread.
static int64_t bytesToCombine(const AttentionShape &shape) {
  constexpr int64_t groupThreads = 128, numberBytes = 4;
  int64_t ofThread = shape.width / 2 + 2 * shape.carriedRows;
  return (shape.dealtTo - 1) * groupThreads * ofThread * numberBytes;
}

/// Whether trips can be dealt: those of one loop, of which each warp group has one at a time.
static bool canDeal(const AttentionShape &shape, int64_t stages) {
  return shape.rows == rowsOfGroup && shape.hasLoop && !shape.hasLoops && !shape.hasTail &&
         !shape.isMasked && shape.dealtTo > 1 && stages >= shape.dealtTo;
}

std::optional<AttentionPlan> planAttention(const AttentionShape &shape, int64_t stages,
                                           const GpuArchitecture &architecture) {
  AttentionPlan plan{};
  plan.dealsTrips = shape.dealtTo > 0;
  plan.warpGroups = plan.dealsTrips ? shape.dealtTo : shape.rows / rowsOfGroup;
  if (plan.dealsTrips && !canDeal(shape, stages))
    return std::nullopt;
  if (stages < (shape.hasLoop ? 2 : 1) || plan.warpGroups < 1 || plan.warpGroups > mostWarpGroups)
    return std::nullopt;
  AttentionShape behind = shape;
  behind.maskRegisters = 0;
  bool fits = fitsRegisters(shape, plan.warpGroups);
  if (!fits && !fitsRegisters(behind, plan.warpGroups))
    return std::nullopt;
  plan.readsMasksAhead = fits && shape.maskRegisters > 0;
  plan.queries = operandTile(shape.rows, shape.depth, shape.isDepthInnermostInQueries);
  if (shape.tileRows > 0 && plan.queries.isSumInnermost)
    plan.queries.loaded = shape.tileRows;
  plan.keys = operandTile(shape.terms, shape.depth, shape.isDepthInnermostInKeys);
  plan.values = operandTile(loadedColumns(shape.width), shape.terms, /*isSumInnermost=*/false);
  auto bytesOf = [](const OperandTile &tile) { return alignUp(tile.bytes(), stageAlignment); };
  plan.hasLoaders = shape.hasLoop;
  plan.takesTurns = shape.hasLoop && plan.warpGroups > 1;
  int64_t pieces = (shape.width + widestPiece - 1) / widestPiece;
  auto tryWith = [&](int64_t queryStages, int64_t storeBuffers) {
    int64_t offset = 0;
    auto ring = [&](int64_t count, const OperandTile &tile) {
      RingPlan made{count, bytesOf(tile), offset, 0};
      offset += count * made.stageBytes;
      return made;
    };
    plan.queryRing = ring(queryStages, plan.queries);
    if (plan.dealsTrips) { // programs side by side have their own
      plan.queryRing.stageBytes *= plan.warpGroups;
      offset = queryStages * plan.queryRing.stageBytes;
    }
    plan.keyRing = ring(stages, plan.keys);
    plan.valueRing = ring(stages, plan.values);
    plan.store = {offset, storeBuffers, widestPiece};
    int64_t storeBytes = plan.warpGroups * plan.store.bytesOfGroup();
    offset += plan.dealsTrips ? std::max(storeBytes, bytesToCombine(shape)) : storeBytes;
    for (RingPlan *each : {&plan.queryRing, &plan.keyRing, &plan.valueRing}) {
      each->barrierOffset = offset;
      offset += 2 * each->stages * barrierBytes;
    }
    plan.sharedBytes = alignUp(offset, 16);
    return plan.sharedBytes <= architecture.sharedBytes;
  };
  for (int64_t count = shape.hasLoop ? mostQueryStages : 1; count > 0; --count)
    for (int64_t buffers : {pieces, int64_t(1)})
      if (tryWith(count, buffers)) {
        plan.blocksOfMultiprocessor = shape.hasLoop ? 1 : blocksBeside(shape, plan, architecture);
        return plan;
      }
  return std::nullopt;
}

} // namespace tw::target::nvidia
