// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A linalg.generic as a loop nest: the range of each loop, and for each operand the address as a
// linear function of the loop counters.
#pragma once
#include "Target/Reference/Emitter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tw::target::reference {

/// One operand in the nest: element number = offset + sum of strides[d] * counter[d]; where the map
/// is not linear (floordiv, mod), the map itself is evaluated.
struct Access {
  Buffer buffer;
  mlir::AffineMap map;
  bool linear = true;
  Ix offset;
  Indices strides;
  mlir::Value scalar = {}; // the operand is no tensor but this

  mlir::Value load(Emitter &e, llvm::ArrayRef<Ix> at) const;
  Ix element(Emitter &e, llvm::ArrayRef<Ix> at) const;
};

struct Nest {
  mutable mlir::linalg::LinalgOp op;
  llvm::SmallVector<Range> ranges;
  llvm::SmallVector<bool> parallel;
  llvm::SmallVector<Access, 4> accesses; // inputs, then inits

  unsigned inputs() const { return op.getNumDpsInputs(); }
  llvm::ArrayRef<Access> outs() const { return llvm::ArrayRef(accesses).drop_front(inputs()); }
};

/// The nest of `op` for the emitter's current rows, with neighbouring loops merged where all
/// operands allow it (a merged loop has the range [0, 1)).
mlir::FailureOr<Nest> makeNest(mlir::linalg::LinalgOp op, Emitter &e);

/// The value of an affine expression without symbols.
Ix affineIndex(Emitter &e, mlir::AffineExpr expr, llvm::ArrayRef<Ix> dims);

} // namespace tw::target::reference
