// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of operations that the reference target can run, and what it emits for those it
// knows.
#pragma once
#include "IR/Graph/Graph.h"
#include "Target/Reference/Emitter.h"
#include "Target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "Target/Reference/PlainLoops.h.inc"

namespace tw::target::reference {

/// Adds the functions of `kernel` to `into`, as loops (scf, arith, math, llvm). Index arithmetic is
/// added to `kernel`.
mlir::FailureOr<KernelInfo> lowerKernel(mlir::func::FuncOp kernel, mlir::ModuleOp into);

mlir::LogicalResult emitGeneric(mlir::linalg::LinalgOp op, Emitter &e);
mlir::LogicalResult emitAttention(graph::AttentionOp op, Emitter &e);
mlir::LogicalResult emitAttentionGradient(graph::AttentionGradientOp op, Emitter &e);
mlir::LogicalResult emitConv(graph::ConvOp op, Emitter &e);
mlir::LogicalResult emitScan(graph::ScanOp op, Emitter &e);
mlir::LogicalResult emitScatter(graph::ScatterOp op, Emitter &e);
mlir::LogicalResult emitSort(graph::SortOp op, Emitter &e);
mlir::LogicalResult emitExtractSlice(mlir::tensor::ExtractSliceOp op, Emitter &e);
mlir::LogicalResult emitInsertSlice(mlir::tensor::InsertSliceOp op, Emitter &e);

} // namespace tw::target::reference
