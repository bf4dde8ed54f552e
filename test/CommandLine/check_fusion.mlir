// What check compares with is made without fusion, so it sees a fusion that is wrong. The pass of this
// compiler forgets the exponential.
// RUN: tilewright check %s --input=4xf32=0,1,2,3
// RUN: not env TILEWRIGHT_COMPILER=%broken_compiler tilewright check %s --input=4xf32=0,1,2,3 2>&1 | FileCheck %s
// CHECK: error[TW-CLI-0004]: output "output_0" differs from the reference target

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
