// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Coded.h"
#include "IR/ModelLocation.h"

using namespace mlir;

namespace tw {

// The code travels as a prefix of the text, "[TW-IO-0001] ": MLIR diagnostics carry nothing else.
InFlightDiagnostic emitCoded(Location loc, Code code) {
  InFlightDiagnostic diagnostic = emitError(loc);
  diagnostic << "[" << codeName(code) << "] ";
  return diagnostic;
}

InFlightDiagnostic emitReport(Location loc) { return emitRemark(loc); }

Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  Code code = Code::TARGET_1;
  if (text.starts_with("[TW-"))
    if (size_t end = text.find("] "); end != std::string::npos)
      if (auto known = parseCode(std::string_view(text).substr(1, end - 1))) {
        code = *known;
        text.erase(0, end + 2);
      }
  Diagnostic result{code, std::move(text), describePlace(diagnostic.getLocation())};
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string line = note.str();
    if (line.starts_with("help: "))
      result.help = line.substr(6);
    else
      result.notes.push_back(std::move(line));
  }
  if (code == Code::TARGET_1 && result.help.empty())
    result.help = "this is a defect of Tilewright; please report it with the model";
  return result;
}

} // namespace tw
