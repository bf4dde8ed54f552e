// RUN: tilewright-opt %s -split-input-file -torch-to-graph | FileCheck %s

// self[:, i, j] is one gather: indices that stand next to each other leave their dimensions there,
// and what is read is checked first.

// CHECK: #[[$I:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic {indexing_maps = [#[[$I]], #[[$I]], #{{.*}}]{{.*}} ins(%arg1, %arg2
// CHECK: %[[R:.*]] = linalg.index 0
// CHECK: %[[A:.*]] = tw.check_index {{.*}}, "aten.index.Tensor: index %lld is out of range for dimension 1 with size %lld"
// CHECK: %[[B:.*]] = tw.check_index
// CHECK: tensor.extract %arg0[%[[R]], %[[A]], %[[B]]]
func.func @main(%x: !torch.vtensor<[2,3,5],f32>, %i: !torch.vtensor<[4],si64>, %j: !torch.vtensor<[4],si32>) -> !torch.vtensor<[2,4],f32> {
  %none = torch.constant.none
  %list = torch.prim.ListConstruct %none, %i, %j : (!torch.none, !torch.vtensor<[4],si64>, !torch.vtensor<[4],si32>) -> !torch.list<optional<vtensor>>
  %y = torch.aten.index.Tensor %x, %list : !torch.vtensor<[2,3,5],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[2,4],f32>
  return %y : !torch.vtensor<[2,4],f32>
}

// -----

// Sums of f16 are rounded once: they are added up in f32.

// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<5xf16>)
// CHECK: %[[S:.*]] = tw.scatter add ins(%arg1, %arg2 : tensor<3xi64>, tensor<3xf16>) outs(%[[W]]
// CHECK: tw.yield %{{.*}}, %{{.*}} : index, f32
// CHECK: linalg.generic {{.*}} ins(%[[S]]
func.func @main(%x: !torch.vtensor<[5],f16>, %i: !torch.vtensor<[3],si64>, %v: !torch.vtensor<[3],f16>) -> !torch.vtensor<[5],f16> {
  %zero = torch.constant.int 0
  %y = torch.aten.scatter_add %x, %zero, %i, %v : !torch.vtensor<[5],f16>, !torch.int, !torch.vtensor<[3],si64>, !torch.vtensor<[3],f16> -> !torch.vtensor<[5],f16>
  return %y : !torch.vtensor<[5],f16>
}

// -----

// A number written where a mask is true is a choice; nothing is counted or scattered.

// CHECK-LABEL: func.func @main
// CHECK-NOT: tw.scatter
// CHECK: arith.select
// CHECK-NOT: tw.scatter
// CHECK: return
func.func @main(%x: !torch.vtensor<[2,3],f32>, %m: !torch.vtensor<[2],i1>, %v: !torch.vtensor<[],f32>) -> !torch.vtensor<[2,3],f32> {
  %no = torch.constant.bool false
  %list = torch.prim.ListConstruct %m : (!torch.vtensor<[2],i1>) -> !torch.list<optional<vtensor>>
  %y = torch.aten.index_put %x, %list, %v, %no : !torch.vtensor<[2,3],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[],f32>, !torch.bool -> !torch.vtensor<[2,3],f32>
  return %y : !torch.vtensor<[2,3],f32>
}

// -----

// topk is a sort of which the first are kept.

// CHECK-LABEL: func.func @main
// CHECK: %[[V:.*]], %[[I:.*]] = tw.sort dim 1 ins(%arg0 {{.*}}descending
// CHECK-SAME: -> tensor<2x3xf32>, tensor<2x3xi64>
// CHECK-NEXT: return %[[V]], %[[I]]
func.func @main(%x: !torch.vtensor<[2,7],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],si64>) {
  %k = torch.constant.int 3
  %dim = torch.constant.int -1
  %yes = torch.constant.bool true
  %v, %i = torch.aten.topk %x, %k, %dim, %yes, %yes : !torch.vtensor<[2,7],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],si64>
  return %v, %i : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],si64>
}

// -----

// An index without elements may have any rank: nothing is read or written.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<5xf32>
// CHECK-NOT: tw.scatter
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x0xf32>
// CHECK-NOT: tw.scatter
// CHECK: return %[[E]], %[[X]]
func.func @main(%x: !torch.vtensor<[5],f32>, %i: !torch.vtensor<[2,0],si64>) -> (!torch.vtensor<[2,0],f32>, !torch.vtensor<[5],f32>) {
  %dim = torch.constant.int 0
  %no = torch.constant.bool false
  %y = torch.aten.gather %x, %dim, %i, %no : !torch.vtensor<[5],f32>, !torch.int, !torch.vtensor<[2,0],si64>, !torch.bool -> !torch.vtensor<[2,0],f32>
  %z = torch.aten.scatter_add %x, %dim, %i, %y : !torch.vtensor<[5],f32>, !torch.int, !torch.vtensor<[2,0],si64>, !torch.vtensor<[2,0],f32> -> !torch.vtensor<[5],f32>
  return %y, %z : !torch.vtensor<[2,0],f32>, !torch.vtensor<[5],f32>
}
