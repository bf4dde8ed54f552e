// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether computations become several kernels: as the target chooses, or as decisions about their
// operators say (IR/Graph/Decisions.h).
#pragma once
#include "GraphToTile/Analysis/Subkernels/DispatchCalls.h"
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "IR/Graph/Decisions.h"

namespace tw::conversion {

class CutDecisions {
public:
  CutDecisions(mlir::ModuleOp module, const DispatchCalls &calls,
               const ConfigurationChooser &chooser)
      : decisions(module), calls(calls), chooser(chooser) {}

  /// The cut of a computation of `function`, noted where another one is possible.
  tile::Cut choose(mlir::func::FuncOp function, const ConfigurationProblem &problem);
  /// Notes one that a configuration gives: it goes before decisions.
  void noteGiven(mlir::func::FuncOp function, const ConfigurationProblem &problem, tile::Cut cut);

  /// Writes what was noted to the module.
  void store() { decisions.store(); }

private:
  /// The target's, else the first that is possible and may pay; none where there is nothing to
  /// decide.
  tile::Cut possibleCut(const ConfigurationProblem &problem, tile::Cut chosen) const;

  void note(llvm::ArrayRef<mlir::Location> operators, tile::Cut cut, llvm::StringRef reason);

  graph::Decisions decisions;
  const DispatchCalls &calls;
  const ConfigurationChooser &chooser;
};

} // namespace tw::conversion
