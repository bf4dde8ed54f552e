// What a module says of operators is followed, and what has been decided is noted. Operators of a
// text are called by line and column.
// RUN: tilewright-opt %s -tw-form-dispatches -split-input-file | FileCheck %s

// CHECK: tw.decisions = [#tw.decision<fuse["12:8", "13:8"] true>]
// CHECK: func.func @fused
// CHECK-COUNT-1: tw.dispatch
// CHECK-NOT: tw.dispatch
module attributes {tw.wanted_decisions = []} {
func.func @fused(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %e = tensor.empty() : tensor<64x4096xf32>
  %y = linalg.exp ins(%x : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %z = linalg.tanh ins(%y : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %z : tensor<64x4096xf32>
}
}

// -----

// CHECK: tw.decisions = [#tw.decision<fuse["26:8", "27:8"] false because "the configuration says so">]
// CHECK: func.func @apart
// CHECK-COUNT-2: tw.dispatch
module attributes {tw.wanted_decisions = [#tw.decision<fuse["26:8", "27:8"] false>]} {
func.func @apart(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %e = tensor.empty() : tensor<64x4096xf32>
  %y = linalg.exp ins(%x : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %z = linalg.tanh ins(%y : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %z : tensor<64x4096xf32>
}
}
