// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Text/Text.h"
#include "IO/File.h"
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw {

static void loadDialects(MLIRContext *context) {
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                       linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                       tensor::TensorDialect, graph::TWDialect, torch::TorchDialect,
                       torch_c::TorchConversionDialect>();
}

/// Notes of an MLIR diagnostic that help a reader of the text; the printed operation does not.
static void appendNotes(mlir::Diagnostic &from, Diagnostic &to) {
  for (mlir::Diagnostic &note : from.getNotes())
    if (std::string text = note.str(); !text.starts_with("see current operation"))
      to.notes.push_back(std::move(text));
}

static constexpr const char *kForms =
    "the text must be the torch dialect as torch-mlir prints it, or linalg on tensors";

/// What MLIR says about an operation whose dialect is not there, in a user's words; empty for
/// other messages.
static std::string unknownDialect(StringRef message) {
  StringRef dialect = message, op = message;
  if (!dialect.consume_front("Dialect `"))
    return {};
  dialect = dialect.take_until([](char c) { return c == '\''; });
  op = op.substr(op.find("op '") + 4).take_until([](char c) { return c == '\''; });
  return fmt::format("operation '{}' is of dialect {}, which is not supported in models given as "
                     "text",
                     op.str(), dialect.str());
}

static NamedAttrList withoutOurs(DictionaryAttr dictionary) {
  NamedAttrList kept;
  for (NamedAttribute attribute : dictionary ? dictionary.getValue() : ArrayRef<NamedAttribute>()) {
    bool isName = attribute.getName() == "tw.name" && isa<StringAttr>(attribute.getValue());
    if (isName || !attribute.getName().strref().starts_with("tw."))
      kept.push_back(attribute);
  }
  return kept;
}

/// The attributes `tw.*` of functions are the importer's to set; it takes names alone from a text.
static void dropOurAttributes(ModuleOp module) {
  MLIRContext *context = module.getContext();
  module->setDiscardableAttrs(
      withoutOurs(module->getDiscardableAttrDictionary()).getDictionary(context));
  module.walk([&](func::FuncOp function) {
    function->setDiscardableAttrs(
        withoutOurs(function->getDiscardableAttrDictionary()).getDictionary(context));
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttrs(i, withoutOurs(function.getArgAttrDict(i)).getDictionary(context));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.setResultAttrs(i, withoutOurs(function.getResultAttrDict(i)).getDictionary(context));
  });
}

/// Parses and verifies; the first error is the error, later ones its notes. Operations of unknown
/// dialects in the generic form are read, so that they can be refused by name with all others.
static Result<OwningOpRef<ModuleOp>> parse(MLIRContext *context, std::string_view text,
                                           const std::string &name) {
  constexpr size_t maxNotes = 16;
  std::optional<Diagnostic> problem;
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    std::string place = describePlace(diagnostic.getLocation());
    if (std::string unknown = unknownDialect(diagnostic.str()); !problem && !unknown.empty()) {
      problem = Diagnostic{Code::IMPORT_104, unknown, place, {}, kForms};
    } else if (!problem) {
      problem = Diagnostic{Code::IMPORT_101, diagnostic.str(), place, {}, kForms};
      appendNotes(diagnostic, *problem);
    } else if (problem->notes.size() < maxNotes) {
      problem->notes.push_back("also at " + place + ": " + diagnostic.str());
    }
    return success();
  });
  // The parser reads up to a terminating zero, which a mapped file does not have.
  std::string terminated(text);
  context->allowUnregisteredDialects(true);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      terminated, ParserConfig(context, /*verifyAfterParse=*/false), name);
  if (module) {
    dropOurAttributes(*module);
    text::nameSymbols(*module);
  }
  bool isFine = module && succeeded(verify(*module));
  context->allowUnregisteredDialects(false);
  if (isFine)
    return module;
  return problem ? *problem : Diagnostic{Code::IMPORT_101, "the text is not MLIR", name};
}

Result<ImportedText> importTextString(MLIRContext *context, std::string_view text,
                                      const std::string &name, const TextOptions &options) {
  TW_TRY(text::checkLimits(text, name));
  loadDialects(context);
  TW_ASSIGN(OwningOpRef<ModuleOp> module, parse(context, text, name));
  TW_TRY(text::checkSymbols(*module));
  TW_ASSIGN(func::FuncOp entry, text::isolateEntry(*module, name, options.entry));
  text::nameOperations(entry);
  TW_TRY(text::makeValueSemantic(entry));
  TW_TRY(text::resolveResources(entry));
  text::flattenResults(entry);
  text::normalizeAssertions(entry);
  TextLevel level = text::levelOf(entry);
  if (level == TextLevel::Graph)
    text::normalizeForms(entry);
  TW_TRY(text::checkSupported(entry, level));
  if (level == TextLevel::Graph) {
    text::assertSizes(entry);
    text::checkPositions(entry);
  }
  text::annotate(entry, level);
  if (level == TextLevel::Torch)
    text::simplify(entry);
  return ImportedText{std::move(module), level};
}

Result<ImportedText> importText(MLIRContext *context, const std::string &path,
                                const TextOptions &options) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  // The file's own name, as users write places: model.mlir:12:3.
  std::string name = path.substr(path.rfind('/') + 1);
  return importTextString(context, file.text(), name, options);
}

namespace text {

Diagnostic errorAt(Operation *op, Code code, std::string message, std::string help) {
  return Diagnostic{code, std::move(message), describePlace(op->getLoc()), {}, std::move(help)};
}

void setReturned(func::FuncOp entry, ValueRange values) {
  Operation *terminator = entry.front().getTerminator();
  terminator->setOperands(values);
  entry.setType(FunctionType::get(entry.getContext(), entry.getArgumentTypes(),
                                  terminator->getOperandTypes()));
}

} // namespace text
} // namespace tw
