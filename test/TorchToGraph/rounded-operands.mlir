// RUN: tilewright run %s --input=1xbf16=-256 --input=1xi32=257 --input=2xbf16=-256,-256 | FileCheck %s
// Integers that meet a narrow float are rounded to it first, here 257 to 256; but for a single one
// beside several elements, which PyTorch takes for a number.

// CHECK: output_0: 1xbf16
// CHECK-NEXT: [0]
// CHECK: output_1: 2xbf16
// CHECK-NEXT: [1, 1]
func.func @main(%x: !torch.vtensor<[1],bf16>, %n: !torch.vtensor<[1],si32>, %y: !torch.vtensor<[2],bf16>) -> (!torch.vtensor<[1],bf16>, !torch.vtensor<[2],bf16>) {
  %one = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %n, %one : !torch.vtensor<[1],bf16>, !torch.vtensor<[1],si32>, !torch.int -> !torch.vtensor<[1],bf16>
  %1 = torch.aten.add.Tensor %y, %n, %one : !torch.vtensor<[2],bf16>, !torch.vtensor<[1],si32>, !torch.int -> !torch.vtensor<[2],bf16>
  return %0, %1 : !torch.vtensor<[1],bf16>, !torch.vtensor<[2],bf16>
}
