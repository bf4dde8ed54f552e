// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones the body of an operation onto tiles: a scalar of the body becomes a tile with an axis for
// each dimension of the loop program, 1 long where it does not extend.
#pragma once
#include "GraphToTile/Lowering/LoopFrame.h"
#include "GraphToTile/Lowering/TileScopes.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tw::conversion {

class BodyEmitter {
public:
  BodyEmitter(TileBuilder &b, LoopFrame &frame, TileScopes &scopes, const Statement &statement)
      : b(b), frame(frame), scopes(scopes), statement(statement) {}

  /// Says which tile an argument of the body is.
  void map(mlir::Value argument, mlir::Value tile) { known[argument] = tile; }
  /// The tile that a scalar of the body is, or one from outside of it.
  mlir::Value emit(mlir::Value scalar);
  /// A box of memory; `pad`: the scalar that lies outside of the buffer, may be null.
  mlir::Value load(const Access &access, mlir::Value pad);

private:
  mlir::Value compute(mlir::Value scalar);
  mlir::Value constant(mlir::Attribute value);
  mlir::Value argument(mlir::BlockArgument value);
  mlir::Value coordinate(unsigned loop);
  mlir::Value castIndex(mlir::Operation *op);
  mlir::Value lookUp(mlir::Operation *op);
  mlir::Value gather(mlir::tensor::ExtractOp op, const LookUp &lookUp);
  mlir::Value gatherBox(mlir::tensor::ExtractOp op, mlir::Value buffer, mlir::Value pad);
  mlir::Value ceilDiv(mlir::arith::CeilDivUIOp op);
  mlir::Value check(graph::CheckIndexOp op);
  mlir::Value size(mlir::tensor::DimOp op);
  mlir::Value elementwise(mlir::Operation *op);
  void loop(mlir::scf::ForOp op);

  mlir::Type elementType(mlir::Value scalar) const;
  mlir::Value scalarOf(mlir::Value scalar);
  Extents ones() const { return frame.extentsOf({}); }

  TileBuilder &b;
  LoopFrame &frame;
  TileScopes &scopes;
  const Statement &statement;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace tw::conversion
