// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tilewright-opt %s -tw-fold-filter-transposes -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @given
// CHECK: tw.conv layout channels_last outputs_first ins(%arg0, %arg1 : tensor<1x9x9x4xf32>, tensor<8x4x3x5xf32>)
func.func @given(%x: tensor<1x9x9x4xf32>, %w: tensor<8x4x3x5xf32>, %init: tensor<1x7x5x8xf32>) -> tensor<1x7x5x8xf32> {
  %e = tensor.empty() : tensor<3x5x4x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x4x3x5xf32>) outs(%e : tensor<3x5x4x8xf32>) permutation = [2, 3, 1, 0]
  %y = tw.conv layout channels_last ins(%x, %t : tensor<1x9x9x4xf32>, tensor<3x5x4x8xf32>) outs(%init : tensor<1x7x5x8xf32>)
      {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1} -> tensor<1x7x5x8xf32>
  return %y : tensor<1x7x5x8xf32>
}

// -----

// Channels and outputs the other way round are those of a gradient.
// CHECK-LABEL: func.func @channels_first
// CHECK: tw.conv layout channels_last ins
func.func @channels_first(%x: tensor<1x9x9x4xf32>, %w: tensor<4x8x3x5xf32>, %init: tensor<1x7x5x8xf32>) -> tensor<1x7x5x8xf32> {
  %e = tensor.empty() : tensor<3x5x4x8xf32>
  %t = linalg.transpose ins(%w : tensor<4x8x3x5xf32>) outs(%e : tensor<3x5x4x8xf32>) permutation = [2, 3, 0, 1]
  %y = tw.conv layout channels_last ins(%x, %t : tensor<1x9x9x4xf32>, tensor<3x5x4x8xf32>) outs(%init : tensor<1x7x5x8xf32>)
      {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1} -> tensor<1x7x5x8xf32>
  return %y : tensor<1x7x5x8xf32>
}

// -----

// CHECK-LABEL: func.func @groups
// CHECK: tw.conv layout channels_last ins
func.func @groups(%x: tensor<1x9x9x8xf32>, %w: tensor<8x4x3x5xf32>, %init: tensor<1x7x5x8xf32>) -> tensor<1x7x5x8xf32> {
  %e = tensor.empty() : tensor<3x5x4x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x4x3x5xf32>) outs(%e : tensor<3x5x4x8xf32>) permutation = [2, 3, 1, 0]
  %y = tw.conv layout channels_last ins(%x, %t : tensor<1x9x9x8xf32>, tensor<3x5x4x8xf32>) outs(%init : tensor<1x7x5x8xf32>)
      {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2} -> tensor<1x7x5x8xf32>
  return %y : tensor<1x7x5x8xf32>
}
