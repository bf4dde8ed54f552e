// RUN: tilewright-opt %s -tw-fold-padding | FileCheck %s

// Zeros before a convolution are its own padding, also where there are more of them behind.
// CHECK-LABEL: func.func @zeros
// CHECK-NOT: tensor.pad
// CHECK: tw.conv ins(%arg0, %arg1
// CHECK-SAME: padding_low = array<i64: 1, 3>
func.func @zeros(%x: tensor<1x2x6x8xf32>, %w: tensor<4x2x3x3xf32>, %init: tensor<1x4x8x11xf32>) -> tensor<1x4x8x11xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x2x6x8xf32> to tensor<1x2x8x11xf32>
  %y = tw.conv ins(%p, %w : tensor<1x2x8x11xf32>, tensor<4x2x3x3xf32>) outs(%init : tensor<1x4x8x11xf32>)
      {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 1} -> tensor<1x4x8x11xf32>
  return %y : tensor<1x4x8x11xf32>
}

// CHECK-LABEL: func.func @ones
// CHECK: tensor.pad
func.func @ones(%x: tensor<1x2x6x8xf32>, %w: tensor<4x2x3x3xf32>, %init: tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> {
  %one = arith.constant 1.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %one : f32
  } : tensor<1x2x6x8xf32> to tensor<1x2x8x10xf32>
  %y = tw.conv ins(%p, %w : tensor<1x2x8x10xf32>, tensor<4x2x3x3xf32>) outs(%init : tensor<1x4x6x8xf32>)
      {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1} -> tensor<1x4x6x8xf32>
  return %y : tensor<1x4x6x8xf32>
}

// Channels of zeros are multiplied as any others.
// CHECK-LABEL: func.func @channels
// CHECK: tensor.pad
func.func @channels(%x: tensor<1x1x8x10xf32>, %w: tensor<4x2x3x3xf32>, %init: tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x1x8x10xf32> to tensor<1x2x8x10xf32>
  %y = tw.conv ins(%p, %w : tensor<1x2x8x10xf32>, tensor<4x2x3x3xf32>) outs(%init : tensor<1x4x6x8xf32>)
      {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1} -> tensor<1x4x6x8xf32>
  return %y : tensor<1x4x6x8xf32>
}
