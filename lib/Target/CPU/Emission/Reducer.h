// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tile.reduce does with each element, and at the end.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

/// What is carried from element to element: a value, or a vector of one for each lane; for maxima
/// and minima also whether there was a NaN; for argmax and argmin also where the value was found.
class Reducer {
public:
  /// `alongLanes`: the lanes hold elements that are reduced together; else each has its own result.
  Reducer(Emitter &e, tile::ReduceOp op, bool alongLanes);

  /// Appends what is carried before the first element, in vectors of `width` (1: scalars).
  void initial(llvm::SmallVectorImpl<mlir::Value> &carried, unsigned width);
  /// Takes the elements at `point`.
  void accumulate(mlir::Value found, const Point &point,
                  llvm::SmallVectorImpl<mlir::Value> &carried);
  /// Takes what has been carried for other strips of the same lanes.
  void join(llvm::SmallVectorImpl<mlir::Value> &carried, llvm::ArrayRef<mlir::Value> other);
  /// The result, in the type of the tile.
  mlir::Value finish(llvm::ArrayRef<mlir::Value> carried);

private:
  mlir::Value identityValue();
  mlir::Value combine(mlir::Value x, mlir::Value y);
  mlir::Value bestLane(mlir::Value vector);
  mlir::Value horizontal(mlir::Value vector);

  // Positions (ReducePositions.cpp)
  void takePosition(mlir::Value value, const Point &point,
                    llvm::SmallVectorImpl<mlir::Value> &carried);
  mlir::Value betterThan(mlir::Value value, mlir::Value carried);
  mlir::Value strip(const Point &point);
  mlir::Value isNan(mlir::Value value);
  std::pair<mlir::Value, mlir::Value> compareValues(mlir::Value x, mlir::Value y);
  void joinPositions(llvm::SmallVectorImpl<mlir::Value> &carried,
                     llvm::ArrayRef<mlir::Value> other);
  mlir::Value firstOfLanes(llvm::ArrayRef<mlir::Value> carried);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  tile::ReduceKind kind;
  mlir::Type element, state; // of the operand, and of what is carried
  int axis;
  bool alongLanes;
  bool isFloat, tracksNan, isPosition;
};

} // namespace tw::target::cpu
