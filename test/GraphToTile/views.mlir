// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -cse -split-input-file | FileCheck %s

// A part of the columns is read in rows of another length: it is copied first, and the host program
// reshapes the copy.
// CHECK-LABEL: tile.kernel @rows_0(in %in0: !tile.buffer<[6, 10], f32>, out %out1: !tile.buffer<[6, 5], f32>)
// CHECK: tile.kernel @rows_1(in %in0: !tile.buffer<[10, 3], f32>
// CHECK: tile.reduce sum
func.func private @rows(%x: tensor<6x10xf32>, %out: tensor<10xf32>) -> tensor<10xf32>
    attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %x[0, 2] [6, 5] [1, 1] : tensor<6x10xf32> to tensor<6x5xf32>
  %flat = tensor.collapse_shape %part [[0, 1]] : tensor<6x5xf32> into tensor<30xf32>
  %rows = tensor.expand_shape %flat [[0, 1]] output_shape [10, 3] : tensor<30xf32> into tensor<10x3xf32>
  %none = linalg.fill ins(%zero : f32) outs(%out : tensor<10xf32>) -> tensor<10xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%rows : tensor<10x3xf32>) outs(%none : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<10xf32>
  return %y : tensor<10xf32>
}

// -----

// A part of a filled tensor is the number.
// CHECK-LABEL: tile.kernel @filled(in %in0: !tile.buffer<[8], f32>, out %out1: !tile.buffer<[8], f32>)
// CHECK: tile.full %cst
func.func private @filled(%x: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32>
    attributes {tw.kernel} {
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<3x16xf32>
  %all = linalg.fill ins(%half : f32) outs(%e : tensor<3x16xf32>) -> tensor<3x16xf32>
  %some = tensor.extract_slice %all[1, 4] [1, 8] [1, 1] : tensor<3x16xf32> to tensor<8xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>, affine_map<(n) -> (n)>],
      iterator_types = ["parallel"]} ins(%x, %some : tensor<8xf32>, tensor<8xf32>)
      outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Windows of an operand are loads at the sum of two loops, as in the gradient of a convolution.
// CHECK-LABEL: tile.kernel @gradient(
// CHECK: tile.for %[[I:.*]] = {{.*}} carry
// CHECK: tile.load %in1[%[[I]], %{{.*}}] : !tile.buffer<[42, 5], f32>
func.func private @gradient(%x: tensor<42x5xf32>, %g: tensor<40x4xf32>, %out: tensor<3x5x4xf32>)
    -> tensor<3x5x4xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %none = linalg.fill ins(%zero : f32) outs(%out : tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(t, c, o, i) -> (t + i, c)>, affine_map<(t, c, o, i) -> (i, o)>,
                       affine_map<(t, c, o, i) -> (t, c, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : tensor<42x5xf32>, tensor<40x4xf32>) outs(%none : tensor<3x5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<3x5x4xf32>
  return %y : tensor<3x5x4xf32>
}

// -----

// What is no product of matrices is a reduction: nothing is summed over here.
// CHECK-LABEL: tile.kernel @outer(
// CHECK-NOT: tile.dot
// CHECK: arith.mulf
func.func private @outer(%x: tensor<4x1xf32>, %y: tensor<1x6xf32>, %out: tensor<4x6xf32>)
    -> tensor<4x6xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %none = linalg.fill ins(%zero : f32) outs(%out : tensor<4x6xf32>) -> tensor<4x6xf32>
  %z = linalg.matmul ins(%x, %y : tensor<4x1xf32>, tensor<1x6xf32>) outs(%none : tensor<4x6xf32>)
    -> tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}

// -----

// Only an argument says how long the loop is.
// CHECK-LABEL: tile.kernel @window(
// CHECK-SAME: %size_d{{[0-9]+}}: index as d{{[0-9]+}})
// CHECK: tile.for
func.func private @window(%n: index, %x: tensor<9x4xf32>, %out: tensor<4xf32>) -> tensor<4xf32>
    attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %shape = tensor.empty(%n) : tensor<?xi1>
  %none = linalg.fill ins(%zero : f32) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(a, i) -> (i)>, affine_map<(a, i) -> (a)>],
      iterator_types = ["parallel", "reduction"]} ins(%shape : tensor<?xi1>) outs(%none : tensor<4xf32>) {
  ^bb0(%s: i1, %o: f32):
    %a = linalg.index 0 : index
    %i = linalg.index 1 : index
    %e = tensor.extract %x[%i, %a] : tensor<9x4xf32>
    %t = arith.mulf %o, %e : f32
    %r = arith.subf %t, %e : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The base of an update is as long as the result, which says it.
// CHECK-LABEL: tile.kernel @count(in %in1: !tile.buffer<[d0], i64>, out %out0: !tile.buffer<[a0_0], f32>, %n0: i64)
// CHECK: tile.store %{{.*}}, %out0[%c0] : tensor<?xf32, #tile.dims<[a0_0]>>
func.func private @count(%at: tensor<?xi64>, %n: index, %out: tensor<?xf32>) -> tensor<?xf32>
    attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %none = linalg.fill ins(%zero : f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %y = tw.scatter add ins(%at : tensor<?xi64>) outs(%none : tensor<?xf32>)
      attributes {indexing_maps = [affine_map<(a) -> (a)>]} {
    ^bb0(%p: i64):
      %i = arith.index_cast %p : i64 to index
      %s = tw.check_index %i in %n, "index %lld is not below %lld"
      tw.yield %s, %one : index, f32 } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
