// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the loops of attention and of its gradients share: the place in all dimensions, elements
// there, and scores. All in f64.
#pragma once
#include "IR/Graph/Graph.h"
#include "Target/Reference/Emitter.h"

namespace tw::target::reference {

class AttentionScores {
public:
  AttentionScores(graph::AttentionInterface op, Emitter &e);

protected:
  /// Reads what the loops need; to be called before anything else.
  mlir::LogicalResult begin();
  Extent extentOf(unsigned dim);

  /// Carries a value along dimensions.
  mlir::Value along(llvm::ArrayRef<unsigned> dims, mlir::Value initial, bool isSum,
                    llvm::function_ref<mlir::Value(mlir::Value)> step);
  /// Goes through all places along dimensions.
  void nest(llvm::ArrayRef<unsigned> dims, llvm::function_ref<void()> body);

  /// The score here, scaled and masked.
  mlir::Value score();
  /// An element of an operand here.
  mlir::Value element(mlir::OpOperand &of);
  void store(unsigned result, mlir::Value value);

  graph::AttentionInterface op;
  Emitter &e;
  mlir::Type f64;
  mlir::Value scale, hidden, zero; // `hidden`: the score of what a query may not see
  Indices at, sizes;               // in and of all dimensions
};

} // namespace tw::target::reference
