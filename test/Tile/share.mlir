// RUN: tilewright-opt %s -split-input-file -tile-share-kernels | FileCheck %s

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

// -----

// What comes from elsewhere is the same kernel. Operands in another order, other extents of the grid,
// and a value used in the place of another are not.
// CHECK-LABEL: func.func @wiring
// CHECK-COUNT-2: tw.dispatch @sum(
// CHECK: tw.dispatch @turned(
// CHECK: tw.dispatch @less(
// CHECK: tw.dispatch @more(
// CHECK: tw.dispatch @sum_of_one(
// CHECK: tw.dispatch @in_two(
// CHECK: tile.kernel @sum(
// CHECK-NOT: @elsewhere
// CHECK: tile.kernel @turned(
// CHECK: tile.kernel @less(
// CHECK: tile.kernel @more(
// CHECK: tile.kernel @sum_of_one(
// CHECK: tile.kernel @in_two(
func.func @wiring(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = tw.dispatch @sum(%x, %x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %b = tw.dispatch @elsewhere(%a, %x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %c = tw.dispatch @turned(%b, %x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %d = tw.dispatch @less(%c, %x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %f = tw.dispatch @more(%d, %x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %g = tw.dispatch @sum_of_one(%f, %x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  %h = tw.dispatch @in_two(%g, %x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}
tile.kernel @sum(in %x: !tile.buffer<[4], f32>, in %y: !tile.buffer<[4], f32>, out %z: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %b = tile.load %y[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %r = arith.addf %a, %b : tensor<4xf32>
  tile.store %r, %z[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @elsewhere(in %x: !tile.buffer<[4], f32>, in %y: !tile.buffer<[4], f32>, out %z: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %b = tile.load %y[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %r = arith.addf %a, %b : tensor<4xf32> loc("model.py":3:1)
  tile.store %r, %z[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @turned(in %x: !tile.buffer<[4], f32>, in %y: !tile.buffer<[4], f32>, out %z: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %b = tile.load %y[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %r = arith.addf %b, %a : tensor<4xf32>
  tile.store %r, %z[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @less(in %x: !tile.buffer<[4], f32>, in %y: !tile.buffer<[4], f32>, out %z: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %b = tile.load %y[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %r = arith.subf %a, %b : tensor<4xf32>
  tile.store %r, %z[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @more(in %x: !tile.buffer<[4], f32>, in %y: !tile.buffer<[4], f32>, out %z: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %b = tile.load %y[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %r = arith.subf %b, %a : tensor<4xf32>
  tile.store %r, %z[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @sum_of_one(in %x: !tile.buffer<[4], f32>, in %y: !tile.buffer<[4], f32>, out %z: !tile.buffer<[4], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %b = tile.load %y[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %r = arith.addf %a, %a : tensor<4xf32>
  tile.store %r, %z[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
tile.kernel @in_two(in %x: !tile.buffer<[4], f32>, in %y: !tile.buffer<[4], f32>, out %z: !tile.buffer<[4], f32>) grid [2] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %b = tile.load %y[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %r = arith.addf %a, %b : tensor<4xf32>
  tile.store %r, %z[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}
