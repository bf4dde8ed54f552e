// RUN: tilewright-opt %s -tw-group-queries | FileCheck %s

#q = affine_map<(b, h, l, s, e, f) -> (b, h, l, e)>
#k = affine_map<(b, h, l, s, e, f) -> (b, h, s, e)>
#v = affine_map<(b, h, l, s, e, f) -> (b, h, s, f)>
#o = affine_map<(b, h, l, s, e, f) -> (b, l, h, f)>

// Keys and values are read as they are; queries and the output get a dimension for their groups.
// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d5)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d6)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2, d6)>
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %[[QUERY:.*]]: tensor<1x6x?x8xf32>, %[[KEY:.*]]: tensor<1x2x50x8xf32>
// CHECK: %[[H:.*]] = tensor.expand_shape %[[QUERY]] {{.*}} into tensor<1x2x3x?x8xf32>
// CHECK: %[[R:.*]] = tw.attention ins(%[[H]], %[[KEY]], %[[KEY]]
// CHECK-SAME: indexing_maps = [#[[Q]], #[[K]], #[[V]], #[[O]]]
// CHECK-SAME: -> tensor<1x?x2x3x8xf32>
// CHECK: tensor.collapse_shape %[[R]] {{.*}} into tensor<1x?x6x8xf32>
func.func @repeated(%q: tensor<1x6x?x8xf32>, %k: tensor<1x2x50x8xf32>, %l: index) -> tensor<1x?x6x8xf32> {
  %scale = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<1x2x3x50x8xf32>
  %b = linalg.broadcast ins(%k : tensor<1x2x50x8xf32>) outs(%e : tensor<1x2x3x50x8xf32>) dimensions = [2]
  %r = tensor.collapse_shape %b [[0], [1, 2], [3], [4]] : tensor<1x2x3x50x8xf32> into tensor<1x6x50x8xf32>
  %o = tensor.empty(%l) : tensor<1x?x6x8xf32>
  %a = tw.attention ins(%q, %r, %r : tensor<1x6x?x8xf32>, tensor<1x6x50x8xf32>, tensor<1x6x50x8xf32>)
      scale %scale outs(%o : tensor<1x?x6x8xf32>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<1x?x6x8xf32>
  return %a : tensor<1x?x6x8xf32>
}

// Heads that are tiled, not repeated one by one, stay.
// CHECK-LABEL: func.func @tiled
// CHECK: linalg.broadcast
// CHECK: tw.attention
// CHECK-SAME: tensor<1x6x50x8xf32>
func.func @tiled(%q: tensor<1x6x4x8xf32>, %k: tensor<1x2x50x8xf32>) -> tensor<1x4x6x8xf32> {
  %scale = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<1x3x2x50x8xf32>
  %b = linalg.broadcast ins(%k : tensor<1x2x50x8xf32>) outs(%e : tensor<1x3x2x50x8xf32>) dimensions = [1]
  %r = tensor.collapse_shape %b [[0], [1, 2], [3], [4]] : tensor<1x3x2x50x8xf32> into tensor<1x6x50x8xf32>
  %o = tensor.empty() : tensor<1x4x6x8xf32>
  %a = tw.attention ins(%q, %r, %r : tensor<1x6x4x8xf32>, tensor<1x6x50x8xf32>, tensor<1x6x50x8xf32>)
      scale %scale outs(%o : tensor<1x4x6x8xf32>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<1x4x6x8xf32>
  return %a : tensor<1x4x6x8xf32>
}
