// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=i64=2 --input=3xf32=1 --expected-output=3xf32=3 --expected-output=i64=9 | FileCheck %s
// RUN: tilewright run %t.so --input=i64=1000000000000 --input=3xf32=1 --expected-output=3xf32=5 --expected-output=i64=81 | FileCheck %s
// RUN: tilewright run %t.so --input=i64=0 --input=3xf32=1 --expected-output=3xf32=1 --expected-output=i64=1 | FileCheck %s

// A number of rounds that is given and a condition that ends the loop before; what it carries has a
// size that is known at run time.

// CHECK: all 3 elements agree
// CHECK: the one element agrees
!t = !torch.vtensor<[?],f32>
func.func @main(%n: !torch.int, %x: !t) -> (!t, !torch.int) {
  %true = torch.constant.bool true
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %r:2 = torch.prim.Loop %n, %true, init(%x, %int1) {
  ^bb0(%i: !torch.int, %a: !t, %k: !torch.int):
    %0 = torch.aten.lt.int %i, %int3 : !torch.int, !torch.int -> !torch.bool
    %b = torch.aten.add.Scalar %a, %int1, %int1 : !t, !torch.int, !torch.int -> !t
    %l = torch.aten.mul.int %k, %int3 : !torch.int, !torch.int -> !torch.int
    torch.prim.Loop.condition %0, iter(%b, %l : !t, !torch.int)
  } : (!torch.int, !torch.bool, !t, !torch.int) -> (!t, !torch.int)
  return %r#0, %r#1 : !t, !torch.int
}
