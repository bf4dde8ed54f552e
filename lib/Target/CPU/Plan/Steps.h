// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is decided for the operations that are emitted where they stand.
#pragma once
#include "Target/CPU/Plan/Scene.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tw::target::cpu {

mlir::LogicalResult planReduce(Scene &scene, tile::ReduceOp op, Step &step);
mlir::LogicalResult planDot(Scene &scene, tile::DotOp op, Step &step);
mlir::LogicalResult planLoop(Scene &scene, tile::ForOp op, Step &step);
mlir::LogicalResult planBranch(Scene &scene, mlir::scf::IfOp op, Step &step);

/// A block, with its version or versions; `finish` plans what goes out of it.
mlir::LogicalResult planBlock(Scene &scene, mlir::Block &block, BlockPlan &plan,
                              llvm::function_ref<mlir::LogicalResult(HandOver &)> finish);

} // namespace tw::target::cpu
