// RUN: tilewright-opt %s --canonicalize | FileCheck %s
// Sizes that types state, elements of lists that are written out, conditions that are known.

// CHECK-LABEL: @sizes
// CHECK-DAG: %[[C3:.*]] = torch.constant.int 3
// CHECK-DAG: %[[C2:.*]] = torch.constant.int 2
// CHECK-DAG: %[[C0:.*]] = torch.constant.int 0
// CHECK: %[[S:.*]] = torch.aten.size.int %arg0, %[[C0]]
// CHECK: return %[[S]], %[[C3]], %[[C2]]
func.func @sizes(%x: !torch.vtensor<[?,3],f32>) -> (!torch.int, !torch.int, !torch.int) {
  %int0 = torch.constant.int 0
  %int-1 = torch.constant.int -1
  %list = torch.aten.size %x : !torch.vtensor<[?,3],f32> -> !torch.list<int>
  %0 = torch.aten.__getitem__.t %list, %int0 : !torch.list<int>, !torch.int -> !torch.int
  %1 = torch.aten.__getitem__.t %list, %int-1 : !torch.list<int>, !torch.int -> !torch.int
  %2 = torch.aten.len.t %list : !torch.list<int> -> !torch.int
  return %0, %1, %2 : !torch.int, !torch.int, !torch.int
}

// A list that is appended to is not what its construction says.
// CHECK-LABEL: @appended
// CHECK: torch.aten.len.t
func.func @appended(%i: !torch.int) -> !torch.int {
  %list = torch.prim.ListConstruct %i : (!torch.int) -> !torch.list<int>
  %more = torch.aten.append.t %list, %i : !torch.list<int>, !torch.int -> !torch.list<int>
  %0 = torch.aten.len.t %list : !torch.list<int> -> !torch.int
  return %0 : !torch.int
}

// CHECK-LABEL: @slice
// CHECK: %[[L:.*]] = torch.prim.ListConstruct %arg0, %arg1 : (!torch.int, !torch.int) -> !torch.list<int>
// CHECK: torch.aten.view %arg2, %[[L]]
func.func @slice(%a: !torch.int, %b: !torch.int, %x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?,?],f32> {
  %none = torch.constant.none
  %int-2 = torch.constant.int -2
  %int1 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %1 = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %2 = torch.aten.add.t %0, %1 : !torch.list<int>, !torch.list<int> -> !torch.list<int>
  %3 = torch.aten.slice.t %2, %int-2, %none, %int1 : !torch.list<int>, !torch.int, !torch.none, !torch.int -> !torch.list<int>
  %4 = torch.aten.view %x, %3 : !torch.vtensor<[?],f32>, !torch.list<int> -> !torch.vtensor<[?,?],f32>
  return %4 : !torch.vtensor<[?,?],f32>
}

// CHECK-LABEL: @branch
// CHECK-NOT: torch.prim.If
// CHECK: torch.aten.relu
// CHECK-NOT: torch.aten.neg
func.func @branch(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %none = torch.constant.none
  %absent = torch.derefine %none : !torch.none to !torch.optional<int>
  %0 = torch.aten.__is__ %absent, %none : !torch.optional<int>, !torch.none -> !torch.bool
  torch.runtime.assert %0, "never fails"
  %1 = torch.prim.If %0 -> (!torch.vtensor<[2],f32>) {
    %2 = torch.aten.relu %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    torch.prim.If.yield %2 : !torch.vtensor<[2],f32>
  } else {
    %2 = torch.aten.neg %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    torch.prim.If.yield %2 : !torch.vtensor<[2],f32>
  }
  return %1 : !torch.vtensor<[2],f32>
}

// CHECK-LABEL: @facts
// CHECK-DAG: %[[D:.*]] = torch.constant.int 15
// CHECK-DAG: %[[N:.*]] = torch.constant.int 6
// CHECK: return %[[D]], %[[N]], %arg1
func.func @facts(%x: !torch.vtensor<[2,3],bf16>, %i: !torch.int) -> (!torch.int, !torch.int, !torch.int) {
  %0 = torch.prim.dtype %x : !torch.vtensor<[2,3],bf16> -> !torch.int
  %1 = torch.aten.numel %x : !torch.vtensor<[2,3],bf16> -> !torch.int
  %2 = torch.prim.TupleConstruct %x, %i : !torch.vtensor<[2,3],bf16>, !torch.int -> !torch.tuple<vtensor, int>
  %3:2 = torch.prim.TupleUnpack %2 : !torch.tuple<vtensor, int> -> !torch.vtensor, !torch.int
  return %0, %1, %3#1 : !torch.int, !torch.int, !torch.int
}

// Repeated work is merged and unused work dropped; random numbers and writes are neither.
// CHECK-LABEL: @effects
// CHECK-COUNT-2: torch.aten.rand_like
// CHECK-NOT: torch.aten.exp
// CHECK: torch.aten.add_.Scalar
func.func @effects(%x: !torch.vtensor<[2],f32>, %t: !torch.tensor, %i: !torch.int) -> !torch.vtensor<[2],f32> {
  %none = torch.constant.none
  %unused = torch.aten.exp %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  %0 = torch.aten.rand_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[2],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],f32>
  %1 = torch.aten.rand_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[2],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],f32>
  %2 = torch.aten.add.Tensor %0, %1, %i : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f32>
  %3 = torch.aten.add_.Scalar %t, %i, %i : !torch.tensor, !torch.int, !torch.int -> !torch.tensor
  return %2 : !torch.vtensor<[2],f32>
}
