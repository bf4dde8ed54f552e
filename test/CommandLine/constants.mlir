// RUN: tilewright compile %s -o %t.so --report --dump-to=%t.dump > %t.report 2>&1
// RUN: FileCheck %s --check-prefix=REPORT < %t.report
// RUN: cat %t.dump/03-graph.mlir | FileCheck %s
// RUN: tilewright run %s --input=1x2xf32=1,2 --expected-output=1x2xf32=2.2,2.2 | FileCheck %s --check-prefix=RESULT
// RUN: env TMPDIR=%t.nowhere not tilewright compile %s -o %t.so 2>&1 | FileCheck %s --check-prefix=FOLDER

// The rows of a weight are divided by their norms, (3, 4) / 5 and (6, 8) / 10, when the program is
// compiled: what runs is one product with the result.

// FOLDER: error[TW-IO-0002]: no folder for temporary files can be made in {{.*}}.nowhere: No such file
// FOLDER-NEXT: help: set TMPDIR
// REPORT: evaluated at compile time
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = tw.weight <"constant_0"
// CHECK: tw.dispatch @k0(%arg0, %[[W]])
// CHECK-NOT: tw.dispatch
// CHECK: func.func private @k0
// CHECK-NOT: math.sqrt
// RESULT: all 2 elements agree
func.func @main(%x: !torch.vtensor<[1,2],f32>) -> !torch.vtensor<[1,2],f32> {
  %w = torch.vtensor.literal(dense<[[3.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>) : !torch.vtensor<[2,2],f32>
  %one = torch.constant.int 1
  %none = torch.constant.none
  %true = torch.constant.bool true
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %squares = torch.aten.mul.Tensor %w, %w : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32> -> !torch.vtensor<[2,2],f32>
  %sum = torch.aten.sum.dim_IntList %squares, %dims, %true, %none : !torch.vtensor<[2,2],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,1],f32>
  %norm = torch.aten.sqrt %sum : !torch.vtensor<[2,1],f32> -> !torch.vtensor<[2,1],f32>
  %unit = torch.aten.div.Tensor %w, %norm : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,1],f32> -> !torch.vtensor<[2,2],f32>
  %y = torch.aten.linear %x, %unit, %none : !torch.vtensor<[1,2],f32>, !torch.vtensor<[2,2],f32>, !torch.none -> !torch.vtensor<[1,2],f32>
  return %y : !torch.vtensor<[1,2],f32>
}
