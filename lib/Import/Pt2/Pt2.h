// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exported PyTorch programs (.pt2, as torch.export.save of 2.9 to 2.13 writes them) as modules of
// the torch dialect, in the form that docs/contracts.md calls the torch level.
#pragma once
#include "Support/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tw {

struct Pt2Options {
  /// Which of the archive's models; the only one, or the one called "model", when empty.
  std::string model;
};

/// Reads the program at `path` into a module with one function, main. Weights are referred to by
/// their place in the file (tw.weight); no byte of them is read and no pickle is opened. What
/// cannot be imported is reported all at once: the first problem, the others in its notes. The
/// context needs the dialects torch, torch_c, tw and func; they are loaded here.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
importPt2(mlir::MLIRContext *context, const std::string &path, const Pt2Options &options = {});

} // namespace tw
