// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of tile.reduce and tile.scan, on scalars and vectors.
#pragma once
#include "IR/Tile/Tile.h"
#include "mlir/IR/Builders.h"

namespace tw::target {

/// What combines with every number to that number, in the type that a reduction of this kind
/// carries. For maxima and minima of floats NaN is looked after by the caller.
mlir::Value reduceIdentity(mlir::OpBuilder &b, mlir::Location loc, tile::ReduceKind kind,
                           mlir::Type type);

/// One step of a reduction; the first operand for argmax and argmin.
mlir::Value emitReduceStep(mlir::OpBuilder &b, mlir::Location loc, tile::ReduceKind kind,
                           mlir::Value x, mlir::Value y);

/// The same for scans, whose maxima and minima propagate NaN.
mlir::Value scanIdentity(mlir::OpBuilder &b, mlir::Location loc, tile::ScanKind kind,
                         mlir::Type type);
mlir::Value emitScanStep(mlir::OpBuilder &b, mlir::Location loc, tile::ScanKind kind, mlir::Value x,
                         mlir::Value y);

} // namespace tw::target
