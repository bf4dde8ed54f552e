// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where values that cross the edge of a region live: tiles of a few vectors, and scalars, as SSA
// values; other tiles in memory of their own. So do sums that a loop carries past products of its
// body for which they would leave too few registers, and those that would be long chains of
// additions.
#pragma once
#include "Target/CPU/Plan/Scene.h"

namespace tw::target::cpu {

class Carried {
public:
  /// Of a branch.
  Carried(Scene &scene, mlir::TypeRange types);
  Carried(Scene &scene, tile::ForOp loop);

  /// Hands over `values`, which are known here. `before`: what they take the place of, if any.
  mlir::LogicalResult take(mlir::ValueRange values, HandOver &plan, mlir::ValueRange before = {});

  /// `values` have what was handed over.
  void give(mlir::ValueRange values);

private:
  struct Slot {
    bool isTile = false;
    std::optional<unsigned> lanes;
    unsigned room = 0; // of a tile that is in no registers
  };

  void addSlot(mlir::Type type, bool isInMemory);
  mlir::LogicalResult takeOne(mlir::Value value, const Slot &slot, mlir::Value before,
                              HandedOver &plan);
  bool updatesInPlace(mlir::Value value, mlir::Value before) const;
  bool isInOthersRoom(mlir::Value value, const Slot &own) const;

  Scene &scene;
  llvm::SmallVector<Slot> slots;
};

/// Sums of tiles that a loop begins with zero need not be zero in memory: the first trip does not
/// read them. `loop` is the plan of `op`.
void leaveZerosToTiles(tile::ForOp op, LoopStep &loop);

} // namespace tw::target::cpu
