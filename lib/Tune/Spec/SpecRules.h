// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of a tuning spec, as they are read from it once: which kernels, and what these get.
// It is what the transform dialect's interpreter does with a spec (unittests/Tune/SpecTest.cpp),
// without a module for each kernel, and an action and a diagnostic for each matcher.
#pragma once
#include "Support/Diagnostic.h"
#include "Tune/Spec/TuningDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace tw::tune {

/// A matcher of transform.foreach_match with its action.
struct SpecRule {
  llvm::SmallVector<mlir::Operation *> conditions; // MatchKernelOp and MatchSizeOp
  mlir::DictionaryAttr given;                      // the configuration; null: none

  bool matches(mlir::DictionaryAttr features, mlir::DictionaryAttr sizes) const;
};

/// Those of a spec, of which the first that matches decides. Errors: TUNE_4 for what does anything
/// but matching kernels and giving them configurations.
Result<std::vector<SpecRule>> readRules(mlir::ModuleOp spec);

/// The error that what a spec says at `op` is wrong.
Diagnostic wrongSpec(mlir::Operation *op, std::string message);
constexpr const char *specHelp = "docs/tuning.md has the format of tuning specs";

} // namespace tw::tune
