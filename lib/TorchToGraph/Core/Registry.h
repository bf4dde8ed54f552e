// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which function lowers which operator: one table, joined from those of the families. From it
// docs/operators.md is made.
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

using LoweringFn = mlir::LogicalResult (*)(Lowering &);

/// One operator overload, "torch.aten.add.Tensor".
struct LoweringRow {
  llvm::StringRef op;
  LoweringFn lower;
};

/// A file of lowerings.
struct Family {
  llvm::StringRef title; // "Reductions"
  llvm::ArrayRef<LoweringRow> rows;
};

/// All families, in the order of the documentation. A new family is added in Registry.cpp.
llvm::ArrayRef<Family> families();

/// Null when the operator has no lowering.
LoweringFn findLowering(llvm::StringRef op);

/// Why an operator will not be supported ("its result's size depends on data"); empty for those
/// that could be.
llvm::StringRef findRefusal(llvm::StringRef op);
/// Operators with a reason, for the documentation: (name or prefix ending in '*', reason).
llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> refusals();

/// The name of a torch op, through torch.operator: "torch.aten.mm", "torch.mylib.f". Custom
/// operators have the prefix whether or not the program writes it.
llvm::StringRef operatorName(mlir::Operation *op);
/// Its schema, if PyTorch has it.
const torch::Schema *schemaOf(mlir::Operation *op);

} // namespace tw::lower
