// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exported PyTorch programs (.pt2, as torch.export.save of 2.9 to 2.13 writes them) as modules of
// the torch dialect, in the form that docs/contracts.md calls the torch level.
#pragma once
#include "Support/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// The storage of a parameter, buffer or constant in memory.
struct MemoryWeight {
  std::string_view name; // as the program's signature calls it
  std::span<const std::byte> storage;
  /// Only calls give it: a tw.weight of IR/Graph/CallWeights.h, whose number is its place in the
  /// list. The graph says that it is row-major.
  bool isGivenByCalls = false;
};

/// A program in memory. All of it must outlive what is made of it.
struct MemoryProgram {
  std::string name; // for messages
  std::string_view json;
  std::vector<MemoryWeight> weights;
};

/// The same for a program in memory; tw.weight then refers to memory. Sizes, strides and offsets of
/// weights are those of the graph. A weight that is not given is refused (IMPORT_5) unless
/// `weightsOptional`: then it is zeros.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
importPt2(mlir::MLIRContext *context, const MemoryProgram &program, bool weightsOptional = false);

} // namespace tw
