// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/ProductPlan.h"
#include <algorithm>

namespace tw::target::nvidia {

namespace {

constexpr int64_t rowsOfInstruction = 64;
constexpr int64_t patternRows = 8;
constexpr int64_t fewestStages = 2, mostStages = 8, mostWarpGroups = 2;

/// Where pieces of results lie, from `offset` on, and that many bytes at most; no buffers where
/// there is no room for them.
StorePlan planStore(int64_t offset, int64_t room, int64_t blocksOfGroup, int64_t columns) {
  for (int64_t width = widestPiece; width >= narrowestPiece; width /= 2) {
    int64_t pieces = blocksOfGroup * ((columns + width - 1) / width);
    int64_t count = std::min(pieces, room / StorePlan::pieceBytesOf(width));
    if (count >= std::min(pieces, leastStoreBuffers))
      return {offset, count, width};
  }
  return {};
}

/// Registers for left operands of one trip that are multiplied, and of the next one.
int64_t operandsOfThread(int64_t blocks, int64_t depth) { return 2 * blocks * depth / 4; }

} // namespace

int64_t alignUp(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

OperandTile operandTile(int64_t freeExtent, int64_t depth, bool isSumInnermost,
                        int64_t elementBytes) {
  int64_t inner = isSumInnermost ? depth : freeExtent, outer = isSumInnermost ? freeExtent : depth;
  int64_t columns = mostRowBytes / elementBytes;
  while (inner % columns != 0 && columns > instructionBytes / elementBytes)
    columns /= 2;
  return {columns,        inner / columns, outer, {columns * elementBytes},
          isSumInnermost, elementBytes,    outer};
}

int64_t OperandTile::offsetOf(int64_t free, int64_t k) const {
  int64_t inner = isSumInnermost ? k : free, row = isSumInnermost ? free : k;
  return inner / chunkColumns * chunkBytes() + row * swizzle.rowBytes +
         inner % chunkColumns * elementBytes;
}

int64_t OperandTile::descriptor() const {
  // Along the innermost dimension chunks follow each other (which only a transposed operand's
  // instruction crosses), along the other one groups of 8 rows.
  int64_t leading = isSumInnermost ? 16 : chunkBytes(), stride = patternRows * swizzle.rowBytes;
  int64_t mode = swizzle.rowBytes == 128 ? 1 : swizzle.rowBytes == 64 ? 2 : 3;
  return (leading >> 4) << 16 | (stride >> 4) << 32 | mode << 62;
}

std::optional<RegisterSplit> registerSplit(int64_t warpGroups) {
  // Multiples of 8 whose sum over the warp groups is what the block has.
  if (warpGroups == 2)
    return RegisterSplit{40, 232};
  if (warpGroups == 3)
    return RegisterSplit{32, 160};
  return std::nullopt;
}

PipelineConfiguration choosePipeline(const ProductShape &shape,
                                     const GpuArchitecture &architecture) {
  int64_t blocks = shape.rows / rowsOfInstruction;
  for (int64_t groups : {2, 1})
    for (int64_t stages = mostStages; stages >= fewestStages && blocks % groups == 0; --stages)
      if (planProduct(shape, {stages, groups}, architecture))
        return {stages, groups};
  return {};
}

std::optional<ProductPlan> planProduct(const ProductShape &shape,
                                       const PipelineConfiguration &configuration,
                                       const GpuArchitecture &architecture) {
  int64_t stages = configuration.stages, warpGroups = configuration.warpGroups;
  bool isPingPong = configuration.isPingPong;
  int64_t blocks = shape.rows / rowsOfInstruction;
  if (stages < fewestStages || stages > mostStages || warpGroups < 1 ||
      warpGroups > mostWarpGroups || (isPingPong ? warpGroups != 2 : blocks % warpGroups != 0))
    return std::nullopt;
  ProductPlan plan{};
  plan.a = operandTile(shape.rows, shape.depth, shape.isSumInnermostInA,
                       shape.computedFromBytes > 0 ? shape.computedFromBytes : shape.elementBytes);
  plan.b = operandTile(shape.columns, shape.depth, shape.isSumInnermostInB, shape.elementBytes);
  // Rows beyond the buffer would be 0, but as many bytes on their way from the second-level cache.
  if (shape.tileRows > 0 && plan.a.isSumInnermost)
    plan.a.loaded = shape.tileRows;
  plan.b.offset = alignUp(plan.a.bytes(), stageAlignment);
  plan.warpGroups = warpGroups;
  plan.isPingPong = isPingPong;
  plan.blocksOfGroup = isPingPong ? blocks : blocks / warpGroups;
  int64_t stageBytes = plan.b.offset + alignUp(plan.b.bytes(), stageAlignment);
  int64_t barriers = alignUp(2 * stages * barrierBytes, 16);
  int64_t offset = stages * stageBytes, room = architecture.sharedBytes - offset - barriers;
  plan.store = planStore(offset, room / warpGroups, plan.blocksOfGroup, shape.columns);
  int64_t operands =
      shape.computedFromBytes > 0 ? operandsOfThread(plan.blocksOfGroup, shape.depth) : 0;
  if (plan.store.count == 0 || plan.sumsOfThread(shape.columns) + operands > mostSums)
    return std::nullopt;
  plan.ring = {stages, stageBytes, 0, plan.store.offset + warpGroups * plan.store.bytesOfGroup()};
  plan.sharedBytes = plan.ring.barrierOffset + barriers;
  return plan;
}

} // namespace tw::target::nvidia
