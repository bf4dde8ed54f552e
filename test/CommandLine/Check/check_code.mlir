// The code of this compiler is wrong where it has exp or tanh: the interpreter, which runs the same kernel, tells that
// from a kernel that is wrong.
// RUN: tilewright check %s --interpret --input=4x8xf32=random:1 --input=8x8xf32=random:2 | FileCheck %s --check-prefix=FINE
// FINE: dispatches: 2 compared, of which 0 differ; 0 not compared
// FINE-NEXT: kernels: 2 interpreted, of which 0 differ; 0 not interpreted
// RUN: not env TILEWRIGHT_COMPILER=%broken_code tilewright check %s --interpret --input=4x8xf32=random:1 --input=8x8xf32=random:2 2>&1 | FileCheck %s
// CHECK: error[TW-CLI-0010]: dispatch 0 "{{.*}}" is the first that differs from the reference target
// CHECK: note: the interpreter computes something else from its kernel: the code is wrong
// CHECK: note: kernel {{.*}} gives another result 0 than the interpreter: {{[0-9]+}} of 32 elements differ
// CHECK: note: dispatches: 2 compared, of which 1 differ; 0 not compared
// RUN: not env TILEWRIGHT_COMPILER=%broken_code tilewright check %s --interpret --json --input=4x8xf32=random:1 --input=8x8xf32=random:2 2>/dev/null | FileCheck %s --check-prefix=JSON
// JSON: "same": false, "dispatches": {"first": {"dispatch": 0,{{.*}} "as_interpreted": false, "worst": {{\[}}{"index": [{{[0-3], [0-7]}}], "actual": {{.*}} "others": [], "compared": [0, 1], "compared_within": [], "not_compared": [], "interpreted": 2, "not_interpreted": [], "kernels": {{\[}}{"kernel": {{.*}} "dispatch": 0, "result": 0,
func.func @main(%x: !torch.vtensor<[4,8],f32>, %y: !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32> -> !torch.vtensor<[4,8],f32>
  %1 = torch.aten.tanh %0 : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %2 = torch.aten.mm %1, %y : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32> -> !torch.vtensor<[4,8],f32>
  return %2 : !torch.vtensor<[4,8],f32>
}
