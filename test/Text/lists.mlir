// RUN: tilewright run %s --input=4x3xf32=1,2,3,4,5,6,7,8,9,10,11,12 --input=2xi64=2,0 --expected-output=2x3xf32=6 --expected-output=4x2xf32=3,1,6,4,9,7,12,10 --expected-output=3x4xf32=-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12 | FileCheck %s

// Lists of tensors, of optional tensors and of sizes; a branch on whether an optional value is None.

// CHECK: all 6 elements agree
// CHECK: all 8 elements agree
// CHECK: all 12 elements agree

module {
  func.func @main(%x: !torch.vtensor<[4,?],f32>, %i: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[2,?],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[?,4],f32>) {
    %none = torch.constant.none
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %0 = torch.aten.split.Tensor %x, %int2, %int0 : !torch.vtensor<[4,?],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
    %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[2,?],f32>, !torch.vtensor<[2,?],f32>
    %2 = torch.aten.sub.Tensor %1#1, %1#0, %int1 : !torch.vtensor<[2,?],f32>, !torch.vtensor<[2,?],f32>, !torch.int -> !torch.vtensor<[2,?],f32>
    %3 = torch.prim.ListConstruct %none, %i : (!torch.none, !torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
    %4 = torch.aten.index.Tensor %x, %3 : !torch.vtensor<[4,?],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[4,2],f32>
    %5 = torch.aten.size %x : !torch.vtensor<[4,?],f32> -> !torch.list<int>
    %6 = torch.aten.__getitem__.t %5, %int1 : !torch.list<int>, !torch.int -> !torch.int
    %7:2 = torch.prim.ListUnpack %5 : !torch.list<int> -> !torch.int, !torch.int
    %8 = torch.prim.ListConstruct %6, %7#0 : (!torch.int, !torch.int) -> !torch.list<int>
    %9 = torch.aten.view %x, %8 : !torch.vtensor<[4,?],f32>, !torch.list<int> -> !torch.vtensor<[?,4],f32>
    %10 = torch.derefine %none : !torch.none to !torch.optional<int>
    %11 = torch.aten.__isnot__ %10, %none : !torch.optional<int>, !torch.none -> !torch.bool
    %12 = torch.prim.If %11 -> (!torch.vtensor<[?,4],f32>) {
      torch.prim.If.yield %9 : !torch.vtensor<[?,4],f32>
    } else {
      %13 = torch.aten.neg %9 : !torch.vtensor<[?,4],f32> -> !torch.vtensor<[?,4],f32>
      torch.prim.If.yield %13 : !torch.vtensor<[?,4],f32>
    }
    return %2, %4, %12 : !torch.vtensor<[2,?],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[?,4],f32>
  }
}
