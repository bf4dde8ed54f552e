// RUN: tilewright-opt %s --tw-dispatches | FileCheck %s

// The body looks up elements of a tensor that has none, and that is written in no kernel.

// CHECK-LABEL: func.func @no_elements
// CHECK: tw.dispatch @k0()
// CHECK: func.func private @k0
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x0xf32>
// CHECK: tensor.extract %[[E]]
func.func @no_elements() -> tensor<0x3xf32> {
  %none = tensor.empty() : tensor<3x0xf32>
  %e = tensor.empty() : tensor<0x3xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%e : tensor<0x3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %0 = tensor.extract %none[%j, %i] : tensor<3x0xf32>
    linalg.yield %0 : f32
  } -> tensor<0x3xf32>
  return %z : tensor<0x3xf32>
}
