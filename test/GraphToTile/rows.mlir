// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -split-input-file | FileCheck %s

// Reductions over rows and what is computed between them are one kernel, a row a program. The unit
// dimension that the maximum has outside is gone.
// CHECK-LABEL: tile.kernel @softmax(in %in0: !tile.buffer<[d0, 40], f32>,
// CHECK-SAME: out %out1: !tile.buffer<[d0, 40], f32>) symbols [d0] grid [d0]
// CHECK: tile.load {{.*}} -> tensor<1x40xf32>
// CHECK: tile.reduce max
// CHECK: math.exp
// CHECK: tile.reduce sum
// CHECK: arith.divf
// CHECK: tile.store
func.func private @softmax(%x: tensor<?x40xf32>, %out: tensor<?x40xf32>) -> tensor<?x40xf32>
    attributes {tw.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x40xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?x40xf32>
  %none = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x40xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %exps = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %most : tensor<?x40xf32>, tensor<?xf32>)
      outs(%f : tensor<?x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<?x40xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%exps : tensor<?x40xf32>) outs(%nothing : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%exps, %sum : tensor<?x40xf32>, tensor<?xf32>)
      outs(%out : tensor<?x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// -----

// A value goes through a view of other dimensions: 768 is cut into the 12 x 64 that the source has
// apart. What stands side by side everywhere is one dimension: 3 x 4 = 12 at the end.
// CHECK-LABEL: tile.kernel @heads(in %in0: !tile.buffer<[2, 12, 5, 64], f32>, in %in1: !tile.buffer<[12, 64], f32>,
// CHECK-SAME: out %out2: !tile.buffer<[2, 5, 12, 64], f32>
func.func private @heads(%x: tensor<2x3x4x5x64xf32>, %b: tensor<768xf32>, %out: tensor<2x5x768xf32>)
    -> tensor<2x5x768xf32> attributes {tw.kernel} {
  %e = tensor.empty() : tensor<2x5x3x4x64xf32>
  %t = linalg.transpose ins(%x : tensor<2x3x4x5x64xf32>) outs(%e : tensor<2x5x3x4x64xf32>)
       permutation = [0, 3, 1, 2, 4]
  %view = tensor.collapse_shape %t [[0], [1], [2, 3, 4]] : tensor<2x5x3x4x64xf32> into tensor<2x5x768xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>,
                       affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%view, %b : tensor<2x5x768xf32>, tensor<768xf32>)
      outs(%out : tensor<2x5x768xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x5x768xf32>
  return %y : tensor<2x5x768xf32>
}

// -----

// What has no kernel stays as it is, for the reference target: bits read as another type.
// CHECK-LABEL: func.func private @bits
// CHECK-NOT: tile.kernel
func.func private @bits(%x: tensor<8xf32>, %out: tensor<8xi32>) -> tensor<8xi32>
    attributes {tw.kernel} {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%out : tensor<8xi32>) {
  ^bb0(%a: f32, %o: i32):
    %r = arith.bitcast %a : f32 to i32
    linalg.yield %r : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}
