// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in the user's model an operation comes from, kept as an MLIR location on every op from
// import to the profile of a kernel.
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tw {

/// One node of an exported graph. Empty or negative parts are unknown.
struct ModelPlace {
  std::string file;       // Python source, "net.py"
  int line = 0;           // in `file`
  std::string function;   // "Net.forward"
  std::string module;     // "encoder.layer.0.attention"
  std::string node;       // "add_3"
  int index = -1;         // of the node in its graph
  std::string model = {}; // "model.pt2"
};

/// A location that carries `place`.
mlir::Location makeModelLoc(mlir::MLIRContext *context, const ModelPlace &place);

/// The place a location carries; of a fused location, that of its first part that has one.
std::optional<ModelPlace> modelPlace(mlir::Location loc);

/// What people call the operator that an operation comes from, "relu_3": its node in an exported
/// graph, or what a text's operation is named (a NameLoc); "" if it is unknown.
std::string nodeName(mlir::Location loc);

/// Locations of the operators that an operation of a graph computes, in order, each once: of those
/// that were fused into it, whose operations stand in its body, and its own.
llvm::SmallVector<mlir::Location> operatorLocs(mlir::Operation *op);

/// " relu_3", to be put behind a noun; "" if it is unknown.
std::string nodeSuffix(mlir::Location loc);

/// For people: "model.pt2: node add_3 (#12), from net.py:88 in Net.forward, module encoder", or
/// file:line:column of a text file; empty when nothing is known.
std::string describePlace(mlir::Location loc);

} // namespace tw
