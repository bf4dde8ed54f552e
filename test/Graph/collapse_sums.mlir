// RUN: tilewright-opt %s --tw-collapse-sums --split-input-file | FileCheck %s

// The gradient of the weight of a convolution of single elements: its window is a loop of one iteration.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @weight_gradient
// CHECK:       tensor.collapse_shape %arg0 {{\[\[}}0, 1, 2], [3]] : tensor<4x56x56x128xf32> into tensor<12544x128xf32>
// CHECK:       tensor.collapse_shape %arg1 {{\[\[}}0, 1, 2], [3]] : tensor<4x56x56x256xf32> into tensor<12544x256xf32>
// CHECK:       linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:       tensor.expand_shape
func.func @weight_gradient(%dy: tensor<4x56x56x128xf32>, %x: tensor<4x56x56x256xf32>, %init: tensor<1x1x128x256xf32>) -> tensor<1x1x128x256xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, i, n, h, w) -> (n, h, w, o)>,
                                        affine_map<(kh, kw, o, i, n, h, w) -> (n, kh + h, kw + w, i)>,
                                        affine_map<(kh, kw, o, i, n, h, w) -> (kh, kw, o, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %x : tensor<4x56x56x128xf32>, tensor<4x56x56x256xf32>) outs(%init : tensor<1x1x128x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x1x128x256xf32>
  return %0 : tensor<1x1x128x256xf32>
}

// -----

// The same of every other element: of a slice. The batch may be of any size.
// CHECK-LABEL: func @strided
// CHECK:       tensor.extract_slice %arg1[0, 0, 0, 0] [%{{.*}}, 28, 28, 256] [1, 2, 2, 1] : tensor<?x56x56x256xf32> to tensor<?x28x28x256xf32>
// CHECK:       iterator_types = ["parallel", "parallel", "reduction"]
func.func @strided(%dy: tensor<?x28x28x128xf32>, %x: tensor<?x56x56x256xf32>, %init: tensor<1x1x128x256xf32>) -> tensor<1x1x128x256xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, i, n, h, w) -> (n, h, w, o)>,
                                        affine_map<(kh, kw, o, i, n, h, w) -> (n, h * 2 + kh, w * 2 + kw, i)>,
                                        affine_map<(kh, kw, o, i, n, h, w) -> (kh, kw, o, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %x : tensor<?x28x28x128xf32>, tensor<?x56x56x256xf32>) outs(%init : tensor<1x1x128x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x1x128x256xf32>
  return %0 : tensor<1x1x128x256xf32>
}

// -----

// Sums that one operand has in another order, and those along windows, stay.
// CHECK-LABEL: func @other_order
// CHECK-NOT:   collapse_shape
// CHECK:       "reduction", "reduction"]
func.func @other_order(%a: tensor<8x4x16xf32>, %b: tensor<4x8x32xf32>, %init: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (k, l, m)>,
                                        affine_map<(m, n, k, l) -> (l, k, n)>,
                                        affine_map<(m, n, k, l) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<8x4x16xf32>, tensor<4x8x32xf32>) outs(%init : tensor<16x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

// CHECK-LABEL: func @window
// CHECK-NOT:   collapse_shape
// CHECK:       "reduction", "reduction", "reduction"]
func.func @window(%dy: tensor<4x54x54x8xf32>, %x: tensor<4x56x56x16xf32>, %init: tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, i, n, h, w) -> (n, h, w, o)>,
                                        affine_map<(kh, kw, o, i, n, h, w) -> (n, kh + h, kw + w, i)>,
                                        affine_map<(kh, kw, o, i, n, h, w) -> (kh, kw, o, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %x : tensor<4x54x54x8xf32>, tensor<4x56x56x16xf32>) outs(%init : tensor<3x3x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x3x8x16xf32>
  return %0 : tensor<3x3x8x16xf32>
}
