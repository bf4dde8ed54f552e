// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/Pipeline.h"
#include "Dispatch/Passes.h"
#include "Driver/KernelTool/KernelFiles.h"
#include "Driver/KernelTool/KernelProgram.h"
#include "Graph/Passes.h"
#include "IR/Tile/Tile.h"
#include "Import/Pt2/Pt2.h"
#include "Import/Text/Text.h"
#include "Tile/Binding/BindCalls.h"
#include "Tile/Passes.h"
#include "TorchToGraph/TorchToGraph.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include <filesystem>
#include <fmt/format.h>

using namespace mlir;

namespace tw {

Pipeline::Pipeline(Session &session, MLIRContext &context, std::string dumpTo, FileUses files,
                   bool hasValues)
    : session(session), context(context), dumpTo(std::move(dumpTo)), files(std::move(files)),
      hasValues(hasValues) {}

void Pipeline::dump(const std::string &stage, ModuleOp module) {
  if (dumpTo.empty() || session.outcome() != TILEWRIGHT_FINE)
    return;
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  write(fmt::format("{:02}-{}.mlir", ++dumps, stage), text);
}

bool Pipeline::write(const std::string &name, std::string_view text) {
  std::filesystem::path path = std::filesystem::path(dumpTo) / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::span<const std::byte> bytes[] = {std::as_bytes(std::span(text))};
  Status status =
      error ? Status(cannotWrite(path.parent_path(), error.value())) : Status(files.writes(path));
  if (status)
    status = writeFile(path, bytes);
  if (status)
    return true;
  Diagnostic problem = status.error();
  if (problem.help.empty())
    problem.help = "give another folder to dump to";
  session.error(problem);
  return false;
}

void Pipeline::dumpKernels(ModuleOp module, const std::string &target) {
  for (const NamedKernel &named : namedKernels(module)) {
    KernelFiles made = kernelFiles(named, target, session.cancellation());
    if (session.isCancelled())
      return;
    if (!made.remark.empty())
      session.remarks.emplace_back("kernels/" + named.name, made.remark);
    for (auto [end, text] : {std::pair(".cpp", &made.source), std::pair(".mlir", &made.tile),
                             std::pair(".plan", &made.plan), std::pair(".s", &made.assembly)})
      if (!text->empty() && !write("kernels/" + named.name + end, *text))
        return;
  }
}

LogicalResult Pipeline::exchangeKernels(ModuleOp module, const ModelKernels &kernels,
                                        const std::string &target) {
  if (Status status = replaceKernels(module, kernels, session); !status)
    session.error(status.error());
  if (!dumpTo.empty() && session.outcome() == TILEWRIGHT_FINE) {
    session.beginStage("kernels");
    dumpKernels(module, target);
    session.endStage();
  }
  return success(session.outcome() == TILEWRIGHT_FINE);
}

Result<OwningOpRef<ModuleOp>> Pipeline::read(const ModelSource &model,
                                             const ModelKernels &kernels) {
  if (!model.kernel.empty())
    return makeKernelProgram(kernels, model.kernel);
  if (model.memory)
    return importPt2(&context, *model.memory, model.weightsOptional);
  const std::string &path = model.path;
  std::string extension = std::filesystem::path(path).extension().string();
  bool isSource = extension == ".cpp" || extension == ".cc" || extension == ".cxx";
  if (extension == ".mlir") {
    TW_ASSIGN(auto text, importText(&context, path, {model.entry}));
    return std::move(text.module);
  }
  if (extension == ".pt2")
    return importPt2(&context, path, {model.entry});
  return Diagnostic{
      Code::DRIVER_4,
      fmt::format("{} is not a model: its name ends in \"{}\", not in .pt2 or .mlir", path,
                  extension),
      {},
      {},
      isSource ? "kernels in C++ are given to a model, with --kernels=FILE, in Python with "
                 "kernels=[...]; tilewright kernel run and check try them"
               : "export the model with torch.export.save, or give text as .mlir"};
}

OwningOpRef<ModuleOp> Pipeline::import(const ModelSource &model, const ModelKernels &kernels) {
  session.beginStage("import");
  OwningOpRef<ModuleOp> module;
  if (auto result = read(model, kernels))
    module = std::move(*result);
  else
    session.error(result.error());
  session.endStage();
  if (session.isCancelled())
    return nullptr;
  if (module)
    dump("import", *module);
  return module;
}

LogicalResult Pipeline::runPasses(const std::string &stage, ModuleOp module,
                                  llvm::function_ref<void(OpPassManager &)> add) {
  session.beginStage(stage);
  PassManager passes(&context);
  passes.enableVerifier(false); // after each pass: that takes as long as the passes
  add(passes);
  bool ok = succeeded(passes.run(module)) && succeeded(verify(module));
  session.endStage();
  if (session.isCancelled())
    return failure();
  if (!ok)
    return session.failStage(stage), failure();
  dump(stage, module);
  return success(session.outcome() == TILEWRIGHT_FINE);
}

LogicalResult Pipeline::toGraph(ModuleOp module, const ModelKernels &kernels) {
  return runPasses("lower", module, [&](OpPassManager &pm) {
    pm.addPass(createTorchToGraphPass(kernels.names));
    pm.addPass(tile::createBindCalls(kernels.module.get()));
    pm.addNestedPass<tile::KernelOp>(tile::createSimplify());
    if (hasValues)
      pm.addPass(createNumberValues());
  });
}

LogicalResult Pipeline::toPlainDispatches(ModuleOp module, const ModelKernels &kernels) {
  if (failed(toGraph(module, kernels)))
    return failure();
  return runPasses("graph", module, [&](OpPassManager &pm) {
    buildPlainGraphPipeline(pm);
    buildPlainDispatchPipeline(pm);
    pm.addPass(createLowerAffinePass());
  });
}

LogicalResult Pipeline::toDispatches(ModuleOp module, ConstantEvaluator *evaluator,
                                     const NamedTarget &target, const ModelKernels &kernels) {
  if (failed(toGraph(module, kernels)))
    return failure();
  return runPasses("graph", module, [&](OpPassManager &pm) {
    buildGraphPipeline(pm, evaluator, target.roundsProducts);
    buildDispatchPipeline(pm, target.chooser->fusionLimits());
    pm.addPass(createLowerAffinePass());
  });
}

LogicalResult Pipeline::configure(ModuleOp module,
                                  std::shared_ptr<const conversion::ConfigurationChooser> chooser,
                                  const conversion::ConfigurationOverrides &overrides,
                                  conversion::ConfigurationRules *rules) {
  return runPasses("configure", module, [&](OpPassManager &pm) {
    pm.addPass(conversion::createConfigureDispatches(std::move(chooser), &overrides, rules));
  });
}

LogicalResult
Pipeline::toTilePrograms(ModuleOp module, ConstantEvaluator *evaluator,
                         const std::shared_ptr<const conversion::ConfigurationChooser> &chooser) {
  return runPasses("tile", module, [&](OpPassManager &pm) {
    pm.addPass(conversion::createTilePrograms(chooser));
    pm.addPass(createResolveDims());
    // Kernels are for tile-simplify: they may not hold the constants that this folds tiles to.
    pm.addNestedPass<func::FuncOp>(createGraphCanonicalizer());
    pm.addPass(createGraphCSE());
    pm.addNestedPass<tile::KernelOp>(tile::createSimplify());
    if (evaluator) { // weights that kernels want in another form
      pm.addPass(createHoistWeights(evaluator));
      pm.addNestedPass<func::FuncOp>(createGraphCanonicalizer());
    }
    conversion::RecomputationCosts costs = chooser->recomputationCosts();
    pm.addPass(tile::createFuseDispatches({costs.dispatch, costs.operation, costs.function,
                                           costs.access, chooser->leastTransposedRun()}));
    pm.addNestedPass<tile::KernelOp>(tile::createSimplify());
    conversion::RowFusionLimits rows = chooser->rowFusionLimits();
    pm.addPass(tile::createFuseRows(
        {rows.mostOperations, rows.mostBytes, rows.mostSharedBytes, rows.leastPrograms}));
    pm.addNestedPass<tile::KernelOp>(tile::createSimplify());
    conversion::SplitLimits limits = chooser->splitLimits();
    pm.addPass(
        tile::createSplitLoops({limits.enoughPrograms, limits.wantedPrograms, limits.leastWork,
                                limits.partsOfUnknown, limits.loadWork, limits.mostWrittenOut}));
    pm.addNestedPass<tile::KernelOp>(tile::createSimplify());
    pm.addPass(tile::createUpdateInPlace());
    pm.addNestedPass<tile::KernelOp>(tile::createSimplify());
    pm.addPass(tile::createShareKernels());
    pm.addPass(tile::createMarkConstants());
  });
}

LogicalResult Pipeline::toKernels(ModuleOp module, const NamedTarget &target) {
  if (target.isPlain())
    return toPlainDispatches(module);
  if (failed(toDispatches(module, /*evaluator=*/nullptr, target)) ||
      failed(configure(module, target.chooser, {})))
    return failure();
  return toTilePrograms(module, /*evaluator=*/nullptr, target.chooser);
}

LogicalResult Pipeline::allowTF32(ModuleOp module) {
  return runPasses("precision", module,
                   [](OpPassManager &pm) { pm.addPass(tile::createAllowTF32()); });
}

LogicalResult Pipeline::toArtifact(ModuleOp module, target::Target &target,
                                   ArtifactOptions options) {
  std::string stage;
  options.stage = [&](StringRef name) {
    if (!stage.empty())
      session.endStage();
    stage = name.str();
    session.beginStage(stage);
  };
  options.lowered = [&](ModuleOp lowered) { dump("llvm", lowered); };
  options.cancellation = &session.cancellation();
  bool ok = succeeded(writeArtifact(module, target, options));
  if (!stage.empty())
    session.endStage();
  if (!ok && !session.isCancelled())
    session.failStage(stage);
  return success(ok && session.outcome() == TILEWRIGHT_FINE);
}

} // namespace tw
