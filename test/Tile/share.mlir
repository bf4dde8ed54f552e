// RUN: tilewright-opt %s -tile-share-kernels | FileCheck %s

// The second and the third one differ in their names, the fourth one in a number.
// CHECK-LABEL: func.func @main
// CHECK: tw.dispatch @twice(
// CHECK-NOT: tw.configured
// CHECK: tw.dispatch @twice(
// CHECK-SAME: tw.configured = ["again"]
// CHECK: tw.dispatch @thrice(
// CHECK: tile.kernel @twice
// CHECK-NOT: tile.kernel @again
// CHECK: tile.kernel @thrice
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = tw.dispatch @twice(%x) outs(%e) : (tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %b = tw.dispatch @again(%a) outs(%e) : (tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %c = tw.dispatch @thrice(%b) outs(%e) : (tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
tile.kernel @twice(in %x: !tile.buffer<[4], f32>, out %y: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %f = arith.constant 2.0 : f32
  %t = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %n = tile.full %f : f32 -> tensor<4xf32>
  %r = arith.mulf %t, %n : tensor<4xf32>
  tile.store %r, %y[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @again(in %x: !tile.buffer<[4], f32>, out %y: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %f = arith.constant 2.0 : f32
  %t = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %n = tile.full %f : f32 -> tensor<4xf32>
  %r = arith.mulf %t, %n : tensor<4xf32>
  tile.store %r, %y[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @thrice(in %x: !tile.buffer<[4], f32>, out %y: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %f = arith.constant 3.0 : f32
  %t = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %n = tile.full %f : f32 -> tensor<4xf32>
  %r = arith.mulf %t, %n : tensor<4xf32>
  tile.store %r, %y[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
