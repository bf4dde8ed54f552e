// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=i64=0 --input=2xf32=1,2 --expected-output=i64=3 --expected-output=2xf32=8,16 | FileCheck %s
// RUN: tilewright run %t.so --input=i64=2 --input=2xf32=1,2 --expected-output=i64=3 --expected-output=2xf32=2,4
// RUN: tilewright run %t.so --input=i64=5 --input=2xf32=1,2 --expected-output=i64=5 --expected-output=2xf32=1,2

// A loop until a condition on what it computes fails, with its condition and body as functions: the
// form in which torch-mlir prints torch.while_loop. The last call does no round.

// CHECK: the one element agrees
// CHECK: all 2 elements agree

module {
  func.func private @cond(%x: !torch.vtensor<[],si64>, %y: !torch.vtensor<[2],f32>) -> !torch.vtensor<[],i1> {
    %int3 = torch.constant.int 3
    %0 = torch.aten.lt.Scalar %x, %int3 : !torch.vtensor<[],si64>, !torch.int -> !torch.vtensor<[],i1>
    return %0 : !torch.vtensor<[],i1>
  }
  func.func private @body(%x: !torch.vtensor<[],si64>, %y: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>) {
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %0 = torch.aten.add.Scalar %x, %int1, %int1 : !torch.vtensor<[],si64>, !torch.int, !torch.int -> !torch.vtensor<[],si64>
    %1 = torch.aten.mul.Scalar %y, %int2 : !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f32>
    return %0, %1 : !torch.vtensor<[],si64>, !torch.vtensor<[2],f32>
  }
  func.func @main(%x: !torch.vtensor<[],si64>, %y: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>) {
    %0 = call @cond(%x, %y) : (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[],i1>
    %1 = torch.aten.Bool.Tensor %0 : !torch.vtensor<[],i1> -> !torch.bool
    %max = torch.constant.int 9223372036854775807
    %2:2 = torch.prim.Loop %max, %1, init(%x, %y) {
    ^bb0(%i: !torch.int, %a: !torch.vtensor<[],si64>, %b: !torch.vtensor<[2],f32>):
      %3:2 = func.call @body(%a, %b) : (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>)
      %4 = func.call @cond(%3#0, %3#1) : (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[],i1>
      %5 = torch.aten.Bool.Tensor %4 : !torch.vtensor<[],i1> -> !torch.bool
      torch.prim.Loop.condition %5, iter(%3#0, %3#1 : !torch.vtensor<[],si64>, !torch.vtensor<[2],f32>)
    } : (!torch.int, !torch.bool, !torch.vtensor<[],si64>, !torch.vtensor<[2],f32>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>)
    return %2#0, %2#1 : !torch.vtensor<[],si64>, !torch.vtensor<[2],f32>
  }
}
