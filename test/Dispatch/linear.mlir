// RUN: tilewright-opt %s -tw-dispatches | FileCheck %s

// linear + bias + relu is one kernel, and the weight is stored with its output dimension last.

// CHECK-LABEL: func.func @main
// CHECK: tw.weight <"fc.weight" in "m.pt2"[64, 32768] start 0 strides[1, 128]> : tensor<128x64xf32>
// CHECK: tw.dispatch @k0
// CHECK-NOT: tw.dispatch
// CHECK: func.func private @k0
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: linalg.generic
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
func.func @main(%x: tensor<16x128xf32>) -> tensor<16x64xf32> {
  %w = tw.weight <"fc.weight" in "m.pt2"[64, 32768] start 0 strides[128, 1]> : tensor<64x128xf32>
  %b = tw.weight <"fc.bias" in "m.pt2"[32832, 256] start 0 strides[1]> : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %mm = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                         affine_map<(m, n, k) -> (m, n)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x128xf32>, tensor<64x128xf32>) outs(%f : tensor<16x64xf32>) {
  ^bb0(%l: f32, %r: f32, %a: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %a, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %add = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                          affine_map<(m, n) -> (m, n)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%mm, %b : tensor<16x64xf32>, tensor<64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%l: f32, %r: f32, %a: f32):
    %s = arith.addf %l, %r : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %relu = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                          iterator_types = ["parallel", "parallel"]}
      ins(%add : tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%l: f32, %a: f32):
    %s = arith.maximumf %l, %zero : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  return %relu : tensor<16x64xf32>
}
