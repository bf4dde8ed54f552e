// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -split-input-file | FileCheck %s

// A row a program, sorted as a whole; what follows in the same rows is in the same kernel.
// CHECK-LABEL: tile.kernel @sort(in %in0: !tile.buffer<[d0, d1], f32>,
// CHECK-SAME: out %out1: !tile.buffer<[d0, d1], f32>, out %out2: !tile.buffer<[d0, d1], i64>)
// CHECK-SAME: grid [d0]
// CHECK: tile.sort %{{.*}} axis 1 : tensor<1x?xf32, #tile.dims<[d1]>>
// CHECK-SAME: -> tensor<1x?xf32, #tile.dims<[d1]>>, tensor<1x?xi64, #tile.dims<[d1]>>
// CHECK: arith.negf
func.func private @sort(%x: tensor<?x?xf32>, %v: tensor<?x?xf32>, %p: tensor<?x?xi64>)
    -> (tensor<?x?xf32>, tensor<?x?xi64>) attributes {tw.kernel} {
  %values, %positions = tw.sort dim 1 ins(%x : tensor<?x?xf32>)
    outs(%v, %p : tensor<?x?xf32>, tensor<?x?xi64>) -> tensor<?x?xf32>, tensor<?x?xi64>
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%values : tensor<?x?xf32>)
      outs(%v : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %y, %positions : tensor<?x?xf32>, tensor<?x?xi64>
}

// What calls says that the results are as long as the input.
func.func @calls_sort(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %v = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = tensor.empty(%m, %n) : tensor<?x?xi64>
  %r:2 = tw.dispatch @sort(%x) outs(%v, %p) : (tensor<?x?xf32>) outs (tensor<?x?xf32>, tensor<?x?xi64>)
    -> tensor<?x?xf32>, tensor<?x?xi64>
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xi64>
}

// -----

// The first two of eight have a dimension of their own. Bytes of the user's u8 are unsigned.
// CHECK-LABEL: tile.kernel @top(in %in0: !tile.buffer<[4, 8, 3], i8>,
// CHECK-SAME: out %out1: !tile.buffer<[4, 2, 3], i8>, out %out2: !tile.buffer<[4, 2, 3], i64>)
// CHECK: %[[V:.*]], %[[P:.*]] = tile.sort %{{.*}} axis [[AXIS:[0-9]]] descending unsigned
// CHECK: tile.transpose %[[V]]
// CHECK: tile.transpose %[[P]]
func.func private @top(%x: tensor<4x8x3xi8>, %v: tensor<4x2x3xi8>, %p: tensor<4x2x3xi64>)
    -> (tensor<4x2x3xi8>, tensor<4x2x3xi64>) attributes {tw.kernel} {
  %values, %positions = tw.sort dim 1 ins(%x : tensor<4x8x3xi8>)
    outs(%v, %p : tensor<4x2x3xi8>, tensor<4x2x3xi64>) {descending, is_unsigned}
    -> tensor<4x2x3xi8>, tensor<4x2x3xi64>
  return %values, %positions : tensor<4x2x3xi8>, tensor<4x2x3xi64>
}

// -----

// The largest one: its dimension is gone from the results.
// CHECK-LABEL: tile.kernel @most(
// CHECK: tile.sort %{{.*}} axis 1 descending : tensor<1x8xf32> -> tensor<1x1xf32>, tensor<1x1xi64>
func.func private @most(%x: tensor<4x8xf32>, %v: tensor<4x1xf32>, %p: tensor<4x1xi64>)
    -> (tensor<4x1xf32>, tensor<4x1xi64>) attributes {tw.kernel} {
  %values, %positions = tw.sort dim 1 ins(%x : tensor<4x8xf32>)
    outs(%v, %p : tensor<4x1xf32>, tensor<4x1xi64>) {descending} -> tensor<4x1xf32>, tensor<4x1xi64>
  return %values, %positions : tensor<4x1xf32>, tensor<4x1xi64>
}
