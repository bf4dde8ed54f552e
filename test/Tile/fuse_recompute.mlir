// RUN: tilewright-opt %s -tile-fuse='dispatch-cost=1000 operation-cost=1 function-cost=20 access-cost=1' -split-input-file | FileCheck %s
// RUN: tilewright-opt %s -tile-fuse -split-input-file | FileCheck %s --check-prefix=FREE

// Eight programs, and four trips of a loop in each, read all 16 elements of 1 + z. Computing them again takes
// 32 x 16 x 2 = 1024 cycles; a kernel of its own 1000 + 16 x 3, and 32 x 16 to load them.
// CHECK-LABEL: func.func @in_loop
// CHECK: tw.dispatch @scale_0(
// CHECK-NOT: tw.dispatch
// FREE-LABEL: func.func @in_loop
// FREE: tw.dispatch @scale(
// FREE: tw.dispatch @rows(
func.func @in_loop(%x: tensor<8x4x16xf32>, %z: tensor<16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %s = tw.dispatch @scale(%z) outs(%e) : (tensor<16xf32>) outs(tensor<16xf32>) -> tensor<16xf32>
  %y = tw.dispatch @rows(%x, %s) outs(%f) : (tensor<8x4x16xf32>, tensor<16xf32>) outs(tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
// CHECK: tile.kernel @scale_0(
// CHECK: tile.for
// CHECK: %[[Z:.*]] = tile.load %in1[
// CHECK: arith.addf %[[Z]],
// CHECK: tile.yield
tile.kernel @scale(in %z: !tile.buffer<[16], f32>, out %s: !tile.buffer<[16], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %0 = tile.load %z[%c0] : !tile.buffer<[16], f32> -> tensor<16xf32>
  %1 = tile.full %one : f32 -> tensor<16xf32>
  %2 = arith.addf %0, %1 : tensor<16xf32>
  tile.store %2, %s[%c0] : tensor<16xf32>, !tile.buffer<[16], f32>
}
tile.kernel @rows(in %x: !tile.buffer<[8, 4, 16], f32>, in %s: !tile.buffer<[16], f32>, out %y: !tile.buffer<[8, 16], f32>) grid [8] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %m = tile.program_id 0
  %init = tile.full %zero : f32 -> tensor<1x16xf32>
  %sum = tile.for %k = %c0 to %c4 step %c1 carry (%acc = %init : tensor<1x16xf32>) {
    %0 = tile.load %x[%m, %k, %c0] : !tile.buffer<[8, 4, 16], f32> -> tensor<1x1x16xf32>
    %1 = tile.reshape %0 : tensor<1x1x16xf32> -> tensor<1x16xf32>
    %2 = tile.load %s[%c0] : !tile.buffer<[16], f32> -> tensor<16xf32>
    %3 = tile.reshape %2 : tensor<16xf32> -> tensor<1x16xf32>
    %4 = arith.mulf %1, %3 : tensor<1x16xf32>
    %5 = arith.addf %acc, %4 : tensor<1x16xf32>
    tile.yield %5 : tensor<1x16xf32>
  }
  tile.store %sum, %y[%m, %c0] : tensor<1x16xf32>, !tile.buffer<[8, 16], f32>
}

// -----

// An exponential of each of 1024 elements for all of 64 programs takes longer than a kernel of its own.
// CHECK-LABEL: func.func @function
// CHECK: tw.dispatch @scale(
// CHECK: tw.dispatch @rows(
func.func @function(%x: tensor<64x1024xf32>, %z: tensor<1024xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<1024xf32>
  %f = tensor.empty() : tensor<64xf32>
  %s = tw.dispatch @scale(%z) outs(%e) : (tensor<1024xf32>) outs(tensor<1024xf32>) -> tensor<1024xf32>
  %y = tw.dispatch @rows(%x, %s) outs(%f) : (tensor<64x1024xf32>, tensor<1024xf32>) outs(tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
tile.kernel @scale(in %z: !tile.buffer<[1024], f32>, out %s: !tile.buffer<[1024], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %0 = tile.load %z[%c0] : !tile.buffer<[1024], f32> -> tensor<1024xf32>
  %1 = math.exp %0 : tensor<1024xf32>
  tile.store %1, %s[%c0] : tensor<1024xf32>, !tile.buffer<[1024], f32>
}
tile.kernel @rows(in %x: !tile.buffer<[64, 1024], f32>, in %s: !tile.buffer<[1024], f32>, out %y: !tile.buffer<[64], f32>) grid [64] {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %0 = tile.load %x[%m, %c0] : !tile.buffer<[64, 1024], f32> -> tensor<1x1024xf32>
  %1 = tile.load %s[%c0] : !tile.buffer<[1024], f32> -> tensor<1024xf32>
  %2 = tile.reshape %1 : tensor<1024xf32> -> tensor<1x1024xf32>
  %3 = arith.mulf %0, %2 : tensor<1x1024xf32>
  %4 = tile.reduce sum %3 axis 1 : tensor<1x1024xf32> -> tensor<1xf32>
  tile.store %4, %y[%m] : tensor<1xf32>, !tile.buffer<[64], f32>
}
