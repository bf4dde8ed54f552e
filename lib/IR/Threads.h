// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work on the operations of one context by several threads.
#pragma once
#include "mlir/Support/LLVM.h"
#include <functional>

namespace mlir {
class MLIRContext;
}

namespace tw {

/// Calls `work` for each number below `count` as onThreads does (Support/Parallel.h), on stacks for
/// deeply nested programs. Each may create operations, types, and attributes in `context`, but no
/// two may touch the same operation, and none may load a dialect. What they report is reported at
/// the end, in the order of their numbers, up to the first that fails; those behind it may not have
/// been called. Within `work` it is a loop on that thread.
mlir::LogicalResult onThreadsInOrder(mlir::MLIRContext &context, size_t count,
                                     const std::function<mlir::LogicalResult(size_t)> &work);

} // namespace tw
