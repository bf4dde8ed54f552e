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

// -----

// A transpose is a layout of what a product reads, but not of windows: each tap of these would read
// against the order in memory. A conversion goes in.

// CHECK-LABEL: func.func @windows
// CHECK: %[[LAST:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x12x10xf32>) outs(%{{.*}} : tensor<2x10x12xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[LAST]] : tensor<2x8x16xf16>, tensor<2x10x12xf32>)
// CHECK: arith.extf
func.func @windows(%dy: tensor<2x8x16xf16>, %x: tensor<2x12x10xf32>, %init: tensor<3x16x12xf32>) -> tensor<3x16x12xf32> {
  %e = tensor.empty() : tensor<2x10x12xf32>
  %last = linalg.generic {indexing_maps = [affine_map<(n, x, c) -> (n, c, x)>, affine_map<(n, x, c) -> (n, x, c)>],
                          iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x12x10xf32>) outs(%e : tensor<2x10x12xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<2x10x12xf32>
  %e2 = tensor.empty() : tensor<2x8x16xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, x, o) -> (n, x, o)>, affine_map<(n, x, o) -> (n, x, o)>],
                          iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%dy : tensor<2x8x16xf16>) outs(%e2 : tensor<2x8x16xf32>) {
  ^bb0(%v: f16, %o: f32):
    %w = arith.extf %v : f16 to f32
    linalg.yield %w : f32
  } -> tensor<2x8x16xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(k, o, c, n, x) -> (n, x, o)>, affine_map<(k, o, c, n, x) -> (n, x + k, c)>,
                                        affine_map<(k, o, c, n, x) -> (k, o, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%wide, %last : tensor<2x8x16xf32>, tensor<2x10x12xf32>) outs(%init : tensor<3x16x12xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<3x16x12xf32>
  return %g : tensor<3x16x12xf32>
}
// -----

// A product stays one: what its kernel computes of an operand is asked later, of kernels.
// CHECK-LABEL: func.func @product
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-NOT: math.exp
// CHECK: return
module attributes {tw.wanted_decisions = [#tw.decision<fuse["exp", "matmul"] true>]} {
func.func @product(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %init: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = math.exp %v : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32> loc("exp")
  %c = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                                        affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) {
  ^bb0(%v: f32, %u: f32, %s: f32):
    %m = arith.mulf %v, %u : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x4xf32> loc("matmul")
  return %c : tensor<8x4xf32>
}
}
