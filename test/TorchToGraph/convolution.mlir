// RUN: tilewright-opt %s -torch-to-graph | FileCheck %s

// A convolution is one tw.conv, its bias one elementwise op after it.

// CHECK-LABEL: func.func @main
// CHECK: %[[Z:.*]] = linalg.fill {{.*}} -> tensor<1x4x6x6xf32>
// CHECK: %[[C:.*]] = tw.conv ins(%arg0, %arg1 : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
// CHECK-SAME: outs(%[[Z]] : tensor<1x4x6x6xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[C]]
// CHECK: arith.addf
func.func @main(%x: !torch.vtensor<[1,3,8,8],f32>, %w: !torch.vtensor<[4,3,3,3],f32>, %b: !torch.vtensor<[4],f32>) -> !torch.vtensor<[1,4,6,6],f32> {
  %one = torch.constant.int 1
  %zero = torch.constant.int 0
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %zeros = torch.prim.ListConstruct %zero, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %y = torch.aten.conv2d %x, %w, %b, %ones, %zeros, %ones, %one : !torch.vtensor<[1,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.vtensor<[4],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,6,6],f32>
  return %y : !torch.vtensor<[1,4,6,6],f32>
}
