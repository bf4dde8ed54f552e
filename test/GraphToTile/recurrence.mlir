// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -split-input-file | FileCheck %s

// A scan whose body is none of the known ones: the states (the greatest element so far and its
// place) go through the loop and are stored in it, for a block of columns at once.
// CHECK-LABEL: tile.kernel @cummax(in %in0: !tile.buffer<[9, 40, 32], f32>,
// CHECK: tile.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} carry (
// CHECK-SAME: tensor<1x1x32xf32>
// CHECK: tile.load %in0
// CHECK-SAME: tensor<1x1x32xf32>
// CHECK: arith.cmpf oge
// CHECK: tile.store %{{.*}}, %out1
// CHECK: tile.store %{{.*}}, %out2
// CHECK: tile.yield
func.func private @cummax(%x: tensor<9x40x32xf32>, %v: tensor<9x40x32xf32>, %p: tensor<9x40x32xi64>)
    -> (tensor<9x40x32xf32>, tensor<9x40x32xi64>) attributes {tw.kernel} {
  %least = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %a, %b = tw.scan dim 1 ins(%x : tensor<9x40x32xf32>) initial(%least, %none : f32, i64)
      outs(%v, %p : tensor<9x40x32xf32>, tensor<9x40x32xi64>) {
    ^bb0(%most: f32, %where: i64, %e: f32):
      %i = tw.index 1
      %here = arith.index_cast %i : index to i64
      %is = arith.cmpf oge, %e, %most : f32
      %m = arith.select %is, %e, %most : f32
      %w = arith.select %is, %here, %where : i64
      tw.yield %m, %w : f32, i64 } -> tensor<9x40x32xf32>, tensor<9x40x32xi64>
  return %a, %b : tensor<9x40x32xf32>, tensor<9x40x32xi64>
}

// -----

// In reverse, of a length known at the call: from the last element to the first.
// CHECK-LABEL: tile.kernel @back(
// CHECK: %[[LAST:.*]] = tile.size d1 - 1
// CHECK: tile.for %{{.*}} = %[[LAST]] to %{{.*}} step %{{.*}} carry
func.func private @back(%x: tensor<4x?xf32>, %v: tensor<4x?xf32>) -> tensor<4x?xf32>
    attributes {tw.kernel} {
  %one = arith.constant 1.0 : f32
  %a = tw.scan dim 1 reverse ins(%x : tensor<4x?xf32>) initial(%one : f32)
      outs(%v : tensor<4x?xf32>) {
    ^bb0(%s: f32, %e: f32):
      %m = arith.divf %s, %e : f32
      %n = arith.addf %m, %e : f32
      tw.yield %n : f32 } -> tensor<4x?xf32>
  return %a : tensor<4x?xf32>
}
