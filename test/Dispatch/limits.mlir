// RUN: tilewright-opt %s -tw-to-destination-style -tw-form-dispatches | FileCheck %s --check-prefix=FUSED
// RUN: tilewright-opt %s -tw-to-destination-style -tw-form-dispatches=row-elements=0 | FileCheck %s --check-prefix=APART

// How large what a row keeps between two operations may be is what the target says.

// FUSED-COUNT-1: tw.dispatch
// FUSED-NOT: tw.dispatch
// APART-COUNT-2: tw.dispatch
func.func @chain(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %e = tensor.empty() : tensor<4096x64xf32>
  %a = linalg.exp ins(%x : tensor<4096x64xf32>) outs(%e : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %b = linalg.sqrt ins(%a : tensor<4096x64xf32>) outs(%e : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %b : tensor<4096x64xf32>
}
