// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions with windows of one element as products, in either layout.
#pragma once
#include "IR/Graph/Graph.h"

namespace tw {

/// Whether each position of the result is a product of the channels at that of the input.
bool isPointwise(graph::ConvOp op);

/// Whether a pointwise convolution whose input has channels first is as good a product so, and that
/// spares transposing what it reads and what is computed of it: the function returns this as it is.
bool isBetterFirst(graph::ConvOp op);

/// `input`, [n, places..., c] or, with `readsFirst`, [n, c, places...], times `weight`,
/// [1..., c, o], added to `init`, [n, places..., o].
mlir::Value multiplyChannelsLast(mlir::OpBuilder &b, graph::ConvOp op, mlir::Value input,
                                 mlir::Value weight, mlir::Value init, bool readsFirst);

/// The convolution with channels first: its weight, [o, c], times its input, [n, c, places...].
mlir::Value multiplyChannelsFirst(mlir::OpBuilder &b, graph::ConvOp op);

} // namespace tw
