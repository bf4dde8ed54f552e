// Operations of a text have names, as nodes of an exported graph do: reports and decisions speak of them, and `check`
// and the kernels that are written out.
// RUN: tilewright compile %s -o %t.so --report=json > %t.json
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// REPORT: "name": "mm+2", "ops": "mm, add, bent", "calls": 1, "source": "operation_names.mlir:[[# @LINE + 23]]:8"
// REPORT-SAME: "ops": "mm_1, add_1"
// REPORT-SAME: {"decision": "fuse", "operators": ["mm", "bent"], "taken": true, "operations": ["mm", "bent"], "types": ["4x40xf32", "4x40xf32"]}
// REPORT-SAME: {"decision": "fuse", "operators": ["mm_1", "add_1"], "taken": true, "operations": ["mm", "add"], "types": ["4x40xf32", "4x40xf32"]}

// Decisions are given by these names.
// RUN: echo '{"decisions": [{"decision": "fuse", "operators": ["mm_1", "add_1"], "want": false}]}' > %t.apart.json
// RUN: tilewright compile %s -o %t.so --config=%t.apart.json --report | FileCheck %s --check-prefix=APART
// APART: dispatches 3
// RUN: echo '{"decisions": [{"decision": "fuse", "operators": ["mm_2", "add_1"], "want": false}]}' > %t.none.json
// RUN: tilewright compile %s -o %t.so --config=%t.none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: warning[TW-CONFIG-0004]: no decision of the model is fuse of mm_2 and add_1

// Kernels are files of these names, and say the line of the text.
// RUN: rm -rf %t.dumps
// RUN: tilewright compile %s -o %t.so --dump-to=%t.dumps
// RUN: FileCheck %s --check-prefix=SOURCE < %t.dumps/kernels/mm_add_bent.cpp
// SOURCE: // mm: operation_names.mlir:[[# @LINE + 6]]
// SOURCE: // bent: operation_names.mlir:[[# @LINE + 8]]
// SOURCE: replaces("mm_add_bent");

func.func @main(%x: !torch.vtensor<[4,40],f32>, %y: !torch.vtensor<[40,40],f32>) -> !torch.vtensor<[4,40],f32> {
  %one = torch.constant.int 1
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[4,40],f32>, !torch.vtensor<[40,40],f32> -> !torch.vtensor<[4,40],f32>
  %1 = torch.aten.add.Scalar %0, %one, %one : !torch.vtensor<[4,40],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,40],f32>
  // A name that the text gives is kept.
  %2 = torch.aten.tanh %1 : !torch.vtensor<[4,40],f32> -> !torch.vtensor<[4,40],f32> loc("bent"("operation_names.mlir":31:8))
  %3 = torch.aten.mm %2, %y : !torch.vtensor<[4,40],f32>, !torch.vtensor<[40,40],f32> -> !torch.vtensor<[4,40],f32>
  %4 = torch.aten.add.Scalar %3, %one, %one : !torch.vtensor<[4,40],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,40],f32>
  return %4 : !torch.vtensor<[4,40],f32>
}
