// What a module says of operators is followed, and what has been decided is noted. Operators have the
// names of their locations.
// RUN: tilewright-opt %s -tw-form-dispatches -split-input-file | FileCheck %s

// CHECK: tw.decisions = [#tw.decision<fuse["exp", "tanh"] true>]
// CHECK: func.func @fused
// CHECK-COUNT-1: tw.dispatch
// CHECK-NOT: tw.dispatch
module attributes {tw.wanted_decisions = []} {
func.func @fused(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %e = tensor.empty() : tensor<64x4096xf32>
  %y = linalg.exp ins(%x : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32> loc("exp")
  %z = linalg.tanh ins(%y : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32> loc("tanh")
  return %z : tensor<64x4096xf32>
}
}

// -----

// CHECK: tw.decisions = [#tw.decision<fuse["exp", "tanh"] false because "the configuration says so">]
// CHECK: func.func @apart
// CHECK-COUNT-2: tw.dispatch
module attributes {tw.wanted_decisions = [#tw.decision<fuse["exp", "tanh"] false>]} {
func.func @apart(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %e = tensor.empty() : tensor<64x4096xf32>
  %y = linalg.exp ins(%x : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32> loc("exp")
  %z = linalg.tanh ins(%y : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32> loc("tanh")
  return %z : tensor<64x4096xf32>
}
}
