// RUN: tilewright-opt %s -tile-mark-constants -split-input-file | FileCheck %s

// A weight, and a part of one; x is an argument of the program, and what was marked by mistake is not constant.
// CHECK-LABEL: tile.kernel @add(
// CHECK-SAME: in %x: !tile.buffer<[M], f32>, in %w: !tile.buffer<[4], f32> constant, in %v: !tile.buffer<[4], f32> constant, out
// The variants of a kernel are called where it is.
// CHECK-LABEL: tile.kernel @add_max2(
// CHECK-SAME: in %x: !tile.buffer<[M], f32>, in %w: !tile.buffer<[4], f32> constant, in %v: !tile.buffer<[4], f32> constant, out
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = tw.weight <"w" in "m"[0, 16] start 0 strides[1]> : tensor<4xf32>
  %all = tw.weight <"all" in "m"[16, 32] start 0 strides[4, 1]> : tensor<2x4xf32>
  %row = tensor.extract_slice %all[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<1x4xf32>
  %v = tensor.collapse_shape %row [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = tw.dispatch @add(%x, %w, %v) outs(%e) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
tile.kernel @add(in %x: !tile.buffer<[M], f32> constant, in %w: !tile.buffer<[4], f32>, in %v: !tile.buffer<[4], f32>, out %y: !tile.buffer<[4], f32>)
    symbols [M] grid [1] attributes {tile.destinations, tile.variants = [@add_max2]} {}
tile.kernel @add_max2(in %x: !tile.buffer<[M], f32>, in %w: !tile.buffer<[4], f32>, in %v: !tile.buffer<[4], f32>, out %y: !tile.buffer<[4], f32>)
    symbols [M {max = 2}] grid [1] attributes {tile.destinations} {}

// -----

// A weight in one call alone, and one that only calls give.
// CHECK-LABEL: tile.kernel @twice(
// CHECK-NOT: constant
// CHECK: grid
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = tw.weight <"w" in "m"[0, 16] start 0 strides[1]> : tensor<4xf32>
  %given = tw.weight <"g" in "<given>"[0, 16] start 0 strides[1]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = tw.dispatch @twice(%w, %given) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %z = tw.dispatch @twice(%x, %given) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
tile.kernel @twice(in %x: !tile.buffer<[4], f32>, in %w: !tile.buffer<[4], f32>, out %y: !tile.buffer<[4], f32>)
    grid [1] attributes {tile.destinations} {}
