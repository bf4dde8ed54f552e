// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from a model to an artifact, stage by stage: import, lower, graph, then those of
// Program/Artifact/Artifact.h. Each stage is timed, verified, and dumped when asked for.
#pragma once
#include "Driver/CApi/Session.h"
#include "Driver/Model/ModelKernels.h"
#include "Driver/Model/ModelSource.h"
#include "Driver/Targets.h"
#include "Graph/ConstantEvaluator.h"
#include "GraphToTile/Passes.h"
#include "IO/OutputFile.h"
#include "Program/Artifact/Artifact.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <string>

namespace mlir {
class OpPassManager;
}

namespace tw {

class Pipeline {
public:
  /// `dumpTo`: a folder that gets NN-stage.mlir after every stage, or empty; none of them replaces
  /// a file of `files`.
  /// `hasValues`: the values of the graph get numbers (IR/Graph/Values.h).
  Pipeline(Session &session, mlir::MLIRContext &context, std::string dumpTo, FileUses files = {},
           bool hasValues = false);

  /// Reads a .pt2 or .mlir file, or a model in memory, or calls one of `kernels`. The module is at
  /// the torch level, or at the graph level for linalg text and kernels.
  mlir::OwningOpRef<mlir::ModuleOp> import(const ModelSource &model,
                                           const ModelKernels &kernels = {});
  /// From either to the dispatch level; calls of `kernels` become dispatches of tile programs.
  /// `evaluator` may be null. The target is not plain: its chooser limits what shares a kernel.
  mlir::LogicalResult toDispatches(mlir::ModuleOp module, ConstantEvaluator *evaluator,
                                   const NamedTarget &target, const ModelKernels &kernels = {});
  /// As toDispatches, without the passes that toDispatches is to be checked for: a dispatch for
  /// each operation, nothing fused, laid out otherwise or evaluated at compile time.
  mlir::LogicalResult toPlainDispatches(mlir::ModuleOp module, const ModelKernels &kernels = {});
  /// Dispatches that tile programs cover get configurations: those of `overrides`, else those of
  /// `rules`, which may be null, the others by `chooser`.
  mlir::LogicalResult configure(mlir::ModuleOp module,
                                std::shared_ptr<const conversion::ConfigurationChooser> chooser,
                                const conversion::ConfigurationOverrides &overrides,
                                conversion::ConfigurationRules *rules = nullptr);
  /// Dispatches that were configured by `chooser` become tile programs; those of weights alone are
  /// run. `evaluator` may be null.
  mlir::LogicalResult
  toTilePrograms(mlir::ModuleOp module, ConstantEvaluator *evaluator,
                 const std::shared_ptr<const conversion::ConfigurationChooser> &chooser);
  /// All of the above as the target chooses by itself, with nothing evaluated; only plain
  /// dispatches where the target is plain.
  mlir::LogicalResult toKernels(mlir::ModuleOp module, const NamedTarget &target);
  /// Puts in the kernels that were edited. Where stages are dumped, all kernels are too, as
  /// DIR/kernels/NAME.cpp, .mlir and .s; `target` as for CompiledKernel::print.
  mlir::LogicalResult exchangeKernels(mlir::ModuleOp module, const ModelKernels &kernels,
                                      const std::string &target);
  /// Products of f32 may round their operands from now on.
  mlir::LogicalResult allowTF32(mlir::ModuleOp module);
  /// Writes the artifact.
  mlir::LogicalResult toArtifact(mlir::ModuleOp module, target::Target &target,
                                 ArtifactOptions options);

private:
  Result<mlir::OwningOpRef<mlir::ModuleOp>> read(const ModelSource &model,
                                                 const ModelKernels &kernels);
  mlir::LogicalResult runPasses(const std::string &stage, mlir::ModuleOp module,
                                llvm::function_ref<void(mlir::OpPassManager &)> add);
  mlir::LogicalResult toGraph(mlir::ModuleOp module, const ModelKernels &kernels);
  void dump(const std::string &stage, mlir::ModuleOp module);
  void dumpKernels(mlir::ModuleOp module, const std::string &target);
  /// Writes a file of the folder for dumps; false, with an error, if it cannot be.
  bool write(const std::string &name, std::string_view text);

  Session &session;
  mlir::MLIRContext &context;
  std::string dumpTo;
  FileUses files;
  bool hasValues;
  int dumps = 0;
};

} // namespace tw
