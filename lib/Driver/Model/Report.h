// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `compile --report` says: the kernels, what is fused in each, and what passes remarked.
#pragma once
#include "Driver/CApi/Session.h"
#include "Driver/Model/ConfigurationFile.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw {

/// `target` runs tile programs. Text for people, or one JSON object:
///   {"dispatches": [{"kernel": "k3", "name": "...", "ops": "...", "calls": 2, "source": "..."}],
///    "configurations": [{"signature": "...", "ops": "...", "source": "...", "cuts": ["none"],
///                        "kernels": [{"kernel": "k3", "kind": "contraction", "rows": 8, ...}]}],
///    "kernels": [{"kernel": "gemm", "parameters": {"BM": 32}}],
///    "remarks": [{"place": "...", "text": "..."}]}
std::string describeDispatches(mlir::ModuleOp module, const Session &session,
                               const std::vector<ConfiguredDispatch> &configured,
                               const KernelParameters &parameters, llvm::StringRef target,
                               bool json);

} // namespace tw
