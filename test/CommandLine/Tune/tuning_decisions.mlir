// Decisions in tuning specs: rules for operations of a type, in any model.
// RUN: split-file %s %t
// RUN: tilewright compile %t/model.mlir --report=json -o %t/model.so | FileCheck %s --check-prefix=OWN
// OWN: "decision": "fuse", "operators": ["first", "last"], "taken": true, "operations": ["first", "last"], "types": ["64x32xf32", "64x32xf32"]
// RUN: tilewright compile %t/model.mlir --tuning-spec=%t/rules.mlir --report=json -o %t/model.so | FileCheck %s --check-prefix=RULED
// RULED: "operators": ["first", "last"], "taken": false, "reason": "the configuration says so"
// RUN: tilewright check %t/model.mlir --tuning-spec=%t/rules.mlir --input=64x16xf32=random:1 --input=16x32xf32=random:2
// Other types, or what a file says of the operators: then it does not decide.
// RUN: sed -e 's/"64x32xf32", "64x32xf32"/"64x32xf32", "64x48xf32"/' %t/rules.mlir > %t/other.mlir
// RUN: tilewright compile %t/model.mlir --tuning-spec=%t/other.mlir --report=json -o %t/model.so | FileCheck %s --check-prefix=OWN
// RUN: tilewright compile %t/model.mlir --tuning-spec=%t/rules.mlir --config=%t/taken.json --report=json -o %t/model.so | FileCheck %s --check-prefix=OWN
// The first rule that fits decides, of the first spec that has one; linked specs keep all.
// RUN: sed -e 's/want = false/want = true/' %t/rules.mlir > %t/want.mlir
// RUN: tilewright compile %t/model.mlir --tuning-spec=%t/want.mlir --tuning-spec=%t/rules.mlir --report=json -o %t/model.so | FileCheck %s --check-prefix=OWN
// RUN: tilewright link-specs %t/rules.mlir %t/want.mlir -o %t/linked.mlir
// RUN: tilewright compile %t/model.mlir --tuning-spec=%t/linked.mlir --report=json -o %t/model.so | FileCheck %s --check-prefix=RULED
// What is no rule.
// RUN: sed -e 's/"fuse"/"melt"/' %t/rules.mlir > %t/kind.mlir
// RUN: not tilewright compile %t/model.mlir --tuning-spec=%t/kind.mlir -o %t/model.so 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error[TW-TUNE-0004]: {{.*}}is none for decisions: it is a dictionary with decision = "fuse", "recompute", "channels_last", "merge" or "cut"
// RUN: sed -e 's/, want = false/, wants = false/' %t/rules.mlir > %t/field.mlir
// RUN: not tilewright compile %t/model.mlir --tuning-spec=%t/field.mlir -o %t/model.so 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: error[TW-TUNE-0004]: {{.*}}it has no field wants; there are decision, operations, types and want
// RUN: sed -e 's/operations = ."first", "last"./operations = ["first"]/' %t/rules.mlir > %t/count.mlir
// RUN: not tilewright compile %t/model.mlir --tuning-spec=%t/count.mlir -o %t/model.so 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error[TW-TUNE-0004]: {{.*}}its operations are a list of as many names as the decision is about
// A search tries it the other way round, and what it writes of it is data for a compilation.
// RUN: tilewright tune %t/model.mlir --tuning-spec=%t/rules.mlir --input=64x16xf32=random:1 --input=16x32xf32=random:2 --threads=1 --budget=5s -o %t/found.mlir --json | FileCheck %s --check-prefix=TUNED
// TUNED: "decisions": {"tried": {{[1-9]}}
// RUN: tilewright check %t/model.mlir --tuning-spec=%t/found.mlir --input=64x16xf32=random:1 --input=16x32xf32=random:2

//--- model.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<64x16xf32>, %w: tensor<16x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x16xf32>, tensor<16x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32> loc("first")
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32> loc("last")
  return %z : tensor<64x32xf32>
}

//--- rules.mlir
module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu",
    tuning.decisions = [{decision = "fuse", operations = ["first", "last"], types = ["64x32xf32", "64x32xf32"], want = false}]} {
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    transform.yield
  }
}

//--- taken.json
{"decisions": [{"decision": "fuse", "operators": ["first", "last"], "want": true}]}
