// RUN: tilewright-opt %s -tw-form-dispatches | FileCheck %s

// A reshape between two operations of a kernel belongs to it, also where the second reads it in
// its body.

// CHECK-LABEL: func.func @main
// CHECK: tw.dispatch @k0
// CHECK-NOT: collapse_shape
// CHECK: return
// CHECK: func.func private @k0
// CHECK: tensor.collapse_shape
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  %c = tensor.collapse_shape %y [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %f = tensor.empty() : tensor<6xf32>
  %last = arith.constant 5 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%f : tensor<6xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %back = arith.subi %last, %i : index
    %v = tensor.extract %c[%back] : tensor<6xf32>
    linalg.yield %v : f32
  } -> tensor<6xf32>
  return %z : tensor<6xf32>
}
