// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coded warnings through MLIR's diagnostics (IR/Coded.h has errors and remarks).
#pragma once
#include "IR/Coded.h"

namespace tw {

/// Emits a warning at `loc` that carries `code`, for what a user must know without --report. The
/// driver gives each text once. Notes as those of emitCoded.
mlir::InFlightDiagnostic emitCodedWarning(mlir::Location loc, Code code);

} // namespace tw
