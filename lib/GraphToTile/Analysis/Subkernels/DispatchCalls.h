// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of dispatches of a module, each with its calls.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tw::conversion {

class DispatchCalls {
public:
  explicit DispatchCalls(mlir::ModuleOp module);

  llvm::SmallVector<mlir::func::FuncOp> functions; // in order
  llvm::ArrayRef<graph::DispatchOp> of(mlir::func::FuncOp function) const;

  /// Analyses a function as it is called; fails with the reason in `why`.
  mlir::FailureOr<DispatchAnalysis> analyze(mlir::func::FuncOp function, std::string &why) const;

  /// Whether the second operand of a subkernel of a function, a contraction or a convolution, is in
  /// all calls a weight that can be stored as it is wanted.
  bool isRhsWeight(mlir::func::FuncOp function, const Subkernel &subkernel) const;

private:
  /// Whether one of the calls gives to or takes from a kernel written by hand: to be fused with it
  /// they must see the tensor in one shape.
  bool areBesideHandWritten(llvm::ArrayRef<graph::DispatchOp> calls) const;

  llvm::StringMap<llvm::SmallVector<graph::DispatchOp>> calls;
  llvm::StringSet<> handWritten;
};

} // namespace tw::conversion
