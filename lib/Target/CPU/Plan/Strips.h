// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How to go through the elements of tiles.
#pragma once
#include "Target/CPU/Plan/Scene.h"

namespace tw::target::cpu {

/// For these extents, when the widest elements fit `widest` to a vector.
Strips stripsOf(llvm::ArrayRef<Size> extents, unsigned widest);

/// Whether what is behind `tiles` was put in memory to leave registers to others. It is not to be
/// gone through unrolled: LLVM would have it in registers again.
bool readsLeftRegisters(const Scene &scene, mlir::ValueRange tiles);

/// Bytes of the widest element behind `tile`, up to what is loaded; of its operands that is known
/// (Scene::widestBehind).
int64_t widestOf(const Scene &scene, mlir::Value tile);

/// How many lanes suit the elements that `tiles` are made of.
unsigned lanesFor(const Scene &scene, mlir::ValueRange tiles);

/// The same for a tile whose elements along `lane` may be moved as they are: as many as a vector
/// has room for, however narrow they are.
unsigned lanesToMove(const Scene &scene, mlir::Value tile, int lane);

/// Whether positions behind `tile` are known where the coordinate along `lane` is.
bool readsAtComputed(const Scene &scene, mlir::Value tile, int lane);

/// Where a loop over the strips of `tile` should be cut, so that more is known in each part.
llvm::SmallVector<int64_t> cutsFor(const Scene &scene, mlir::Value tile, const Strips &strips);

} // namespace tw::target::cpu
