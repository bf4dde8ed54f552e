// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tilewright-opt %s --torch-to-graph | FileCheck %s

// What core ATen makes of select_scatter is one again: a slice is put into the base.
// CHECK-LABEL: func.func @middle
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 0] [2, 1, 4] [1, 1, 1]
// CHECK-NOT: arith.select
func.func @middle(%base: !torch.vtensor<[2,3,4],f32>, %x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,3,4],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int4 = torch.constant.int 4
  %places = torch.aten.arange.start_step %int0, %int3, %int1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],si64>
  %shape = torch.prim.ListConstruct %int1, %int-1, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %along = torch.aten.view %places, %shape : !torch.vtensor<[3],si64>, !torch.list<int> -> !torch.vtensor<[1,3,1],si64>
  %is = torch.aten.eq.Scalar %along, %int1 : !torch.vtensor<[1,3,1],si64>, !torch.int -> !torch.vtensor<[1,3,1],i1>
  %row = torch.aten.unsqueeze %x, %int1 : !torch.vtensor<[2,4],f32>, !torch.int -> !torch.vtensor<[2,1,4],f32>
  %sizes = torch.prim.ListConstruct %int2, %int3, %int4 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %rows = torch.aten.expand %row, %sizes, %false : !torch.vtensor<[2,1,4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[2,3,4],f32>
  %y = torch.aten.where.self %is, %rows, %base : !torch.vtensor<[1,3,1],i1>, !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,3,4],f32> -> !torch.vtensor<[2,3,4],f32>
  return %y : !torch.vtensor<[2,3,4],f32>
}

// Along another dimension than the condition: it is a choice.
// CHECK-LABEL: func.func @across
// CHECK: arith.select
func.func @across(%base: !torch.vtensor<[3,3],f32>, %x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3,3],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %int3 = torch.constant.int 3
  %places = torch.aten.arange.start_step %int0, %int3, %int1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],si64>
  %shape = torch.prim.ListConstruct %int-1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  %along = torch.aten.view %places, %shape : !torch.vtensor<[3],si64>, !torch.list<int> -> !torch.vtensor<[3,1],si64>
  %is = torch.aten.eq.Scalar %along, %int1 : !torch.vtensor<[3,1],si64>, !torch.int -> !torch.vtensor<[3,1],i1>
  %row = torch.aten.unsqueeze %x, %int1 : !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3,1],f32>
  %sizes = torch.prim.ListConstruct %int3, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
  %rows = torch.aten.expand %row, %sizes, %false : !torch.vtensor<[3,1],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[3,3],f32>
  %y = torch.aten.where.self %is, %rows, %base : !torch.vtensor<[3,1],i1>, !torch.vtensor<[3,3],f32>, !torch.vtensor<[3,3],f32> -> !torch.vtensor<[3,3],f32>
  return %y : !torch.vtensor<[3,3],f32>
}
