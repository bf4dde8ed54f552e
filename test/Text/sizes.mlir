// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=2x3xf32=1 --input=3x3xf32=2 --expected-output=2x3xf32=3 | FileCheck %s
// RUN: not tilewright run %t.so --input=3x3xf32=1 --input=3x3xf32=2 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not tilewright run %t.so --input=7x3xf32=1 --input=8x3xf32=2 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not tilewright run %t.so --input=5x3xf32=1 --input=6x3xf32=2 2>&1 | FileCheck %s --check-prefix=ASSERT

// Sizes with names and ranges, one computed from another, and an assertion on one.

// CHECK: all 6 elements agree
// OTHER: input "arg1" dimension 0 is 3, but the model says s77+1 with s77 = 3
// RANGE: dimension 0 makes s77 7, but the model was exported with s77 <= 6
// ASSERT: error[TW-RUNTIME-0013]: five rows are one too many

module {
  func.func @main(%arg0: !torch.vtensor<[?,3],f32>, %arg1: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> attributes {torch.assume_strict_symbolic_shapes} {
    %0 = torch.symbolic_int "s77" {min_val = 2, max_val = 6} : !torch.int
    %1 = torch.symbolic_int "s77 + 1" {min_val = 3, max_val = 7} : !torch.int
    torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
    torch.bind_symbolic_shape %arg1, [%0], affine_map<()[s0] -> (s0 + 1, 3)> : !torch.vtensor<[?,3],f32>
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int5 = torch.constant.int 5
    %none = torch.constant.none
    %2 = torch.aten.size.int %arg0, %int0 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.int
    %3 = torch.aten.ne.int %2, %int5 : !torch.int, !torch.int -> !torch.bool
    torch.runtime.assert %3, "five rows are one too many"
    %4 = torch.aten.slice.Tensor %arg1, %int0, %int1, %none, %int1 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,3],f32>
    torch.bind_symbolic_shape %4, [%0], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
    %5 = torch.aten.add.Tensor %arg0, %4, %int1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
    return %5 : !torch.vtensor<[?,3],f32>
  }
}
