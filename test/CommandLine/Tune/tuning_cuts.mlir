// Whether an operator becomes several kernels is a decision, too: of files, of specs, and of searches.
// RUN: tilewright compile %s --target=cpu:x86-64-v3 --report=json -o %t.so > %t.own.json
// RUN: FileCheck %s --check-prefix=OWN < %t.own.json
// OWN: "decision": "cut", "operators": ["first"], "taken": false, "reason": "one kernel is expected to be faster", "operations": ["first"], "types": ["32x64xf32"]
// OWN: "decision": "cut", "operators": ["last"], "taken": false
// OWN: "cuts": ["none", "none"]
// A file asks for it.
// RUN: echo '{"decisions": [{"decision": "cut", "operators": ["first"], "want": true}]}' > %t.config.json
// RUN: tilewright compile %s --target=cpu:x86-64-v3 --config=%t.config.json --report=json -o %t.so | FileCheck %s --check-prefix=CUT
// CUT: "decision": "cut", "operators": ["first"], "taken": true
// CUT: "decision": "cut", "operators": ["last"], "taken": false
// CUT: "cuts": ["transpose_rhs", "none"]
// RUN: tilewright check %s --target=cpu:x86-64-v3 --config=%t.config.json --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3
// A rule of a spec, which a file goes before.
// RUN: echo 'module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu", tuning.decisions = [{decision = "cut", operations = ["first"], types = ["32x64xf32"], want = true}]} { transform.named_sequence @__transform_main(%%kernels: !transform.any_op {transform.consumed}) { transform.yield } }' > %t.spec.mlir
// RUN: tilewright compile %s --target=cpu:x86-64-v3 --tuning-spec=%t.spec.mlir --report=json -o %t.so | FileCheck %s --check-prefix=CUT
// RUN: tilewright check %s --target=cpu:x86-64-v3 --tuning-spec=%t.spec.mlir --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3
// RUN: tilewright link-specs %t.spec.mlir -o %t.linked.mlir
// RUN: tilewright compile %s --target=cpu:x86-64-v3 --tuning-spec=%t.linked.mlir --report=json -o %t.so | FileCheck %s --check-prefix=CUT
// RUN: echo '{"decisions": [{"decision": "cut", "operators": ["first"], "want": false}]}' > %t.not.json
// RUN: tilewright compile %s --target=cpu:x86-64-v3 --tuning-spec=%t.spec.mlir --config=%t.not.json --report=json -o %t.so | FileCheck %s --check-prefix=DECLINED
// DECLINED: "decision": "cut", "operators": ["first"], "taken": false, "reason": "the configuration says so"
// The cuts of a configuration go before decisions; both at once cannot be had.
// RUN: sed -e 's/"decision": "cut", "operators": ."first"., "taken": false/&, "want": true/' %t.own.json > %t.both.json
// RUN: not tilewright compile %s --target=cpu:x86-64-v3 --config=%t.both.json -o %t.so 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error[TW-CONFIG-0006]: {{.*}}cut of first cannot be taken: a configuration has the cuts of its dispatch
// A search of a program that is cut, of kernels, too, writes data for a compilation.
// RUN: tilewright tune %s --target=cpu:x86-64-v3 --tuning-spec=%t.spec.mlir --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --candidates=20 -o %t.found.mlir --json | FileCheck %s --check-prefix=TUNED
// TUNED: "decisions": {"tried": {{[1-9]}}
// RUN: tilewright check %s --target=cpu:x86-64-v3 --tuning-spec=%t.found.mlir --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3
func.func @main(%x: tensor<32x48xf32>, %w: tensor<48x64xf32>, %v: tensor<64x40xf32>) -> tensor<32x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<32x48xf32>, tensor<48x64xf32>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32> loc("first")
  %e2 = tensor.empty() : tensor<32x40xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x40xf32>) -> tensor<32x40xf32>
  %u = linalg.matmul ins(%y, %v : tensor<32x64xf32>, tensor<64x40xf32>) outs(%f2 : tensor<32x40xf32>) -> tensor<32x40xf32> loc("last")
  return %u : tensor<32x40xf32>
}
