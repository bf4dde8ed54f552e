// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exported training graphs may have attention's forward pass decomposed beside a backward operator
// that is whole. What would be the log of sums is then the weights, as large as the scores:
//
//   %p = softmax(%q %k^T * scale), %o = %p %v
//   %dq, %dk, %dv = ..._for_cpu_backward %g, %q, %k, %v, %o, %p, ...
// becomes
//   %o, %l = aten._scaled_dot_product_flash_attention_for_cpu %q, %k, %v, ...
//   %dq, %dk, %dv = ..._for_cpu_backward %g, %q, %k, %v, %o, %l, ...
//
// which the backward operator says itself: its `out` is the output of the forward pass.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tw::lower {

void recomposeAttention(mlir::ModuleOp module);

} // namespace tw::lower
