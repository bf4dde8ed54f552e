// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tilewright-opt %s -tw-read-slices | FileCheck %s
// RUN: tilewright-opt %s '-tw-read-slices=alignment=128' | FileCheck %s
// RUN: tilewright-opt %s '-tw-read-slices=alignment=256' | FileCheck %s --check-prefix=COPIED

// A contiguous slice of what is in memory anyway is read where it is; columns are copied, and so is what is returned,
// and what only the copying kernel reads.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<3x8x4xf32>)
// CHECK: %[[LAYER:.*]] = tensor.extract_slice %[[X]][1, 0, 0] [1, 8, 4]
// CHECK: tw.dispatch @read(%[[LAYER]])
// CHECK: tw.dispatch @columns(%[[X]])
// CHECK: %[[RETURNED:.*]] = tw.dispatch @layer(%[[X]])
// CHECK: %[[MADE:.*]] = tw.dispatch @make()
// CHECK: tw.dispatch @layer(%[[MADE]])

// Layer 1 begins at byte 128: where buffers must begin at multiples of 256, it is copied.
// COPIED-NOT: tensor.extract_slice
// COPIED: tw.dispatch @layer
// COPIED: return
func.func @main(%x: tensor<3x8x4xf32>) -> (tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>) {
  %e = tensor.empty() : tensor<1x8x4xf32>
  %c = tensor.empty() : tensor<3x8x1xf32>
  %w = tensor.empty() : tensor<3x8x4xf32>
  %0 = tw.dispatch @layer(%x) outs(%e) : (tensor<3x8x4xf32>) outs(tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %1 = tw.dispatch @read(%0) outs(%e) : (tensor<1x8x4xf32>) outs(tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %2 = tw.dispatch @columns(%x) outs(%c) : (tensor<3x8x4xf32>) outs(tensor<3x8x1xf32>) -> tensor<3x8x1xf32>
  %3 = tw.dispatch @sum(%2) outs(%e) : (tensor<3x8x1xf32>) outs(tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %4 = tw.dispatch @layer(%x) outs(%e) : (tensor<3x8x4xf32>) outs(tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %5 = tw.dispatch @make() outs(%w) : outs(tensor<3x8x4xf32>) -> tensor<3x8x4xf32>
  %6 = tw.dispatch @layer(%5) outs(%e) : (tensor<3x8x4xf32>) outs(tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %7 = tw.dispatch @read(%6) outs(%e) : (tensor<1x8x4xf32>) outs(tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return %1, %3, %4, %7 : tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>
}
func.func private @layer(%x: tensor<3x8x4xf32>, %y: tensor<1x8x4xf32>) -> tensor<1x8x4xf32> attributes {tw.kernel} {
  %s = tensor.extract_slice %x[1, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<3x8x4xf32> to tensor<1x8x4xf32>
  %0 = linalg.copy ins(%s : tensor<1x8x4xf32>) outs(%y : tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}
func.func private @columns(%x: tensor<3x8x4xf32>, %y: tensor<3x8x1xf32>) -> tensor<3x8x1xf32> attributes {tw.kernel} {
  %s = tensor.extract_slice %x[0, 0, 2] [3, 8, 1] [1, 1, 1] : tensor<3x8x4xf32> to tensor<3x8x1xf32>
  %0 = linalg.copy ins(%s : tensor<3x8x1xf32>) outs(%y : tensor<3x8x1xf32>) -> tensor<3x8x1xf32>
  return %0 : tensor<3x8x1xf32>
}
func.func private @read(%x: tensor<1x8x4xf32>, %y: tensor<1x8x4xf32>) -> tensor<1x8x4xf32> attributes {tw.kernel} {
  %0 = linalg.exp ins(%x : tensor<1x8x4xf32>) outs(%y : tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}
func.func private @sum(%x: tensor<3x8x1xf32>, %y: tensor<1x8x4xf32>) -> tensor<1x8x4xf32> attributes {tw.kernel} {
  return %y : tensor<1x8x4xf32>
}
func.func private @make(%y: tensor<3x8x4xf32>) -> tensor<3x8x4xf32> attributes {tw.kernel} {
  return %y : tensor<3x8x4xf32>
}
