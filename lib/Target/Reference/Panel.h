// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loops of contractions and convolutions: a block of rows times a panel of consecutive
// columns, up to 256 terms deep, accumulated in vector registers and then added to the result:
//
//   for k in depth: for m in rows: sum[m][0..width) += a(m, k) * panel[k][0..width)
//   result(m, 0..valid) += sum[m]
#pragma once
#include "Target/Reference/Emitter.h"

namespace tw::target::reference {

/// Terms of one partial sum.
constexpr int64_t panelDepth = 256;

struct PanelShape {
  mlir::Type sum; // the type of partial sums: that of the result, or f32 for halves
  unsigned lanes = 1, vectors = 2, rows = 4;

  int64_t width() const { return int64_t(lanes) * vectors; }
};

/// The register block for results of type `element`.
PanelShape panelShape(mlir::Type element, const CpuFeatures &cpu);

struct PanelProduct {
  PanelShape shape;
  /// The panel: column j of term k is element offset + k * stride + j, of type shape.sum.
  Buffer panel;
  Ix panelStride;
  Ix depth;
  /// a(m, k), not yet converted: element rowElement(m) + k * aStride.
  Buffer a;
  Ix aStride;
  llvm::function_ref<Ix(Ix)> rowElement;
  /// Conversion to shape.sum.
  llvm::function_ref<mlir::Value(mlir::Value)> convertA;
  /// result(m, 0) and how far apart columns are.
  Buffer result;
  Ix columnStride;
  llvm::function_ref<Ix(Ix)> resultElement;
  /// Columns that exist: shape.width() or fewer.
  Ix valid;
};

/// Emits the product for the rows lo, ..., lo + count - 1 (in the numbering of rowElement).
void emitPanelProduct(Emitter &e, const PanelProduct &product, const Ix &lo, const Ix &count);

/// value * factor + sum on scalars or vectors, floats possibly fused.
mlir::Value multiplyAdd(Emitter &e, mlir::Value x, mlir::Value y, mlir::Value sum);
mlir::Value zeroOf(Emitter &e, mlir::Type type);

} // namespace tw::target::reference
