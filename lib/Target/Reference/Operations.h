// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One emitter an operation: it writes the elements of its results that lie in this iteration's rows
// (Emitter::range) into their buffers.
#pragma once
#include "Target/Reference/Emitter.h"

namespace tw::target::reference {

using EmitLoops = mlir::LogicalResult (*)(mlir::Operation *op, Emitter &emitter);

/// The emitter of `op`; null when the target cannot do it.
EmitLoops emitLoopsOf(mlir::Operation *op);

mlir::LogicalResult emitGeneric(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitConv(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitConvChannelsLast(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitScan(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitSort(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitScatter(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitInsertSlice(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitGenerate(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitFromElements(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitSplat(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitPad(mlir::Operation *op, Emitter &emitter);
mlir::LogicalResult emitConcat(mlir::Operation *op, Emitter &emitter);

/// Makes the buffer of a view (reshape, slice, cast, reshape by a tensor of sizes) of its source's.
mlir::LogicalResult emitView(mlir::Operation *op, Emitter &emitter);
bool isViewOperation(mlir::Operation *op);

} // namespace tw::target::reference
