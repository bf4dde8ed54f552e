// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR text from files nobody trusts.
#pragma once
#include "Support/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tw {

/// Parses and verifies a module of the dialects that are loaded; `name` stands for the file in
/// locations and messages. Errors: IMPORT_100 for text that could exhaust the parser; `code`, with
/// `help`, where the text is wrong: later errors are notes of the first.
Result<mlir::OwningOpRef<mlir::ModuleOp>> parseModule(mlir::MLIRContext *context,
                                                      std::string_view text,
                                                      const std::string &name, Code code,
                                                      const std::string &help);

} // namespace tw
