// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Text/Parse.h"
#include "IR/Coded.h"
#include "IR/ModelLocation.h"
#include "Import/Text/Stages.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace tw {

Result<OwningOpRef<ModuleOp>> parseModule(MLIRContext *context, std::string_view text,
                                          const std::string &name, Code code,
                                          const std::string &help) {
  TW_TRY(text::checkLimits(text, name));
  constexpr size_t maxNotes = 16;
  std::optional<Diagnostic> problem;
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    std::string place = describePlace(diagnostic.getLocation());
    if (!problem && isCoded(diagnostic))
      problem = toDiagnostic(diagnostic);
    else if (!problem)
      problem = Diagnostic{code, diagnostic.str(), place, {}, help};
    else if (problem->notes.size() < maxNotes)
      problem->notes.push_back("also at " + place + ": " + diagnostic.str());
    return success();
  });
  // The parser reads up to a terminating zero, which a mapped file does not have.
  std::string terminated(text);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(terminated, ParserConfig(context), name);
  if (module)
    return module;
  return problem ? *problem : Diagnostic{code, "the text is not MLIR", name, {}, help};
}

} // namespace tw
