// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operations of a block become one kernel.
#pragma once
#include "Dispatch/FusionLimits.h"
#include "IR/Graph/Decisions.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallVector.h"

namespace tw {

/// Operations of one block that become one kernel, in program order.
struct Group {
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t rows = 0; // leading dimensions that all of them share (Rows.h)
};

/// What may share a group: whatever saves a pass over memory, or only an operation and those that
/// begin the destination it updates.
enum class Fusion { Full, DestinationsOnly };

/// Groups the compute operations of `block`. Every compute operation is in one group; views only
/// where they connect two operations of a group.
llvm::SmallVector<Group> formGroups(mlir::Block &block, Fusion fusion, const FusionLimits &limits,
                                    graph::Decisions &decisions);

} // namespace tw
