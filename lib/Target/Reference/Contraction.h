// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products (matmul and its kin): found in linalg.generic, emitted as register blocks of
// explicit vectors (Panel.h).
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace tw::target::reference {
class Emitter;

/// out[...] += a[...] * b[...], both operands converted first. Loop dimensions by role.
struct Contraction {
  unsigned a = 0, b = 1;                 // which input is which
  llvm::SmallVector<unsigned> rows;      // in a and the result
  llvm::SmallVector<unsigned> columns;   // in b and the result
  llvm::SmallVector<unsigned> batch;     // other parallel dimensions
  llvm::SmallVector<unsigned> reduction; // k
  mlir::Operation *castA = nullptr, *castB = nullptr;
};

/// The contraction that `op` is, if emitContraction does it well. `columns` holds the result's last
/// dimension.
std::optional<Contraction> findContraction(mlir::linalg::LinalgOp op);

mlir::LogicalResult emitContraction(mlir::linalg::LinalgOp op, const Contraction &contraction,
                                    Emitter &e);

/// Raises `box` (rows of the parallel loop in each leading result dimension) to what `op` needs to
/// reuse what it loads.
void preferredBox(mlir::Operation *op, std::vector<int64_t> &box);

} // namespace tw::target::reference
