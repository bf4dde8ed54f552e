// RUN: tilewright-opt %s -split-input-file -tw-round-products | FileCheck %s

#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>

// Sums and results stay f32.
// CHECK-LABEL: func.func @linear(%arg0: tensor<?x16xf32>)
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<?x16xf32>) outs(%{{.*}} : tensor<?x16xbf16>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<8x16xf32>) outs(%{{.*}} : tensor<8x16xbf16>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<?x16xbf16>, tensor<8x16xbf16>) outs(%{{.*}} : tensor<?x8xf32>)
// CHECK-NEXT: ^bb0(%[[P:.*]]: bf16, %[[Q:.*]]: bf16, %[[C:.*]]: f32):
// CHECK-DAG: %[[L:.*]] = arith.extf %[[P]] : bf16 to f32
// CHECK-DAG: %[[R:.*]] = arith.extf %[[Q]] : bf16 to f32
// CHECK: arith.mulf %[[L]], %[[R]] : f32
// CHECK: return %[[Y]]
func.func @linear(%x: tensor<?x16xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = tensor.dim %x, %c0 : tensor<?x16xf32>
  %w = tw.weight <"w" in "m.pt2"[64, 512] start 0 strides[16, 1]> : tensor<8x16xf32>
  %e = tensor.empty(%s) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x16xf32>, tensor<8x16xf32>) outs(%f : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %c, %m : f32
    linalg.yield %r : f32
  } -> tensor<?x8xf32>
  return %p : tensor<?x8xf32>
}

// -----

#a = affine_map<(s, n, k) -> (s, k)>
#b = affine_map<(s, n, k) -> (n, k)>
#c = affine_map<(s, n, k) -> (s, n)>

// What is no product of f32 stays as it is: products of f64, and a sum of squares.
// CHECK-LABEL: func.func @others
// CHECK-NOT: bf16
func.func @others(%x: tensor<4x16xf64>, %w: tensor<8x16xf64>, %z: tensor<4x16xf32>) -> (tensor<4x8xf64>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<4x8xf64>) -> tensor<4x8xf64>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x16xf64>, tensor<8x16xf64>) outs(%f : tensor<4x8xf64>) {
  ^bb0(%l: f64, %r: f64, %t: f64):
    %m = arith.mulf %l, %r : f64
    %u = arith.addf %t, %m : f64
    linalg.yield %u : f64
  } -> tensor<4x8xf64>
  %g = tensor.empty() : tensor<4xf32>
  %h = linalg.fill ins(%none : f32) outs(%g : tensor<4xf32>) -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(s, k) -> (s, k)>, affine_map<(s, k) -> (s, k)>, affine_map<(s, k) -> (s)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%z, %z : tensor<4x16xf32>, tensor<4x16xf32>) outs(%h : tensor<4xf32>) {
  ^bb0(%l: f32, %r: f32, %t: f32):
    %m = arith.mulf %l, %r : f32
    %u = arith.addf %t, %m : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  return %p, %q : tensor<4x8xf64>, tensor<4xf32>
}

// -----

#q = affine_map<(h, l, s, e, f) -> (h, l, e)>
#k = affine_map<(h, l, s, e, f) -> (h, s, e)>
#v = affine_map<(h, l, s, e, f) -> (h, s, f)>
#o = affine_map<(h, l, s, e, f) -> (h, l, f)>

// CHECK-LABEL: func.func @attention
// CHECK: tw.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x8xbf16>, tensor<2x6x8xbf16>, tensor<2x6x8xbf16>) scale %{{.*}} outs(%{{.*}} : tensor<2x4x8xf32>)
func.func @attention(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  %scale = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<2x4x8xf32>
  %y = tw.attention ins(%q, %k, %v : tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) scale %scale
    outs(%e : tensor<2x4x8xf32>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
