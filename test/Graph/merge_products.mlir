// RUN: tilewright-opt %s -split-input-file -tw-merge-products | FileCheck %s

#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>
#id = affine_map<(s, n) -> (s, n)>
#col = affine_map<(s, n) -> (n)>
#turn = affine_map<(s, n) -> (n, s)>

// Two linear layers of one tensor; what follows transposes their results.
// CHECK-LABEL: func.func @linears(%arg0: tensor<?x16xf32>)
// CHECK: %[[W:.*]] = tensor.concat dim(0) {{.*}} : (tensor<8x16xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %[[W]] : tensor<?x16xf32>, tensor<32x16xf32>)
// CHECK: %[[B:.*]] = tensor.concat dim(0) {{.*}} -> tensor<32xf32>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[B]] : tensor<?x32xf32>, tensor<32xf32>)
// CHECK: arith.addf
// CHECK: tensor.extract_slice %[[Y]][0, 0] [%{{.*}}, 8] [1, 1]
// CHECK: tensor.extract_slice %[[Y]][0, 8] [%{{.*}}, 24] [1, 1]
func.func @linears(%x: tensor<?x16xf32>) -> (tensor<8x?xf32>, tensor<24x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = tensor.dim %x, %c0 : tensor<?x16xf32>
  %w0 = tw.weight <"w0" in "m.pt2"[64, 512] start 0 strides[16, 1]> : tensor<8x16xf32>
  %b0 = tw.weight <"b0" in "m.pt2"[576, 32] start 0 strides[1]> : tensor<8xf32>
  %e0 = tensor.empty(%s) : tensor<?x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %p0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w0 : tensor<?x16xf32>, tensor<8x16xf32>) outs(%f0 : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p0, %b0 : tensor<?x8xf32>, tensor<8xf32>) outs(%e0 : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %r0 = tensor.empty(%s) : tensor<8x?xf32>
  %t0 = linalg.transpose ins(%y0 : tensor<?x8xf32>) outs(%r0 : tensor<8x?xf32>) permutation = [1, 0]
  %w1 = tw.weight <"w1" in "m.pt2"[608, 1536] start 0 strides[16, 1]> : tensor<24x16xf32>
  %b1 = tw.weight <"b1" in "m.pt2"[2144, 96] start 0 strides[1]> : tensor<24xf32>
  %e1 = tensor.empty(%s) : tensor<?x24xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x24xf32>) -> tensor<?x24xf32>
  %p1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w1 : tensor<?x16xf32>, tensor<24x16xf32>) outs(%f1 : tensor<?x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x24xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p1, %b1 : tensor<?x24xf32>, tensor<24xf32>) outs(%e1 : tensor<?x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<?x24xf32>
  %r1 = tensor.empty(%s) : tensor<24x?xf32>
  %t1 = linalg.transpose ins(%y1 : tensor<?x24xf32>) outs(%r1 : tensor<24x?xf32>) permutation = [1, 0]
  return %t0, %t1 : tensor<8x?xf32>, tensor<24x?xf32>
}

// -----

#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>
#id = affine_map<(s, n) -> (s, n)>

// A gate and what it multiplies: one kernel computes both and their product, without any slice.
// CHECK-LABEL: func.func @gated
// CHECK-NOT: tensor.concat
func.func @gated(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %w0 = tw.weight <"w0" in "m.pt2"[64, 512] start 0 strides[16, 1]> : tensor<8x16xf32>
  %w1 = tw.weight <"w1" in "m.pt2"[608, 512] start 0 strides[16, 1]> : tensor<8x16xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w0 : tensor<4x16xf32>, tensor<8x16xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %p1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w1 : tensor<4x16xf32>, tensor<8x16xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %c, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p0, %p1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %y0 : tensor<4x8xf32>
}
