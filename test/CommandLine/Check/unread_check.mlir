// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=2xi64=1,4 | FileCheck %s
// RUN: not tilewright run %t.so --input=2xi64=1,5 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: tilewright compile %s -o %t.so --target=reference
// RUN: not tilewright run %t.so --input=2xi64=1,5 2>&1 | FileCheck %s --check-prefix=BEYOND

// Positions in what is the same everywhere are checked, although nothing is read there.

// CHECK: [0, 0, 0]
// BEYOND: error[TW-RUNTIME-0013]: aten.index_select: index 5 is out of range for dimension 0 with size 5
func.func @main(%i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,3],f32> {
  %0 = torch.constant.int 0
  %3 = torch.constant.int 3
  %5 = torch.constant.int 5
  %none = torch.constant.none
  %sizes = torch.prim.ListConstruct %5, %3 : (!torch.int, !torch.int) -> !torch.list<int>
  %zeros = torch.aten.zeros %sizes, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[5,3],f32>
  %x = torch.aten.index_select %zeros, %0, %i : !torch.vtensor<[5,3],f32>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[2,3],f32>
  return %x : !torch.vtensor<[2,3],f32>
}
