// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Pt2.h"
#include "IR/ModelLocation.h"
#include "Import/Pt2/ProgramImporter.h"
#include "Import/Pt2/RecordedSizes.h"
#include "mlir/IR/Verifier.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {

using namespace pt2;

/// What the verifier finds is a contradiction in the file: the importer checks only what it needs.
static Status verifyImported(ModuleOp module, const std::string &path) {
  std::optional<Diagnostic> problem;
  ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (!problem)
      problem = Diagnostic{Code::IMPORT_20,
                           fmt::format("the program contradicts itself: {}", diagnostic.str()),
                           describePlace(diagnostic.getLocation()),
                           {},
                           "the file is damaged; export the model again"};
    return success();
  });
  if (succeeded(verify(module)))
    return {};
  return problem.value_or(Diagnostic{Code::IMPORT_20, "the program contradicts itself", path});
}

/// `path`: of the file that the weights are in, or empty.
static Result<OwningOpRef<ModuleOp>> importProgram(MLIRContext *context, const std::string &name,
                                                   const std::string &path,
                                                   const JsonDocument &document,
                                                   const WeightSource &weights) {
  TW_ASSIGN(Program program, readProgram(document));
  forgetWrongSizes(program);
  context->loadDialect<torch::TorchDialect, torch_c::TorchConversionDialect, graph::TWDialect,
                       func::FuncDialect>();
  ImportState state(context, name);
  OwningOpRef<ModuleOp> module = ModuleOp::create(state.emit.loc);
  ProgramImporter(state, program, weights, path).import(*module);
  if (!state.problems.none())
    return state.problems.combined();
  TW_TRY(verifyImported(*module, path.empty() ? name : path));
  return module;
}

Result<OwningOpRef<ModuleOp>> importPt2(MLIRContext *context, const std::string &path,
                                        const Pt2Options &options) {
  TW_ASSIGN(Archive archive, Archive::open(path, options.model));
  TW_ASSIGN(std::string_view text, archive.text(archive.modelEntry()));
  TW_ASSIGN(
      JsonDocument document,
      JsonDocument::parse(text, fmt::format("{}: {}", archive.baseName(), archive.modelEntry())));
  TW_ASSIGN(WeightTable weights, WeightTable::read(archive));
  return importProgram(context, archive.baseName(), path, document, weights);
}

Result<OwningOpRef<ModuleOp>> importPt2(MLIRContext *context, const MemoryProgram &program,
                                        bool weightsOptional) {
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(program.json, program.name));
  TW_ASSIGN(MemoryWeights weights, MemoryWeights::of(program.weights, weightsOptional));
  return importProgram(context, program.name, "", document, weights);
}

} // namespace tw
