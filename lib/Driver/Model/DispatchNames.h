// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of a module are called for people: after the model's nodes that they compute,
// and their arguments after the model's tensors. A model's are the same in each compilation.
#pragma once
#include "IR/Graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace tw {

struct NamedKernel {
  mlir::Operation *kernel; // a tile.kernel, or a function for the reference target
  std::string name;        // an identifier: "linear_relu"; each once
  graph::DispatchOp call;  // the first one
};

/// All kernels that are called, in the order of their first calls.
std::vector<NamedKernel> namedKernels(mlir::ModuleOp module);

/// A name for each argument of a tile program, after what its first call gives: identifiers, each
/// once.
std::vector<std::string> argumentNames(const NamedKernel &named);

} // namespace tw
