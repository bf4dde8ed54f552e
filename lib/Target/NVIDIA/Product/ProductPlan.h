// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a product's operands lie in shared memory, how many stages there are and who does what.
// Plain data; Configuration/ chooses with it, too, before there is a kernel.
#pragma once
#include "Target/NVIDIA/Architecture.h"
#include "Target/NVIDIA/Layout/SharedTile.h"
#include <optional>

namespace tw::target::nvidia {

/// What is multiplied by a block of a product in one trip.
struct ProductShape {
  int64_t rows, columns, depth;
  bool isSumInnermostInA, isSumInnermostInB;
  int64_t elementBytes = 2; // 4: f32, multiplied as tf32
  int64_t tileRows = 0;     // of the rows, those that there are; 0: all
  /// Of what the left operand is computed from, element by element, in registers; 0: it is
  /// multiplied as it lies in shared memory.
  int64_t computedFromBytes = 0;
};

/// What one wgmma multiplies is 32 bytes of the sum deep; rows in shared memory have at most 128.
inline constexpr int64_t instructionBytes = 32, mostRowBytes = 128;

/// An operand in one stage: chunks of its innermost dimension, all of one width, each of which is
/// one box of TMA. A row of a chunk is `swizzle.rowBytes` bytes. Along the other dimension there
/// are `outer` rows.
struct OperandTile {
  int64_t chunkColumns, chunks, outer;
  Swizzle swizzle;
  bool isSumInnermost;
  int64_t elementBytes;
  int64_t loaded;     // of `outer`, those that TMA brings: what else lies there is not used
  int64_t offset = 0; // in the stage

  int64_t chunkBytes() const { return outer * swizzle.rowBytes; }
  int64_t bytes() const { return chunks * chunkBytes(); }
  int64_t loadedBytes() const { return chunks * loaded * swizzle.rowBytes; }
  /// Where term `k` of the sum and row (or column) `free` of the result begin; multiples of an
  /// instruction's depth and of 64.
  int64_t offsetOf(int64_t free, int64_t k) const;
  /// The fields of wgmma's descriptor above the address: PTX ISA, "Matrix Descriptor Format".
  int64_t descriptor() const;
};
OperandTile operandTile(int64_t freeExtent, int64_t depth, bool isSumInnermost,
                        int64_t elementBytes = 2);

/// What may be chosen: the fields of the configuration `nvidia`.
struct PipelineConfiguration {
  int64_t stages = 0;     // of the ring that TMA fills
  int64_t warpGroups = 0; // that multiply
  /// Each of two warp groups has programs of its own, every other one of the block's: one
  /// multiplies while the other one's results go out. Else they share the rows of each program.
  bool isPingPong = false;
  /// The launch behind this one may begin once results are about to be stored, and not as soon as
  /// all blocks have begun: of attention alone (Attention/AttentionPlan.h).
  bool isTriggerLate = false;
};

/// A ring of stages in shared memory (StageRing.h): from `offset` on, with a `full` barrier for
/// each stage and then an `empty` one from `barrierOffset` on.
struct RingPlan {
  int64_t stages, stageBytes, offset, barrierOffset;
};
inline constexpr int64_t barrierBytes = 8, stageAlignment = 1024;
int64_t alignUp(int64_t bytes, int64_t to);

/// Buffers of each warp group for pieces of results on their way out: of 64 rows and up to so many
/// columns of 16-bit elements.
struct StorePlan {
  int64_t offset, count, columns;
  int64_t pieceBytes() const { return pieceBytesOf(columns); }
  int64_t bytesOfGroup() const { return count * pieceBytes(); }
  static constexpr int64_t pieceBytesOf(int64_t columns) { return 64 * columns * 2; }
};
/// Columns of a piece: the fewer, the more stages there is room for.
inline constexpr int64_t widestPiece = 64, narrowestPiece = 32;
/// Buffers that a warp group has at least, where it has so many pieces.
inline constexpr int64_t leastStoreBuffers = 2;

/// Shared memory: stages, then what is stored by TMA, then barriers.
struct ProductPlan {
  OperandTile a, b;
  int64_t warpGroups;
  int64_t blocksOfGroup; // of 64 rows
  bool isPingPong;
  RingPlan ring;
  StorePlan store;
  int64_t sharedBytes;

  int64_t threads() const { return 128 * (warpGroups + 1); }
  /// Warp groups that use each stage.
  int64_t usersOfStage() const { return isPingPong ? 1 : warpGroups; }
  int64_t sumsOfThread(int64_t columns) const { return blocksOfGroup * columns / 2; }
};

/// How the consumers' registers are set; without: as the launch says.
struct RegisterSplit {
  int64_t producer, consumer;
};
std::optional<RegisterSplit> registerSplit(int64_t warpGroups);
/// Sums that fit into a thread's registers, with what else it needs there.
inline constexpr int64_t mostSums = 192;

/// The default: as many stages as fit, two warp groups where there are rows for two.
PipelineConfiguration choosePipeline(const ProductShape &shape,
                                     const GpuArchitecture &architecture);
/// Nothing where it does not fit.
std::optional<ProductPlan> planProduct(const ProductShape &shape,
                                       const PipelineConfiguration &configuration,
                                       const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
