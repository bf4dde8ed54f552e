// Configurations by rules: the first matcher that matches decides, and a configuration file before all specs.
// RUN: split-file %s %t
// RUN: tilewright compile %t/model.mlir --target=cpu:x86-64-v3 --tuning-spec=%t/rows.mlir -o %t.so --report=json > %t.json
// RUN: %python %t/rows.py %t.json | FileCheck %s --check-prefix=ROWS
// ROWS: first 2
// ROWS-NEXT: second 4
// ROWS-NEXT: configured by rows.mlir:{{[0-9]+:[0-9]+}}, @few_columns
// ROWS-NEXT: configured by rows.mlir:{{[0-9]+:[0-9]+}}, @columns_of_16

// What does not fit a kernel is left out, and the report says why.
// RUN: tilewright compile %t/model.mlir --target=cpu:x86-64-v3 --tuning-spec=%t/wide.mlir -o %t.so --report 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: wide.mlir:{{[0-9]+:[0-9]+}}, @all does not fit: {{.*}} = {{[0-9]+}} must not be more than 16: vector registers hold the block

// Of several specs the one that is given first decides; so it is in what they are linked to,
// where what is in both is there once.
// RUN: tilewright compile %t/model.mlir --target=cpu:x86-64-v3 --tuning-spec=%t/wide.mlir --tuning-spec=%t/rows.mlir -o %t.so --report 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: tilewright link-specs %t/rows.mlir %t/wide.mlir %t/rows.mlir -o %t/linked.mlir
// RUN: FileCheck %s --check-prefix=LINKED < %t/linked.mlir
// LINKED: tuning.target = "cpu", tuning.version = 4 : i64
// LINKED: @few_columns({{.*}} attributes {tuning.measured = {machine = "a"}}
// LINKED: transform.foreach_match
// LINKED-NEXT: @few_columns -> @configure,
// LINKED-NEXT: @columns_of_16 -> @configure,
// LINKED-NEXT: @all -> @configure :
// RUN: tilewright compile %t/model.mlir --target=cpu:x86-64-v3 --tuning-spec=%t/linked.mlir -o %t.so --report=json > %t2.json
// RUN: %python %t/rows.py %t2.json | FileCheck %s --check-prefix=SAME
// SAME: first 2
// SAME-NEXT: second 4

// A configuration file decides over specs.
// RUN: sed -E 's/"rows": [0-9]+/"rows": 1/g' %t.json > %t.config.json
// RUN: tilewright compile %t/model.mlir --target=cpu:x86-64-v3 --tuning-spec=%t/rows.mlir --config=%t.config.json -o %t.so --report=json > %t3.json
// RUN: %python %t/rows.py %t3.json | FileCheck %s --check-prefix=CONFIG
// CONFIG: first 1
// CONFIG-NEXT: second 1
// CONFIG-NOT: configured by

//--- model.mlir
func.func @main(%x: !torch.vtensor<[12,64],f32>, %y: !torch.vtensor<[64,8],f32>, %z: !torch.vtensor<[64,48],f32>)
    -> (!torch.vtensor<[12,8],f32>, !torch.vtensor<[12,48],f32>) {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[12,64],f32>, !torch.vtensor<[64,8],f32> -> !torch.vtensor<[12,8],f32>
  %1 = torch.aten.mm %x, %z : !torch.vtensor<[12,64],f32>, !torch.vtensor<[64,48],f32> -> !torch.vtensor<[12,48],f32>
  return %0, %1 : !torch.vtensor<[12,8],f32>, !torch.vtensor<[12,48],f32>
}

//--- rows.mlir
module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu"} {
  transform.named_sequence @few_columns(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) attributes {tuning.measured = {machine = "a"}} {
    transform.tuning.match.kernel %kernel {kind = "contraction", dtypes = ["f32", "f32", "f32"]} : !transform.any_op
    transform.tuning.match.size %kernel "rows" equals 12 : !transform.any_op
    transform.tuning.match.size %kernel "columns" least 2 most 15 : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", rows = 2} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @columns_of_16(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.size %kernel "columns" multiple_of 16 : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", rows = 4, target = {kind = "cpu", accumulators_in_memory = false}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%kernel: !transform.any_op {transform.readonly},
      %configuration: !transform.any_param {transform.readonly}) {
    transform.annotate %kernel "configuration" = %configuration : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    %matched = transform.foreach_match in %kernels
        @few_columns -> @configure, @columns_of_16 -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

//--- wide.mlir
module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu"} {
  transform.named_sequence @all(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    %configuration = transform.param.constant {kind = "contraction", rows = 12, columns = 16} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%kernel: !transform.any_op {transform.readonly},
      %configuration: !transform.any_param {transform.readonly}) {
    transform.annotate %kernel "configuration" = %configuration : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    %matched = transform.foreach_match in %kernels @all -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

//--- rows.py
import json
import sys
report = json.load(open(sys.argv[1]))
for name, dispatch in zip(("first", "second"), report["configurations"]):
    print(name, dispatch["kernels"][0]["rows"])
for remark in report["remarks"]:
    if "configured by" in remark["text"]:
        print(remark["text"])
