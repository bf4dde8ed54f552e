// `interleaved` was a field of every product before it was the cpu target's own, and `vnni_packed` before that:
// files that have it so are read as they were meant.
// RUN: split-file %s %t

// A configuration file.
// RUN: tilewright compile %models/mlp_bf16/mlp_bf16.pt2 --target=cpu:amx -o %t.so --report=json > %t/now.json
// RUN: FileCheck %s --check-prefix=NOW < %t/now.json
// NOW: "kind": "contraction"
// NOW-NOT: interleaved
// NOW-SAME: "target": {"kind": "cpu", "accumulators_in_memory": false, "interleaved": true}
// RUN: %python %t/earlier.py %t/now.json > %t/earlier.json
// RUN: FileCheck %s --check-prefix=EARLIER < %t/earlier.json
// EARLIER: "interleaved": false, {{.*}}"target": {"kind": "cpu", "accumulators_in_memory": false}
// RUN: tilewright compile %models/mlp_bf16/mlp_bf16.pt2 --target=cpu:amx --config=%t/earlier.json -o %t.so --report=json | FileCheck %s --check-prefix=READ
// READ: "target": {"kind": "cpu", "accumulators_in_memory": false, "interleaved": false}

// One for a GPU, whose products beside the tensor cores had the cpu target's own fields, without effect.
// RUN: tilewright compile %t/model.mlir --target=nvidia:sm_90a -o %t.so --report=json > %t/now.json
// RUN: %python %t/others.py %t/now.json > %t/others.json
// RUN: tilewright compile %t/model.mlir --target=nvidia:sm_90a --config=%t/others.json -o %t.so --report=json | FileCheck %s --check-prefix=OTHERS
// OTHERS: "version": 4
// OTHERS: "kind": "contraction", {{.*}}"rows": 1,
// OTHERS-NOT: "target": {
// RUN: sed 's/{"configurations"/{"version": 3, "configurations"/' %t/others.json > %t/late.json
// RUN: not tilewright compile %t/model.mlir --target=nvidia:sm_90a --config=%t/late.json -o %t.so 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error[TW-CONFIG-0001]: {{.*}}: it has fields of "cpu", but the target has none of its own here

// Specs of versions 1 and 2, in which a spec for GPUs has it, too, without effect. They are linked under present names.
// RUN: sed -e 's/EARLIER/interleaved = false/' -e 's/VERSION/2/' -e 's/TARGET/cpu/' %t/spec.mlir > %t/two.mlir
// RUN: sed -e 's/EARLIER/vnni_packed = false/' -e 's/VERSION/1/' -e 's/TARGET/cpu/' %t/spec.mlir > %t/one.mlir
// RUN: sed -e 's/EARLIER/interleaved = 0 : i64/' -e 's/VERSION/2/' -e 's/TARGET/nvidia/' %t/spec.mlir > %t/gpu.mlir
// RUN: tilewright compile %t/model.mlir --target=cpu:x86-64-v3 --tuning-spec=%t/two.mlir -o %t.so --report 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: tilewright compile %t/model.mlir --target=cpu:x86-64-v3 --tuning-spec=%t/one.mlir -o %t.so --report 2>&1 | FileCheck %s --check-prefix=FOUND
// FOUND: configured by {{one|two}}.mlir:{{[0-9]+:[0-9]+}}, @all
// RUN: tilewright link-specs %t/one.mlir %t/two.mlir -o %t/present.mlir
// RUN: FileCheck %s --check-prefix=PRESENT < %t/present.mlir
// PRESENT: tuning.version = 4 : i64
// PRESENT: {kind = "contraction", rows = 1 : i64, target = {interleaved = false, kind = "cpu"}}
// RUN: tilewright link-specs %t/gpu.mlir -o %t/present.mlir
// RUN: FileCheck %s --check-prefix=GPU < %t/present.mlir
// GPU: {kind = "contraction", rows = 1 : i64}

// What would have had an effect that it has no more, and what is of this version, is refused.
// RUN: sed -e 's/EARLIER/interleaved = true/' -e 's/VERSION/2/' -e 's/TARGET/nvidia/' %t/spec.mlir > %t/wrong.mlir
// RUN: not tilewright link-specs %t/wrong.mlir -o %t/present.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed -e 's/EARLIER/interleaved = false/' -e 's/VERSION/3/' -e 's/TARGET/cpu/' %t/spec.mlir > %t/late.mlir
// RUN: not tilewright link-specs %t/late.mlir -o %t/present.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error[TW-TUNE-0004]: a contraction configuration has no field interleaved; it has rows

// `split_parts` of products on a GPU's tensor cores was `loop_parts`, the target's own, and 1 where the loop is not split.
// RUN: tilewright compile %t/long_sum.mlir --target=nvidia:sm_90a -o %t.so --report=json > %t/now.json
// RUN: FileCheck %s --check-prefix=PARTS < %t/now.json
// PARTS: "split_k": true, {{.*}}"split_parts": {{[3-9]|1[0-6]}}, {{.*}}"target": {"kind": "nvidia", "late_trigger": {{[a-z]+}}, "ping_pong"
// RUN: %python %t/parts.py %t/now.json 2 > %t/two.json
// RUN: tilewright compile %t/long_sum.mlir --target=nvidia:sm_90a --config=%t/two.json -o %t.so --report=json | FileCheck %s --check-prefix=TWO
// TWO: "split_k": true, {{.*}}"split_parts": 2,
// RUN: %python %t/parts.py %t/now.json 1 > %t/one.json
// RUN: tilewright compile %t/long_sum.mlir --target=nvidia:sm_90a --config=%t/one.json -o %t.so --report=json | FileCheck %s --check-prefix=WHOLE
// WHOLE: "split_k": false, {{.*}}"split_parts": 0,
// RUN: sed -e 's/EARLIER/split_k = true, target = {kind = "nvidia", loop_parts = 2 : i64, stages = 4 : i64}/' -e 's/VERSION/3/' -e 's/TARGET/nvidia/' %t/spec.mlir > %t/gpu.mlir
// RUN: tilewright link-specs %t/gpu.mlir -o %t/present.mlir
// RUN: FileCheck %s --check-prefix=MOVED < %t/present.mlir
// MOVED: {kind = "contraction", rows = 1 : i64, split_k = true, split_parts = 2 : i64, target = {kind = "nvidia", stages = 4 : i64}}

// A number that is none, in a file of an earlier version, is refused like any other.
// RUN: sed -e 's/EARLIER/split_k = 340282366920938463463374607431768211455 : i128, target = {kind = "nvidia", loop_parts = 1 : i64, stages = 4 : i64}/' -e 's/VERSION/3/' -e 's/TARGET/nvidia/' %t/spec.mlir > %t/large.mlir
// RUN: not tilewright link-specs %t/large.mlir -o %t/present.mlir 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error[TW-TUNE-0004]: field split_k is a number, or true or false

//--- long_sum.mlir
func.func @main(%x: !torch.vtensor<[64,10240],f16>, %w: !torch.vtensor<[1280,10240],f16>) -> !torch.vtensor<[64,1280],f16> {
  %none = torch.constant.none
  %0 = torch.aten.linear %x, %w, %none : !torch.vtensor<[64,10240],f16>, !torch.vtensor<[1280,10240],f16>, !torch.none -> !torch.vtensor<[64,1280],f16>
  return %0 : !torch.vtensor<[64,1280],f16>
}

//--- parts.py
import json
import sys
report = json.load(open(sys.argv[1]))
for kernel in (k for dispatch in report["configurations"] for k in dispatch["kernels"] if k["kind"] == "contraction"):
    kernel["split_parts"] = 0
    kernel["split_k"] = int(sys.argv[2]) > 1
    kernel["target"]["loop_parts"] = int(sys.argv[2])
print(json.dumps({"version": 3, "configurations": report["configurations"]}))

//--- model.mlir
func.func @main(%x: !torch.vtensor<[12,64],f32>, %y: !torch.vtensor<[64,8],f32>) -> !torch.vtensor<[12,8],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[12,64],f32>, !torch.vtensor<[64,8],f32> -> !torch.vtensor<[12,8],f32>
  return %0 : !torch.vtensor<[12,8],f32>
}

//--- spec.mlir
module attributes {transform.with_named_sequence, tuning.version = VERSION : i64, tuning.target = "TARGET"} {
  transform.named_sequence @all(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    %configuration = transform.param.constant {kind = "contraction", EARLIER, rows = 1} -> !transform.any_param
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

//--- earlier.py
import json
import sys
report = json.load(open(sys.argv[1]))
for kernel in (k for dispatch in report["configurations"] for k in dispatch["kernels"] if k["kind"] == "contraction"):
    target = kernel.pop("target")
    del target["interleaved"]
    kernel.update(interleaved=False, rows=1, variants=[], target=target)
print(json.dumps({"configurations": report["configurations"]}))

//--- others.py
import json
import sys
report = json.load(open(sys.argv[1]))
for kernel in (k for dispatch in report["configurations"] for k in dispatch["kernels"]):
    kernel.update(rows=1, target={"kind": "cpu", "interleaved": False, "accumulators_in_memory": False})
print(json.dumps({"configurations": report["configurations"]}))
