// RUN: tilewright-opt %s -tw-reshape-before-slice | FileCheck %s

// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:.*]]: tensor<2x?x2304xf32>
// CHECK: %[[Y:.*]] = tensor.expand_shape %[[X]] {{.*}} : tensor<2x?x2304xf32> into tensor<2x?x36x64xf32>
// CHECK: tensor.extract_slice %[[Y]][0, 0, 12, 0] [2, %{{.*}}, 12, 64] [1, 1, 1, 1]
func.func @heads(%x: tensor<2x?x2304xf32>, %l: index) -> tensor<2x?x12x64xf32> {
  %s = tensor.extract_slice %x[0, 0, 768] [2, %l, 768] [1, 1, 1] : tensor<2x?x2304xf32> to tensor<2x?x768xf32>
  %h = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [2, %l, 12, 64]
      : tensor<2x?x768xf32> into tensor<2x?x12x64xf32>
  return %h : tensor<2x?x12x64xf32>
}

// The slice begins inside of a head; the source is no number of whole ones; steps.
// CHECK-LABEL: func.func @inside
// CHECK: tensor.extract_slice %{{.*}}[0, 32]
// CHECK: tensor.expand_shape
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [4, 128]
// CHECK: tensor.expand_shape
// CHECK: tensor.extract_slice {{.*}}[1, 2]
// CHECK: tensor.expand_shape
func.func @inside(%x: tensor<4x256xf32>, %y: tensor<4x160xf32>)
    -> (tensor<4x2x64xf32>, tensor<4x2x64xf32>, tensor<4x2x64xf32>) {
  %s = tensor.extract_slice %x[0, 32] [4, 128] [1, 1] : tensor<4x256xf32> to tensor<4x128xf32>
  %h = tensor.expand_shape %s [[0], [1, 2]] output_shape [4, 2, 64] : tensor<4x128xf32> into tensor<4x2x64xf32>
  %t = tensor.extract_slice %y[0, 0] [4, 128] [1, 1] : tensor<4x160xf32> to tensor<4x128xf32>
  %i = tensor.expand_shape %t [[0], [1, 2]] output_shape [4, 2, 64] : tensor<4x128xf32> into tensor<4x2x64xf32>
  %u = tensor.extract_slice %x[0, 0] [4, 128] [1, 2] : tensor<4x256xf32> to tensor<4x128xf32>
  %j = tensor.expand_shape %u [[0], [1, 2]] output_shape [4, 2, 64] : tensor<4x128xf32> into tensor<4x2x64xf32>
  return %h, %i, %j : tensor<4x2x64xf32>, tensor<4x2x64xf32>, tensor<4x2x64xf32>
}

// A part of unknown size: the slice stays, and the pass ends.
// CHECK-LABEL: func.func @unknown_part
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: tensor.expand_shape %[[S]]
func.func @unknown_part(%x: tensor<?xf32>, %n: index) -> tensor<?x1xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = tensor.extract_slice %y[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %h = tensor.expand_shape %s [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  return %h : tensor<?x1xf32>
}
