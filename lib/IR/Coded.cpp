// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Coded.h"
#include "IR/CodedWarning.h"
#include "IR/ModelLocation.h"

using namespace mlir;

namespace tw {

/// How a message begins for those who see it as MLIR prints it (tilewright-opt).
static std::string prefixOf(Code code) { return "[" + codeName(code) + "] "; }

static InFlightDiagnostic withCode(InFlightDiagnostic diagnostic, Code code) {
  if (mlir::Diagnostic *made = diagnostic.getUnderlyingDiagnostic())
    made->getMetadata().emplace_back(static_cast<int64_t>(code));
  diagnostic << prefixOf(code);
  return diagnostic;
}

InFlightDiagnostic emitCoded(Location loc, Code code) { return withCode(emitError(loc), code); }

InFlightDiagnostic emitCodedWarning(Location loc, Code code) {
  return withCode(emitWarning(loc), code);
}

InFlightDiagnostic emitReport(Location loc) { return emitRemark(loc); }

bool isCoded(mlir::Diagnostic &diagnostic) { return !diagnostic.getMetadata().empty(); }

Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  Code code = Code::TARGET_1;
  if (isCoded(diagnostic)) {
    code = static_cast<Code>(diagnostic.getMetadata().front().getAsInteger());
    text.erase(0, prefixOf(code).size());
  }
  Diagnostic result{code, std::move(text), describePlace(diagnostic.getLocation())};
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string line = note.str();
    if (line.starts_with("help: "))
      result.help = line.substr(6);
    else
      result.notes.push_back(std::move(line));
  }
  return result;
}

} // namespace tw
