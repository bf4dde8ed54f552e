// RUN: tilewright-opt %s --tw-number-values | FileCheck %s --check-prefix=NUMBERED
// RUN: tilewright-opt %s --tw-number-values --tw-dispatches | FileCheck %s
// RUN: tilewright-opt %s --tw-number-values --tw-dispatches | tilewright-opt | FileCheck %s

// The values of a graph have numbers; what dispatches compute is known by them (docs/bisect.md).

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// The exponential is computed twice and merged into what reads it: only sums and reshapes are left.
// NUMBERED-LABEL: @fused
// NUMBERED: linalg.generic {{.*}} attrs = {tw.values = [#tw.value<0 is 0 : tensor<4x6xf32>>]}
// NUMBERED: linalg.generic {{.*}} attrs = {tw.values = [#tw.value<0 is 1 : tensor<4x6xf32>>]}
// NUMBERED: tensor.collapse_shape {{.*}} {tw.values = [#tw.value<0 is 2 : tensor<24xf32>>]}
// CHECK-LABEL: @fused
// CHECK: tw.dispatch @k0(%arg0) {{.*}} tw.values = [#tw.value<0 is 1 : tensor<4x6xf32>>, #tw.value<0 is 2 : tensor<24xf32>>]
func.func @fused(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x6xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x6xf32>
  %flat = tensor.collapse_shape %b [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %flat : tensor<24xf32>
}

// What is computed twice is one dispatch, which is both values.
// CHECK-LABEL: @common
// CHECK: tw.dispatch @k1(%arg0) {{.*}} tw.values = [#tw.value<0 is 3 : tensor<4x6xf32>>, #tw.value<0 is 4 : tensor<4x6xf32>>]
// CHECK-NOT: tw.dispatch
func.func @common(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x6xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x6xf32>
  return %a, %b : tensor<4x6xf32>, tensor<4x6xf32>
}

// A convolution runs with channels last, also inside of a dispatch; what leaves is transposed back.
// CHECK-LABEL: @turned
// CHECK: tw.dispatch @k3{{.*}} {tw.inner = [#tw.value<1 is 5 : tensor<2x8x5x5xf32> order[0, 2, 3, 1]>, #tw.value<2 is 6 : tensor<2x8x5x5xf32>>], tw.values = [#tw.value<0 is 6 : tensor<2x8x5x5xf32>>]}
func.func @turned(%x: tensor<2x8x7x7xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<2x8x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32>
  %y = tw.conv ins(%x, %w : tensor<2x8x7x7xf32>, tensor<8x8x3x3xf32>)
      outs(%f : tensor<2x8x5x5xf32>)
      {dilations = array<i64: 1, 1>, groups = 1 : i64, padding_low = array<i64: 0, 0>, strides = array<i64: 1, 1>}
      -> tensor<2x8x5x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<2x8x5x5xf32>) outs(%e : tensor<2x8x5x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<2x8x5x5xf32>
  return %r : tensor<2x8x5x5xf32>
}
