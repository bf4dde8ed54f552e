// RUN: tilewright-opt %s -tw-fuse-elementwise -split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>

// Read once: one pass.

// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: arith.negf
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = math.exp %v : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.negf %v : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>

// An exponential a row would be computed eight times: it stays apart. A conversion goes in.

// CHECK-LABEL: func.func @broadcast
// CHECK-COUNT-2: linalg.generic
// CHECK: arith.extf
// CHECK-NOT: linalg.generic
func.func @broadcast(%x: tensor<4xf32>, %h: tensor<4x8xf16>) -> tensor<4x8xf32> {
  %e1 = tensor.empty() : tensor<4xf32>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e1 : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = math.exp %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<4x8xf16>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%v: f16, %o: f32):
    %s = arith.extf %v : f16 to f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %w : tensor<4xf32>, tensor<4x8xf32>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.mulf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

#a = affine_map<(i, j) -> (i)>
#b = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(j, i) -> (i, j)>
#out = affine_map<(j, i) -> (j)>

// An outer product that is added to zeros reads its destination: merged into the sum it would stay a
// result of it, indexed by the loop that is summed.

// CHECK-LABEL: func.func @outer_sum
// CHECK: %[[OUTER:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%[[OUTER]]
// CHECK: return %[[SUM]]
func.func @outer_sum(%x: tensor<3xf32>, %z: tensor<3x3xf32>, %s: tensor<3xf32>) -> tensor<3xf32> {
  %p = linalg.generic {indexing_maps = [#a, #b, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<3xf32>, tensor<3xf32>) outs(%z : tensor<3x3xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<3x3xf32>
  %r = linalg.generic {indexing_maps = [#sum, #out], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<3x3xf32>) outs(%s : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %v, %o : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

#row = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(i, j) -> (i)>

// Only the repeated tensor says how many terms the sum has.

// CHECK-LABEL: func.func @repeated_sum
// CHECK: %[[REPEATED:.*]] = linalg.generic
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[REPEATED]]
func.func @repeated_sum(%x: tensor<3xf32>, %s: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %p = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%u: f32, %o: f32):
    linalg.yield %u : f32
  } -> tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<3x5xf32>) outs(%s : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %v, %o : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
