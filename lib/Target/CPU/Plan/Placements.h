// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles exist as a whole, and where. The functions add what they place to the scene.
#pragma once
#include "Target/CPU/Plan/Scene.h"

namespace tw::target::cpu {

/// Places what cannot be emitted at a point, or is worth keeping, so that `tile` can be evaluated
/// at every point where `strips` pass, with lanes along its dimension `lane`.
mlir::LogicalResult prepare(Scene &scene, mlir::Value tile, const Strips &strips, int lane,
                            Placements &before);

/// Places `tile` in memory, unless it is there.
mlir::LogicalResult toMemory(Scene &scene, mlir::Value tile, Placements &before);

/// Whether a tile is one of several slices of a tile that has to be transposed: then that is placed
/// once, as a whole, and they are parts of it. `lane`: of the vectors.
bool isPartOfTransposed(mlir::Value tile, int lane);

/// All of `tile` into some memory.
mlir::FailureOr<Fill> planFill(Scene &scene, mlir::Value tile);

/// Whether it lies in its buffer: all of it is inside, and strides tell where.
bool isInBuffer(const Scene &scene, mlir::Value tile);

/// Where it lies in its buffer, else in scratch; with neighbours along dimension `along` (-1: none)
/// next to each other.
mlir::FailureOr<StridedPlacement> asStridedMemory(Scene &scene, mlir::Value tile, int along = -1);

/// The store that writes what is made of `tile`, element by element, to where `tile` can be kept
/// until then; null if there is none, or another tile is kept there.
tile::StoreOp outputAsScratch(Scene &scene, mlir::Value tile);

} // namespace tw::target::cpu
