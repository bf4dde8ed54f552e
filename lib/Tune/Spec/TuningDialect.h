// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tuning` dialect and its matchers (Tuning.td).
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Tune/Spec/Tuning.dialect.h.inc"
#define GET_OP_CLASSES
#include "Tune/Spec/Tuning.ops.h.inc"

namespace tw::tune {

/// The dialect, and the matchers as an extension of the transform dialect.
void registerTuningDialect(mlir::DialectRegistry &registry);

/// Attributes of a spec.
constexpr llvm::StringLiteral versionName = "tuning.version", targetName = "tuning.target",
                              decisionsName = "tuning.decisions", measuredName = "tuning.measured";

} // namespace tw::tune
