// RUN: tilewright-opt %s --tw-dispatches | FileCheck %s

// A view between two small operations of one kernel stays in it, also where the second one reads it
// only inside its body.

// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = tw.dispatch @k0(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @k0
// CHECK: math.exp
// CHECK: %[[V:.*]] = tensor.collapse_shape
// CHECK: tensor.extract %[[V]]
func.func @main(%x: tensor<2x3xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %c6 = arith.constant 6 : index
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<2x3xf32>
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %f = tensor.empty() : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%i : tensor<4xi64>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: i64, %out: f32):
    %0 = arith.index_cast %in : i64 to index
    %1 = tw.check_index %0 in %c6, "index %lld is out of range for size %lld"
    %2 = tensor.extract %flat[%1] : tensor<6xf32>
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}
