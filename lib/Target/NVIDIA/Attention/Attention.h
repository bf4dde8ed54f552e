// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of two chained products on the tensor cores, as attention has them: the sums of the first
// `dot` (the scores) become, row by row, the left operand of the second one, whose terms they are.
// Terms come in blocks, in trips of loops, which carry the second product's sums and numbers for
// each row, or beside them. docs/nvidia-target.md, "Attention".
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Attention/AttentionPlan.h"
#include "Target/NVIDIA/Product/LaunchConditions.h"
#include "Target/NVIDIA/Product/Operand.h"
#include "Target/NVIDIA/Product/SumsStore.h"

namespace tw::target::nvidia {

/// Trips with one body: those of a loop, or one that stands in the kernel itself.
struct AttentionPart {
  tile::ForOp loop; // null: none
  tile::DotOp scores, output;
  ProductOperand keys, values; // the right operands
  unsigned sums = 0;           // which of the loop's carried values are the second product's sums

  /// The second product's sums after the part, and before its products are added.
  mlir::Value sumsAfter() const;
  mlir::Value carriedSums() const;
};

struct Attention {
  std::vector<AttentionPart> parts; // one after the other, of which each adds to the same sums
  /// The first trip of all is one of the parts up to this one, which are loops, each of which goes
  /// on where the one before ends.
  size_t firstRuns = 0;
  ProductOperand queries;
  std::vector<SumsStore> stores;
  /// Of each program along the grid's last dimension, where these differ and are known.
  std::vector<int64_t> trips;
  bool isMasked = false; // trips read more than operands
  /// Registers of 32 bits that a thread has for `maskLoads` of a trip of a loop.
  int64_t maskRegisters = 0;
  Hides hides = Hides::Nothing; // of one loop
  /// Whether programs look for themselves if their one loop runs at all, as where it is one of the
  /// parts of a loop whose trips only calls tell.
  bool mayBeEmpty = false;
  /// Whether the trips of its one loop can be dealt to warp groups: its `combine` is commutative.
  bool isDealable = false;
  std::optional<int64_t> knownTrips; // of that loop, the same in all programs
  /// Programs next to each other along the grid's last dimension have the same trips, and the same
  /// right operands.
  bool sharesOperands = false;
  /// Rows of the tile, and of warp groups: the same, but for fewer than 64.
  int64_t tileRows = 0, rows = 0;
  /// Of a trip: `depth` is that of the first product, with zeros behind it where the operands' is
  /// no multiple of 16.
  int64_t terms = 0, depth = 0, width = 0;
  mlir::Type element; // of the operands
  LaunchConditions conditions;

  /// Whether a warp group to which trips are dealt, or a program, may have none.
  bool mayHaveNoTrip(bool isDealt) const { return mayBeEmpty || (isDealt && !knownTrips); }
};

struct AttentionMatch {
  std::optional<Attention> attention;
  std::string why;
};
AttentionMatch matchAttention(tile::KernelOp kernel);

/// What the weights of a part read beside scores in each trip, if all of that can be read before
/// these are there: boxes that are surely inside their buffers.
llvm::SmallVector<tile::LoadOp, 2> maskLoads(const AttentionPart &part);

/// The dimensions of a tile whose extent is not 1.
llvm::SmallVector<unsigned, 4> wideDims(mlir::Value tile);

} // namespace tw::target::nvidia
