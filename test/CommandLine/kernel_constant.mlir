// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=1x5xi64=5,6,7,8,9 | FileCheck %s

// A difference that turns out to be 0 only where it is a tile: kernels have constants of their own.

// CHECK: [0, 0, 0, 0, 0]
func.func @main(%x: !torch.vtensor<[1,5],si64>) -> !torch.vtensor<[1,5],si64> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %0 = torch.aten.flatten.using_ints %x, %zero, %one : !torch.vtensor<[1,5],si64>, !torch.int, !torch.int -> !torch.vtensor<[5],si64>
  %1 = torch.aten.sub.Tensor %x, %0, %one : !torch.vtensor<[1,5],si64>, !torch.vtensor<[5],si64>, !torch.int -> !torch.vtensor<[1,5],si64>
  return %1 : !torch.vtensor<[1,5],si64>
}
