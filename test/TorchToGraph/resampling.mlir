// RUN: tilewright-opt %s -torch-to-graph | FileCheck %s

// Twice as large by linear interpolation: one gather of two taps.

// CHECK-LABEL: func.func @main
// CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: linalg.generic
// CHECK: linalg.index 2
// CHECK: arith.mulf %[[SCALE]]
// CHECK-COUNT-2: tensor.extract %arg0[
// CHECK: linalg.yield
// CHECK-NOT: linalg.generic
func.func @main(%x: !torch.vtensor<[1,2,4],f32>) -> !torch.vtensor<[1,2,8],f32> {
  %eight = torch.constant.int 8
  %false = torch.constant.bool false
  %none = torch.constant.none
  %size = torch.prim.ListConstruct %eight : (!torch.int) -> !torch.list<int>
  %y = torch.aten.upsample_linear1d %x, %size, %false, %none : !torch.vtensor<[1,2,4],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,2,8],f32>
  return %y : !torch.vtensor<[1,2,8],f32>
}
