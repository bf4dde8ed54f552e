// Attention with a number of queries that only calls tell has variants for few, and a search is for the range that its call is in.
// RUN: tilewright compile %s --target=cpu:x86-64-v4 -o %t.so --report=json | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: "kind": "attention", {{.*}}"variants": [{"at_most": 1, "kind": "attention", {{[^}]*}}"queries": 1, {{.*}}{"at_most": 16, "kind": "attention"
// RUN: tilewright tune %s --input=1x4x3x32xf32=random:1 --input=1x4x50x32xf32=random:2 --input=1x4x50x32xf32=random:3 --threads=1 --budget=2s -o %t.mlir --json | FileCheck %s
// CHECK: "kernel": "k0", "variant": {"at_most": 16}
// Each size by the code that it takes: one query, few, and more than any variant is for.
// RUN: tilewright check %s --tuning-spec=%t.mlir --input=1x4x1x32xf32=random:1 --input=1x4x50x32xf32=random:2 --input=1x4x50x32xf32=random:3
// RUN: tilewright check %s --tuning-spec=%t.mlir --input=1x4x3x32xf32=random:1 --input=1x4x50x32xf32=random:2 --input=1x4x50x32xf32=random:3
// RUN: tilewright check %s --tuning-spec=%t.mlir --input=1x4x70x32xf32=random:1 --input=1x4x130x32xf32=random:2 --input=1x4x130x32xf32=random:3
func.func @main(%q: !torch.vtensor<[1,4,?,32],f32>, %k: !torch.vtensor<[1,4,?,32],f32>, %v: !torch.vtensor<[1,4,?,32],f32>) -> !torch.vtensor<[1,4,?,32],f32> {
  %none = torch.constant.none
  %p = torch.constant.float 0.0
  %false = torch.constant.bool false
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %p, %false, %none, %false : !torch.vtensor<[1,4,?,32],f32>, !torch.vtensor<[1,4,?,32],f32>, !torch.vtensor<[1,4,?,32],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,4,?,32],f32>
  return %0 : !torch.vtensor<[1,4,?,32],f32>
}
