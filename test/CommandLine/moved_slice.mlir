// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=9xbf16=1,2,3,4,5,6,7,8,9 | FileCheck %s
// RUN: tilewright compile %s -o %t.so --target=reference
// RUN: tilewright run %t.so --input=9xbf16=1,2,3,4,5,6,7,8,9 | FileCheck %s

// A slice with steps whose reader is found to do nothing, late: what is left is a copy of the slice.

// CHECK: [1, 3, 5, 7, 9]
func.func @main(%x: !torch.vtensor<[9],bf16>) -> !torch.vtensor<[5],bf16> {
  %zero = torch.constant.int 0
  %two = torch.constant.int 2
  %nine = torch.constant.int 9
  %0 = torch.aten.slice.Tensor %x, %zero, %zero, %nine, %two : !torch.vtensor<[9],bf16>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[5],bf16>
  %1 = torch.aten.maximum %0, %0 : !torch.vtensor<[5],bf16>, !torch.vtensor<[5],bf16> -> !torch.vtensor<[5],bf16>
  return %1 : !torch.vtensor<[5],bf16>
}
