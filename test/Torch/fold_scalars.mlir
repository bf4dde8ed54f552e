// RUN: tilewright-opt %s --canonicalize | FileCheck %s
// Arithmetic on Python constants is done at compile time, as Python does it.

// CHECK-LABEL: @ints
// CHECK-DAG: %[[A:.*]] = torch.constant.int -4
// CHECK-DAG: %[[B:.*]] = torch.constant.int 1
// CHECK-DAG: %[[C:.*]] = torch.constant.int 49
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @ints() -> (!torch.int, !torch.int, !torch.int) {
  %int-7 = torch.constant.int -7
  %int2 = torch.constant.int 2
  %0 = torch.aten.floordiv.int %int-7, %int2 : !torch.int, !torch.int -> !torch.int
  %1 = torch.aten.remainder.int %int-7, %int2 : !torch.int, !torch.int -> !torch.int
  %2 = torch.aten.mul.int %int-7, %int-7 : !torch.int, !torch.int -> !torch.int
  return %0, %1, %2 : !torch.int, !torch.int, !torch.int
}

// What Python would do with more bits, or refuse, is left alone.
// CHECK-LABEL: @left_alone
// CHECK: torch.aten.mul.int
// CHECK: torch.aten.floordiv.int
func.func @left_alone() -> (!torch.int, !torch.int) {
  %big = torch.constant.int 9223372036854775807
  %int0 = torch.constant.int 0
  %0 = torch.aten.mul.int %big, %big : !torch.int, !torch.int -> !torch.int
  %1 = torch.aten.floordiv.int %big, %int0 : !torch.int, !torch.int -> !torch.int
  return %0, %1 : !torch.int, !torch.int
}

// CHECK-LABEL: @mixed
// CHECK-DAG: %[[F:.*]] = torch.constant.float 3.500000e+00
// CHECK-DAG: %[[T:.*]] = torch.constant.bool true
// CHECK-DAG: %[[I:.*]] = torch.constant.int 3
// CHECK: return %[[F]], %[[T]], %[[I]]
func.func @mixed() -> (!torch.float, !torch.bool, !torch.int) {
  %int7 = torch.constant.int 7
  %half = torch.constant.float 0.5
  %0 = torch.aten.mul.int_float %int7, %half : !torch.int, !torch.float -> !torch.float
  %1 = torch.aten.gt.float_int %0, %int7 : !torch.float, !torch.int -> !torch.bool
  %2 = torch.aten.__not__ %1 : !torch.bool -> !torch.bool
  %3 = torch.aten.Int.float %0 : !torch.float -> !torch.int
  return %0, %2, %3 : !torch.float, !torch.bool, !torch.int
}

// Numbers keep their kind: int + int is an int.
// CHECK-LABEL: @numbers
// CHECK: %[[I:.*]] = torch.constant.int 12
// CHECK: return %[[I]]
func.func @numbers() -> !torch.int {
  %int5 = torch.constant.int 5
  %int7 = torch.constant.int 7
  %0 = torch.aten.add %int5, %int7 : !torch.int, !torch.int -> !torch.number
  %1 = torch.aten.Int.Scalar %0 : !torch.number -> !torch.int
  return %1 : !torch.int
}
