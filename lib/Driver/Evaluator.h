// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates expressions over weights by compiling and running them, as any program.
#pragma once
#include "Driver/Pipeline.h"
#include "IO/TemporaryFolder.h"
#include <optional>
#include <string>
#include <vector>

namespace tw {

class ArtifactEvaluator : public ConstantEvaluator {
public:
  /// `features`: of this host, whatever the artifact is made for.
  ArtifactEvaluator(Session &session, target::Target &target, std::vector<std::string> features);
  mlir::FailureOr<llvm::SmallVector<graph::WeightAttr>>
  evaluate(mlir::OwningOpRef<mlir::ModuleOp> module) override;

private:
  mlir::LogicalResult compile(mlir::ModuleOp module, const std::string &artifact);

  Session &session;
  target::Target &target;
  std::vector<std::string> features;
  std::optional<TemporaryFolder> folder; // of the files that the weights are in
  int count = 0;
};

} // namespace tw
