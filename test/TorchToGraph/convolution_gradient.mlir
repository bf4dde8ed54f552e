// RUN: tilewright-opt %s -torch-to-graph | FileCheck %s

// The gradient of a convolution with respect to the input is a transposed one,
// with respect to the filter a matrix for each tap: a sum over images and places of the gradient times the padded input.

// CHECK-DAG: #[[DY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d0, d3, d6, d7)>
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d0, d4, d6 * 2 + d1, d7 * 2 + d2)>
// CHECK-DAG: #[[G:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: func.func @backward
// CHECK: tw.conv transposed ins(%arg0, %arg2
// CHECK: tensor.pad %arg1 low[0, 0, 1, 1] high[0, 0, 0, 0]
// CHECK: linalg.generic {indexing_maps = [#[[DY]], #[[X]], #[[G]]]
// CHECK-SAME: outs(%{{.*}} : tensor<1x3x3x4x3xf32>)
func.func @backward(%dy: !torch.vtensor<[2,4,4,4],f32>, %x: !torch.vtensor<[2,3,8,8],f32>, %w: !torch.vtensor<[4,3,3,3],f32>) -> (!torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>) {
  %none = torch.constant.none
  %no = torch.constant.bool false
  %yes = torch.constant.bool true
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %zeros = torch.prim.ListConstruct %zero, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %twos = torch.prim.ListConstruct %two, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %mask = torch.prim.ListConstruct %yes, %yes, %no : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %g:3 = torch.aten.convolution_backward %dy, %x, %w, %none, %twos, %ones, %ones, %no, %zeros, %one, %mask : !torch.vtensor<[2,4,4,4],f32>, !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int, !torch.list<bool> -> !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.none
  return %g#0, %g#1 : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>
}
