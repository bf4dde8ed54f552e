// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=2x4xf32=1,2,3,4,5,6,7,8 --input=2x4xi64=1 --input=2x1xf32=100,200 | FileCheck %s

// What is stored over the result of a scatter replaces what the scatter has added.

// CHECK: 100, 12, 3, 4
// CHECK: 200, 32, 7, 8
!tensor = !torch.vtensor<[2,4],f32>
func.func @main(%x: !tensor, %i: !torch.vtensor<[2,4],si64>, %y: !torch.vtensor<[2,1],f32>) -> !tensor {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %0 = torch.aten.scatter_add %x, %one, %i, %x : !tensor, !torch.int, !torch.vtensor<[2,4],si64>, !tensor -> !tensor
  %1 = torch.aten.slice_scatter %0, %y, %one, %zero, %one, %one : !tensor, !torch.vtensor<[2,1],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !tensor
  return %1 : !tensor
}
