// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR text as a model: the torch dialect as torch-mlir prints it, or linalg on tensors.
#pragma once
#include "Support/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tw {

struct TextOptions {
  /// The function to compile; when empty `main`, `forward` or the only public one.
  std::string entry;
};

enum class TextLevel { Torch, Graph };

/// A module with one function, @main, in the form that docs/contracts.md gives for its level.
struct ImportedText {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TextLevel level; // Torch when an argument, result or operation is of the torch dialect
};

/// Reads the file at `path`. Arguments are called arg0, arg1, ... and results output_0, ... unless
/// the text has tw.name attributes; calls are inlined; !torch.tensor becomes !torch.vtensor where
/// nothing writes to it, and a torch.overwrite.tensor.contents of an argument becomes an
/// input_mutation result. Errors IMPORT_100 to IMPORT_107 say where in the text they are. Needed
/// dialects are loaded into the context.
Result<ImportedText> importText(mlir::MLIRContext *context, const std::string &path,
                                const TextOptions &options = {});

/// The same for text in memory; `name` stands for the file in locations and messages.
Result<ImportedText> importTextString(mlir::MLIRContext *context, std::string_view text,
                                      const std::string &name, const TextOptions &options = {});

} // namespace tw
