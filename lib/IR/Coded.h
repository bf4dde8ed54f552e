// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coded errors through MLIR's diagnostics: what a pass reports keeps its stable code, its notes and
// its help until the driver turns it back into a tw::Diagnostic.
#pragma once
#include "Support/Diagnostic.h"
#include "mlir/IR/Diagnostics.h"

namespace tw {

/// Emits an error at `loc` that carries `code`. Append the message with <<; a note that starts with
/// "help: " becomes the help line.
mlir::InFlightDiagnostic emitCoded(mlir::Location loc, Code code);

/// Emits a remark: an optimisation made or declined, and why. Shown by --report.
mlir::InFlightDiagnostic emitReport(mlir::Location loc);

/// Whether it comes from emitCoded.
bool isCoded(mlir::Diagnostic &diagnostic);

/// The tw::Diagnostic of an MLIR error. One without a code of ours is an internal error
/// (TW-TARGET-0001): a user's mistake must have been found before.
Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic);

} // namespace tw
