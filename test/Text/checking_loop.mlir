// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=i64=3 --input=2xf32=1 --expected-output=2xf32=1
// RUN: not tilewright run %t.so --input=i64=5 --input=2xf32=1 2>&1 | FileCheck %s

// A loop that carries nothing and only checks.

// CHECK: error[TW-RUNTIME-0013]: too many rounds
func.func @main(%n: !torch.int, %x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %true = torch.constant.bool true
  %int3 = torch.constant.int 3
  torch.prim.Loop %n, %true, init() {
  ^bb0(%i: !torch.int):
    %0 = torch.aten.lt.int %i, %int3 : !torch.int, !torch.int -> !torch.bool
    torch.runtime.assert %0, "too many rounds"
    torch.prim.Loop.condition %true, iter()
  } : (!torch.int, !torch.bool) -> ()
  return %x : !torch.vtensor<[2],f32>
}
