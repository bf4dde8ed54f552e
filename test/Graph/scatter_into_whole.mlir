// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tilewright-opt %s -tw-scatter-into-whole -canonicalize | FileCheck %s

#at = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// Two updates of a slice that is put back are updates of the whole; what reads the slice between them reads the
// whole's.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[AT:.*]]: tensor<2xi64>, %[[V:.*]]: tensor<2x4xf32>, %[[ALL:.*]]: tensor<3x8x4xf32>)
// CHECK: %[[FIRST:.*]] = tw.scatter set ins(%[[AT]], %[[V]] : {{.*}}) outs(%[[ALL]] : tensor<3x8x4xf32>)
// CHECK: ^bb0(%[[I:.*]]: i64, %[[X:.*]]: f32):
// CHECK-DAG: %[[J:.*]] = tw.index 1
// CHECK-DAG: %[[ROW:.*]] = arith.index_cast %[[I]]
// CHECK: tw.yield %c2, %[[ROW]], %[[J]], %[[X]]
// CHECK: %[[BETWEEN:.*]] = tensor.extract_slice %[[FIRST]][2, 0, 0] [1, 8, 4]
// CHECK: %[[SECOND:.*]] = tw.scatter add ins(%[[AT]], %[[V]] : {{.*}}) outs(%[[FIRST]] : tensor<3x8x4xf32>)
// CHECK-NOT: insert_slice
// CHECK: return %[[SECOND]]
func.func @layer(%at: tensor<2xi64>, %v: tensor<2x4xf32>, %all: tensor<3x8x4xf32>)
    -> (tensor<3x8x4xf32>, tensor<8x4xf32>) {
  %s = tensor.extract_slice %all[2, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<3x8x4xf32> to tensor<1x8x4xf32>
  %c = tensor.collapse_shape %s [[0, 1], [2]] : tensor<1x8x4xf32> into tensor<8x4xf32>
  %u = tw.scatter set ins(%at, %v : tensor<2xi64>, tensor<2x4xf32>) outs(%c : tensor<8x4xf32>)
      attributes {indexing_maps = [#at, #all]} {
  ^bb0(%i: i64, %x: f32):
    %j = tw.index 1
    %row = arith.index_cast %i : i64 to index
    tw.yield %row, %j, %x : index, index, f32
  } -> tensor<8x4xf32>
  %w = tw.scatter add ins(%at, %v : tensor<2xi64>, tensor<2x4xf32>) outs(%u : tensor<8x4xf32>)
      attributes {indexing_maps = [#at, #all]} {
  ^bb0(%i: i64, %x: f32):
    %j = tw.index 1
    %row = arith.index_cast %i : i64 to index
    tw.yield %row, %j, %x : index, index, f32
  } -> tensor<8x4xf32>
  %e = tensor.expand_shape %w [[0, 1], [2]] output_shape [1, 8, 4] : tensor<8x4xf32> into tensor<1x8x4xf32>
  %y = tensor.insert_slice %e into %all[2, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<1x8x4xf32> into tensor<3x8x4xf32>
  return %y, %u : tensor<3x8x4xf32>, tensor<8x4xf32>
}

// A part of a dimension: positions in it are moved by where it begins.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[ROW:.*]] = arith.index_cast
// CHECK: %[[MOVED:.*]] = arith.addi %[[ROW]], %c3
// CHECK: tw.yield %[[MOVED]],
// CHECK-NOT: insert_slice
func.func @rows(%at: tensor<2xi64>, %v: tensor<2x4xf32>, %all: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = tensor.extract_slice %all[3, 0] [5, 4] [1, 1] : tensor<8x4xf32> to tensor<5x4xf32>
  %u = tw.scatter set ins(%at, %v : tensor<2xi64>, tensor<2x4xf32>) outs(%s : tensor<5x4xf32>)
      attributes {indexing_maps = [#at, #all]} {
  ^bb0(%i: i64, %x: f32):
    %j = tw.index 1
    %row = arith.index_cast %i : i64 to index
    tw.yield %row, %j, %x : index, index, f32
  } -> tensor<5x4xf32>
  %y = tensor.insert_slice %u into %all[3, 0] [5, 4] [1, 1] : tensor<5x4xf32> into tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Put somewhere else, it stays.
// CHECK-LABEL: func.func @elsewhere(
// CHECK: insert_slice
func.func @elsewhere(%at: tensor<2xi64>, %v: tensor<2x4xf32>, %all: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = tensor.extract_slice %all[3, 0] [5, 4] [1, 1] : tensor<8x4xf32> to tensor<5x4xf32>
  %u = tw.scatter set ins(%at, %v : tensor<2xi64>, tensor<2x4xf32>) outs(%s : tensor<5x4xf32>)
      attributes {indexing_maps = [#at, #all]} {
  ^bb0(%i: i64, %x: f32):
    %j = tw.index 1
    %row = arith.index_cast %i : i64 to index
    tw.yield %row, %j, %x : index, index, f32
  } -> tensor<5x4xf32>
  %y = tensor.insert_slice %u into %all[2, 0] [5, 4] [1, 1] : tensor<5x4xf32> into tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
