// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=2xf32=10,20 --input=i64=3 --expected-output=2xf32=13,23 --expected-output=i64=8 | FileCheck %s
// RUN: tilewright run %t.so --input=1xf32=7 --input=i64=0 --expected-output=1xf32=7 --expected-output=i64=1 | FileCheck %s

// A loop over a number of rounds that is an input, which carries a tensor and a number.

// CHECK: agree
// CHECK: the one element agrees
!tensor = !torch.vtensor<[?],f32>
func.func @main(%x: !tensor, %n: !torch.int) -> (!tensor, !torch.int) {
  %one = torch.constant.int 1
  %true = torch.constant.bool true
  %y, %power = torch.prim.Loop %n, %true, init(%x, %one) {
  ^bb0(%i: !torch.int, %sum: !tensor, %p: !torch.int):
    %next = torch.aten.add.Scalar %sum, %i, %one : !tensor, !torch.int, !torch.int -> !tensor
    %twice = torch.aten.add.int %p, %p : !torch.int, !torch.int -> !torch.int
    torch.prim.Loop.condition %true, iter(%next, %twice : !tensor, !torch.int)
  } : (!torch.int, !torch.bool, !tensor, !torch.int) -> (!tensor, !torch.int)
  return %y, %power : !tensor, !torch.int
}
