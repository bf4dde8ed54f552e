// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/CPU/Plan/Scene.h"

namespace tw::target::cpu {

/// Columns of a tile whose rows are stored interleaved, at most (Interleave.cpp).
constexpr int64_t mostInterleaved = 4;

/// The outputs that do not stay in any cache until somebody reads them.
llvm::DenseSet<mlir::Value> nonTemporalOutputs(tile::KernelOp kernel);

/// Finds the stores of a block that follow each other and can be made in one loop.
void groupStores(Scene &scene, mlir::Block &block);

/// Whether the buffer may change between a load and its use, so that the tile is read where the
/// load stands.
bool mustReadNow(const Scene &scene, tile::LoadOp op);

mlir::LogicalResult planStore(Scene &scene, tile::StoreOp op, Step &step);

} // namespace tw::target::cpu
