// RUN: tilewright-opt --torch-to-graph --tw-drop-dead-results %s | FileCheck %s
// Pooling is a fill and one generic over windows. Of a max pooling whose positions nobody reads only
// the values are left.

// CHECK-LABEL: @values
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<1x3x4x4xf32>)
func.func @values(%x: !torch.vtensor<[1,3,8,8],f32>) -> !torch.vtensor<[1,3,4,4],f32> {
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %two = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %zero = torch.prim.ListConstruct %int0, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  %one = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0:2 = torch.aten.max_pool2d_with_indices %x, %two, %two, %zero, %one, %false : !torch.vtensor<[1,3,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,3,4,4],f32>, !torch.vtensor<[1,3,4,4],si64>
  return %0#0 : !torch.vtensor<[1,3,4,4],f32>
}

// Sizes that divide make windows of one length, and a division by a number.
// CHECK-LABEL: @adaptive
// CHECK: arith.constant 8.000000e+00
// CHECK: tensor.empty() : tensor<2x4xi1>
// CHECK-NOT: arith.ceildivui
// CHECK: arith.divf
func.func @adaptive(%x: !torch.vtensor<[1,3,6,16],f32>) -> !torch.vtensor<[1,3,3,4],f32> {
  %int3 = torch.constant.int 3
  %int4 = torch.constant.int 4
  %sizes = torch.prim.ListConstruct %int3, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.adaptive_avg_pool2d %x, %sizes : !torch.vtensor<[1,3,6,16],f32>, !torch.list<int> -> !torch.vtensor<[1,3,3,4],f32>
  return %0 : !torch.vtensor<[1,3,3,4],f32>
}

// One window over all of an image is a mean.
// CHECK-LABEL: @whole
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]{{.*}} ins(%arg0
// CHECK-NOT: tensor.extract
func.func @whole(%x: !torch.vtensor<[1,3,7,5],f32>) -> !torch.vtensor<[1,3,1,1],f32> {
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int5 = torch.constant.int 5
  %int7 = torch.constant.int 7
  %size = torch.prim.ListConstruct %int7, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
  %zero = torch.prim.ListConstruct %int0, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.avg_pool2d %x, %size, %size, %zero, %false, %true, %none : !torch.vtensor<[1,3,7,5],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[1,3,1,1],f32>
  return %0 : !torch.vtensor<[1,3,1,1],f32>
}
