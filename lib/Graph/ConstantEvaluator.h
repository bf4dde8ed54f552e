// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "IR/Graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <cstddef>
#include <vector>

namespace tw {

/// Runs code at compile time. Declared here because the graph level decides what to evaluate,
/// implemented by the driver because running code needs all levels below.
class ConstantEvaluator {
public:
  virtual ~ConstantEvaluator() = default;

  /// `module` holds one public function without arguments, @constants, at graph level (tw.weight is
  /// its only source of data). Compiles and runs it, and returns one weight per result, in order:
  /// ranges of a file that lives until the evaluator dies. Failure has been reported.
  virtual mlir::FailureOr<llvm::SmallVector<graph::WeightAttr>>
  evaluate(mlir::OwningOpRef<mlir::ModuleOp> module) = 0;

  /// The elements of a weight that this has evaluated, row-major; empty where only calls give them,
  /// or they cannot be read.
  virtual std::vector<std::byte> elementsOf(graph::WeightAttr weight) = 0;
};

} // namespace tw
