// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=2x2xf32=1,2,3,4 --expected-output=2x2xf32=2,4,6,8 --expected-output=i64=2 | FileCheck %s
// RUN: not tilewright run %t.so --input=3x2xf32=1 2>&1 | FileCheck %s --check-prefix=RAISED

// TorchScript's form: an exception in a branch, numbers as tensors, results as a tuple.

// CHECK: all 4 elements agree
// RAISED: error[TW-RUNTIME-0013]: AssertionError: an even number of rows

func.func @forward(%x: !torch.vtensor<[?,2],f32>) -> !torch.tuple<vtensor<[?,2],f32>, vtensor<[],si64>> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %none = torch.constant.none
  %str = torch.constant.str "AssertionError: an even number of rows"
  %0 = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,2],f32>, !torch.int -> !torch.int
  %1 = torch.aten.remainder.int %0, %int2 : !torch.int, !torch.int -> !torch.int
  %2 = torch.aten.eq.int %1, %int0 : !torch.int, !torch.int -> !torch.bool
  torch.prim.If %2 -> () {
    torch.prim.If.yield
  } else {
    torch.prim.RaiseException %str, %none : !torch.str, !torch.none
    torch.prim.If.yield
  }
  %3 = torch.prim.NumToTensor.Scalar %0 : !torch.int -> !torch.vtensor<[],si64>
  %4 = torch.aten.Int.Tensor %3 : !torch.vtensor<[],si64> -> !torch.int
  %5 = torch.aten.Float.Scalar %4 : !torch.int -> !torch.float
  %6 = torch.aten.mul.Scalar %x, %5 : !torch.vtensor<[?,2],f32>, !torch.float -> !torch.vtensor<[?,2],f32>
  %7 = torch.prim.TupleConstruct %6, %3 : !torch.vtensor<[?,2],f32>, !torch.vtensor<[],si64> -> !torch.tuple<vtensor<[?,2],f32>, vtensor<[],si64>>
  return %7 : !torch.tuple<vtensor<[?,2],f32>, vtensor<[],si64>>
}
