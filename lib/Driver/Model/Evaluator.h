// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates expressions over weights by compiling and running them, as any program: tile programs
// for the host CPU.
#pragma once
#include "Driver/Model/Pipeline.h"
#include "Driver/Targets.h"
#include "IO/TemporaryFolder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw {

class ArtifactEvaluator : public ConstantEvaluator {
public:
  /// `inMemory`: no weight, nor what is computed from it, goes to disk.
  ArtifactEvaluator(Session &session, bool inMemory);
  ~ArtifactEvaluator() override;
  mlir::FailureOr<llvm::SmallVector<graph::WeightAttr>>
  evaluate(mlir::OwningOpRef<mlir::ModuleOp> module) override;
  std::vector<std::byte> elementsOf(graph::WeightAttr weight) override;

private:
  /// A new file on disk or in memory; lives as long as this object, or until it is dropped.
  mlir::FailureOr<std::string> createFile(mlir::Location loc);
  void dropFile(const std::string &path);
  mlir::LogicalResult compile(mlir::ModuleOp module, const std::string &artifact);
  /// Writes the results of `function`, which computes them, to a new file of `bytes` bytes, at
  /// these offsets.
  mlir::LogicalResult run(mlir::ModuleOp module, mlir::func::FuncOp function,
                          const std::string &path, int64_t bytes, llvm::ArrayRef<int64_t> offsets);

  Session &session;
  NamedTarget target; // of this host, whatever the artifact is made for
  bool inMemory;
  std::optional<TemporaryFolder> folder; // of the files that the weights are in
  std::map<std::string, int> memory;     // or their descriptors, by path
  int count = 0;
};

} // namespace tw
