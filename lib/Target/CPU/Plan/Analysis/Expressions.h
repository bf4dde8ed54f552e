// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about the operations behind a tile, which is an expression of those that are placed.
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/CPU/CpuFeatures.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace tw::target::cpu {

/// Whether a tile exists as a whole, in registers or memory.
using IsPlaced = llvm::function_ref<bool(mlir::Value)>;

/// Strips that are unrolled at most.
constexpr int64_t mostUnrolled = 32;

/// Bytes of an element in memory: i1 is a byte there.
int64_t bytesOf(mlir::Type element);

std::vector<Size> extentsOf(mlir::Value tile);

/// Whether it holds for an operation behind `tile`, its own included, where tiles are not placed.
bool anyInBackwardSlice(mlir::Value tile, IsPlaced isPlaced,
                        llvm::function_ref<bool(mlir::Operation *)> holds);

/// Computes a scalar and nothing else.
bool isScalarOperation(mlir::Operation *op);

/// Whether a tile is computed from coordinates and scalars, or constants, alone.
bool isComputed(mlir::Value tile, IsPlaced isPlaced, bool fromConstants = false);

/// Elementwise, and worth keeping rather than computing twice; or a `keep`.
bool isWorthKeeping(mlir::Operation *op);

/// What `keep` asks for; else elementwise, expensive, and used more than once.
bool shouldMaterialize(mlir::Value tile, IsPlaced isPlaced, const CpuFeatures &cpu);

/// Of one element, and either elementwise and expensive or what `keep` asks for.
bool isScalarToKeep(mlir::Operation *op);

/// Whether single elements at positions from data are behind a tile.
bool looksUp(mlir::Value tile, IsPlaced isPlaced);

/// Whether a check of positions is made where they are used (Checks.cpp), not for all of a tile
/// before.
bool isDeferred(tile::CheckOp op);

/// The load behind `tile` through operations that move or widen elements, and the dimension there
/// that `dim` is; null and -1 where there is none.
std::pair<tile::LoadOp, int> traceToLoad(mlir::Value tile, int dim);

/// Whether neighbours along `dim` of the tile are neighbours in memory.
bool isContiguous(mlir::Value tile, int dim);

/// Where vectors along `lane` of `tile` would have to be gathered: the dimension along which it
/// lies in memory.
std::optional<int> contiguousDim(mlir::Value tile, int lane);

/// Whether a tile of these static extents is to be in registers, and in which: their lanes (1:
/// scalars).
std::optional<unsigned> registerLanes(mlir::RankedTensorType type, const CpuFeatures &cpu);

/// Whether the CPU has masked loads and stores of elements of this size.
bool hasNativeMasking(const CpuFeatures &cpu, unsigned bytes);

/// Whether vectors along `lane` of a slice are vectors of its operand that begin at a multiple of
/// `lanes`.
bool keepsVectors(tile::SliceOp op, int lane, unsigned lanes);

/// A reshape that only adds and drops dimensions of extent 1: dimension to[i] of the result is
/// from[i] of the operand.
struct UnitReshape {
  llvm::SmallVector<int> from, to;
};
std::optional<UnitReshape> unitReshape(tile::ReshapeOp op);

/// How many leading dimensions are the same in both.
int sameLeading(llvm::ArrayRef<Size> from, llvm::ArrayRef<Size> to);

/// The dimension of the operand that `lane` of the result of a broadcast, reshape, transpose or
/// slice is (-1: the operand has one element for all lanes); empty when it is none.
std::optional<int> sourceLane(mlir::Operation *op, int lane);

/// A broadcast, reshape, transpose or slice.
bool movesElements(mlir::Operation *op);

} // namespace tw::target::cpu
