// RUN: tilewright-opt %s -tw-dispatches -split-input-file | FileCheck %s

// A slice of an argument is read where it is used; one that leaves is copied by a kernel.

// CHECK-LABEL: func.func @slices
// CHECK: %[[A:.*]]:2 = tw.dispatch @k0(%arg0)
// CHECK-NOT: tensor.extract_slice
// CHECK: return
// CHECK: func.func private @k0
// CHECK: tensor.extract_slice
func.func @slices(%x: tensor<8x10xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %s = tensor.extract_slice %x[0, 2] [8, 4] [1, 1] : tensor<8x10xf32> to tensor<8x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%l: f32, %a: f32):
    %r = arith.negf %l : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  return %n, %s : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A concatenation writes each part into its place.

// CHECK-LABEL: func.func @joined
// CHECK: tw.dispatch @k0
// CHECK-NOT: tw.dispatch
// CHECK: func.func private @k0
// CHECK-COUNT-2: tensor.insert_slice
func.func @joined(%x: tensor<8x10xf32>, %y: tensor<8x3xf32>) -> tensor<8x13xf32> {
  %c = tensor.concat dim(1) %x, %y : (tensor<8x10xf32>, tensor<8x3xf32>) -> tensor<8x13xf32>
  return %c : tensor<8x13xf32>
}

// -----

// A reshape stays outside of kernels.

// CHECK-LABEL: func.func @reshaped
// CHECK: %[[R:.*]] = tensor.collapse_shape %arg0
// CHECK: tw.dispatch @k0(%[[R]])
func.func @reshaped(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %s = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%l: f32, %a: f32):
    %r = arith.negf %l : f32
    linalg.yield %r : f32
  } -> tensor<6x4xf32>
  return %n : tensor<6x4xf32>
}
