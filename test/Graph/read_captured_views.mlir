// RUN: tilewright-opt %s -tw-read-captured-views | FileCheck %s

// A body that looks up in a column of a tensor reads the tensor; so does a loop in it.
// CHECK-LABEL: func.func @column
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: tensor.extract %arg0[%[[I]], %[[THREE]]] : tensor<128x26xi64>
func.func @column(%x: tensor<128x26xi64>) -> tensor<8xi64> {
  %s = tensor.extract_slice %x[0, 3] [128, 1] [1, 1] : tensor<128x26xi64> to tensor<128x1xi64>
  %v = tensor.collapse_shape %s [[0, 1]] : tensor<128x1xi64> into tensor<128xi64>
  %e = tensor.empty() : tensor<8xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<8xi64>) {
  ^bb0(%o: i64):
    %zero = arith.constant 0 : i64
    %i = linalg.index 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %sum = scf.for %k = %i to %c128 step %c1 iter_args(%t = %zero) -> (i64) {
      %a = tensor.extract %v[%k] : tensor<128xi64>
      %u = arith.addi %t, %a : i64
      scf.yield %u : i64
    }
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}

// Steps and offsets that are known at run time only; a slice that drops a dimension.
// CHECK-LABEL: func.func @strided
// CHECK-SAME: %[[X:.*]]: tensor<16x8xf32>, %[[AT:.*]]: index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = arith.muli %[[I]], %[[TWO]]
// CHECK: tensor.extract %[[X]][%[[AT]], %[[J]]] : tensor<16x8xf32>
func.func @strided(%x: tensor<16x8xf32>, %at: index) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[%at, 0] [1, 4] [1, 2] : tensor<16x8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = tensor.extract %s[%i] : tensor<4xf32>
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// What repeats a tensor along dimensions is not made: it may be larger than memory.
// CHECK-LABEL: func.func @expanded
// CHECK-SAME: %[[X:.*]]: tensor<1x1048576xf32>
// CHECK-NOT: tensor<1048576x1048576xf32>
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: tensor.extract %[[X]][%{{.*}}, %[[I]]] : tensor<1x1048576xf32>
func.func @expanded(%x: tensor<1x1048576xf32>) -> tensor<4xf32> {
  %big = tensor.empty() : tensor<1048576x1048576xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1x1048576xf32>) outs(%big : tensor<1048576x1048576xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1048576x1048576xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c7 = arith.constant 7 : index
    %a = tensor.extract %v[%c7, %i] : tensor<1048576x1048576xf32>
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// A reshape that splits a dimension has other indices.
// CHECK-LABEL: func.func @split
// CHECK: tensor.expand_shape
func.func @split(%x: tensor<8xf32>) -> tensor<4xf32> {
  %v = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c1 = arith.constant 1 : index
    %a = tensor.extract %v[%c1, %i] : tensor<2x4xf32>
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
