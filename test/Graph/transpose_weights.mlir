// RUN: tilewright-opt %s -tw-transpose-weights | FileCheck %s

// A linear layer's weight is read the other way round: only its strides change.

// CHECK: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @linear
// CHECK: tw.weight <{{.*}} strides[1, 768]> : tensor<768x3072xf32>
// CHECK: indexing_maps = [#{{.*}}, #[[KN]], #{{.*}}]
func.func @linear(%x: tensor<128x768xf32>, %o: tensor<128x3072xf32>) -> tensor<128x3072xf32> {
  %w = tw.weight <"w" in "m.pt2"[64, 9437184] start 0 strides[768, 1]> : tensor<3072x768xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x768xf32>, tensor<3072x768xf32>) outs(%o : tensor<128x3072xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<128x3072xf32>
  return %y : tensor<128x3072xf32>
}
