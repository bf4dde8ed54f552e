// What check compares with is made without fusion, so it sees a fusion that is wrong. The pass of this
// compiler forgets the exponential.
// RUN: tilewright check %s --input=4xf32=0,1,2,3
// RUN: not env TILEWRIGHT_COMPILER=%broken_compiler tilewright check %s --input=4xf32=0,1,2,3 2>&1 | FileCheck %s
// CHECK: error[TW-CLI-0004]: output "output_0" differs from the reference target
// CHECK: error[TW-CLI-0010]: dispatch 0 "add" is the first that differs from the reference target
// CHECK-NEXT: --> check_fusion.mlir:[[# @LINE + 16]]:8
// CHECK-NEXT: note: it runs kernel k0
// CHECK-NEXT: note: its result is the value of check_fusion.mlir:[[# @LINE + 14]]:8
// CHECK-NEXT: note: 4 of 4 elements differ; largest error 17.1 absolute, 0.81 relative
// CHECK-NEXT: note: allowed is 0.0001 relative
// CHECK-NEXT: note: [3]: 4, expected 21.085537
// CHECK-NEXT: note: [2]: 3, expected 8.389056

// RUN: env TILEWRIGHT_COMPILER=%broken_compiler tilewright run %s --target=reference --input=4xf32=0,0,0,0 --expected-output=4xf32=2

// The reference target has a kernel for each operation.
// RUN: tilewright compile %s -o %t.so --report --target=reference | FileCheck %s --check-prefix=REPORT
// REPORT: dispatches 2
func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %one = torch.constant.int 1
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.add.Scalar %0, %one, %one : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}
