// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
// Reductions are a fill and one generic whose reduced dimensions iterate last; a softmax stays a
// maximum, exponentials, a sum and a division; a variance takes two passes.

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: @sum
// CHECK: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: tensor.expand_shape {{.*}} output_shape [2, 1, 5]
func.func @sum(%x: !torch.vtensor<[2,3,5],bf16>) -> !torch.vtensor<[2,1,5],bf16> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %int-2 = torch.constant.int -2
  %dims = torch.prim.ListConstruct %int-2 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.sum.dim_IntList %x, %dims, %true, %none : !torch.vtensor<[2,3,5],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,1,5],bf16>
  return %0 : !torch.vtensor<[2,1,5],bf16>
}

// CHECK-LABEL: @softmax
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
// CHECK-LABEL: @var
// CHECK-COUNT-2: "reduction"
func.func @softmax(%x: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32> {
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %0 = torch.aten.softmax.int %x, %int1, %none : !torch.vtensor<[2,?],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,?],f32>
  return %0 : !torch.vtensor<[2,?],f32>
}

func.func @var(%x: !torch.vtensor<[2,5],f32>) -> !torch.vtensor<[2],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int1 = torch.constant.int 1
  %dims = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.var.correction %x, %dims, %int1, %false : !torch.vtensor<[2,5],f32>, !torch.list<int>, !torch.int, !torch.bool -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
