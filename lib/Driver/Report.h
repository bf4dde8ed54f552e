// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `compile --report` says: the kernels, what is fused in each, and what passes remarked.
#pragma once
#include "Driver/Session.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw {

/// Text for people, or one JSON object:
///   {"dispatches": [{"kernel": "k3", "name": "...", "ops": "...", "calls": 2, "source": "..."}],
///    "remarks": [{"place": "...", "text": "..."}]}
std::string describeDispatches(mlir::ModuleOp module, const Session &session, bool json);

} // namespace tw
