// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the torch level to the graph level: docs/contracts.md says what goes in and comes out,
// docs/lowering.md how lowerings are written, docs/operators.md what there is.
#pragma once
#include "IR/ModelLocation.h"
#include "Support/KernelName.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class Pass;
class DialectRegistry;
} // namespace mlir

namespace tw {

/// Rewrites @main (or the only public function) and all it calls. Functions without torch types
/// stay as they are. Reports every operator that is not supported before failing;
/// a custom operator is supported when there is a kernel for it, and becomes a call of that kernel.
std::unique_ptr<mlir::Pass> createTorchToGraphPass(KernelNames kernels);
/// Makes the pass known as "torch-to-graph".
void registerTorchToGraphPass();

/// An operator without a lowering.
struct UnsupportedOperator {
  std::string op;     // "aten.nonzero"
  std::string place;  // "model.pt2: node nonzero (#4), from net.py:8 in Net.forward"
  std::string reason; // empty when it is only missing
  std::string inputs; // "f32[2,?], int"
  ModelPlace where;   // the same place, in parts
};

/// All operators of the module that have no lowering, one entry for each place. Emits nothing.
std::vector<UnsupportedOperator> findUnsupported(mlir::ModuleOp module, const KernelNames &kernels);

/// docs/operators.md: every operator with a lowering, by family, and those refused with a reason.
std::string operatorsPage();

/// Overloads that PyTorch tags `core` and that are neither lowered nor refused with a reason.
std::vector<std::string> coreOperatorsWithoutAnswer();

} // namespace tw
