// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests that make the difference between the interior and the boundary version of a block.
#pragma once
#include "Target/CPU/Plan/Scene.h"

namespace tw::target::cpu {

/// What is inside its buffer whatever the symbols are.
void planInside(Scene &scene, mlir::Block &block, BlockPlan &plan);

/// What is inside in every program, and what has to be tested. Its scalars that follow from what is
/// known at the start of the block are `ready`.
void planGuards(Scene &scene, mlir::Block &block, BlockPlan &plan);

/// Positions of a load along a dimension, a tile, that are a straight line in most programs. Empty
/// where they never are, or it is not known when; with nothing to test where they always are.
std::optional<Guard> planLine(const Scene &scene, tile::LoadOp op, unsigned dim, int64_t &slope);

} // namespace tw::target::cpu
