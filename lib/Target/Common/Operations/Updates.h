// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several programs may do to one place in memory at a time.
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/Common/Index/Index.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tw::target {

/// The atomic operation of an update of elements of a type; `any` exchanges.
mlir::LLVM::AtomicBinOp atomicOf(tile::Update update, mlir::Type element);

/// Writes `message` (from 1), `value` and `bound` to a failure record (docs/contracts.md, "Target
/// level"), unless there is a failure in it already.
void recordFailure(mlir::OpBuilder &b, mlir::Location loc, mlir::Value record, int64_t message,
                   mlir::Value value, const Ix &bound);

} // namespace tw::target
