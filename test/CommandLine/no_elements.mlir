// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=0x13x5xf32=0 --input=3x0xf32=0 | FileCheck %s

// Tensors without elements, one with an unknown size too: its kernel takes one size for each tensor
// that it runs over, where the program knows that to be 0. And sums of no products.

// CHECK: output_0: 0x13x5xf32
// CHECK: output_1: 3x3xf32
// CHECK-NEXT: 0, 0, 0
!tensor = !torch.vtensor<[0,13,?],f32>
func.func @main(%x: !tensor, %y: !torch.vtensor<[3,0],f32>)
    -> (!tensor, !torch.vtensor<[3,3],f32>) {
  %none = torch.constant.none
  %0 = torch.aten.selu %x : !tensor -> !tensor
  %1 = torch.aten.sum %0, %none : !tensor, !torch.none -> !torch.vtensor<[],f32>
  %2 = torch.aten.maximum %0, %1 : !tensor, !torch.vtensor<[],f32> -> !tensor
  %3 = torch.aten.t %y : !torch.vtensor<[3,0],f32> -> !torch.vtensor<[0,3],f32>
  %4 = torch.aten.mm %y, %3 : !torch.vtensor<[3,0],f32>, !torch.vtensor<[0,3],f32> -> !torch.vtensor<[3,3],f32>
  return %2, %4 : !tensor, !torch.vtensor<[3,3],f32>
}
