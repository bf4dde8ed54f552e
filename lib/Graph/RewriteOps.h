// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "IR/Graph/Values.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tw {

/// applyPatternsGreedily where there is an operation of a kind for which `isWanted` holds: the
/// driver looks at each operation in each body, which is in vain where nothing can match. Values
/// keep their numbers.
template <typename Op>
llvm::LogicalResult rewriteOps(mlir::Operation *root, mlir::RewritePatternSet patterns,
                               llvm::function_ref<bool(Op)> isWanted) {
  mlir::WalkResult found = root->walk([&](Op op) {
    return isWanted(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return llvm::success();
  return mlir::applyPatternsGreedily(root, std::move(patterns),
                                     mlir::GreedyRewriteConfig().setListener(graph::valueKeeper()));
}

} // namespace tw
