// RUN: tilewright compile %s -o %t.so
// RUN: tilewright inspect %t.so | FileCheck %s
// RUN: tilewright run %t.so --input=2x3xf32=1 --input=4xf32=2 --expected-output=2x3xf32=2 --expected-output=4xf32=3
// RUN: not tilewright run %t.so --input=2x3xf32=1 --input=9xf32=2 2>&1 | FileCheck %s --check-prefix=RANGE

// A function that is called has symbols of its own, whatever names the caller's have.

// CHECK: arg0: f32[n, 3]
// CHECK: arg1: f32[n_1]
// CHECK: n: 1 to 6
// CHECK: n_1: 1 to 8
// RANGE: makes n_1 9, but the model was exported with n_1 <= 8

func.func private @one_more(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %n = torch.symbolic_int "n" {min_val = 1, max_val = 8} : !torch.int
  torch.bind_symbolic_shape %x, [%n], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Scalar %x, %int1, %int1 : !torch.vtensor<[?],f32>, !torch.int, !torch.int -> !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}

func.func @main(%a: !torch.vtensor<[?,3],f32>, %b: !torch.vtensor<[?],f32>)
    -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?],f32>) {
  %n = torch.symbolic_int "n" {min_val = 1, max_val = 6} : !torch.int
  torch.bind_symbolic_shape %a, [%n], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Scalar %a, %int1, %int1 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
  %1 = func.call @one_more(%b) : (!torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32>
  return %0, %1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?],f32>
}
