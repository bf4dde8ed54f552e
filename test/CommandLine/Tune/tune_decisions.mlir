// A search tries decisions the other way round. What cannot be had is counted, and no failure of the command: with --json
// there is one object.
// RUN: tilewright tune %s --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --budget=10s -o %t.mlir --json > %t.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); print(r['decisions']['tried'] > r['decisions']['refused'] > 0)" | FileCheck %s
// CHECK: True
// RUN: tilewright check %s --tuning-spec=%t.mlir --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<32x48xf32>, %w: tensor<48x64xf32>, %v: tensor<64x40xf32>) -> tensor<32x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<32x48xf32>, tensor<48x64xf32>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32> loc("first")
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<32x64xf32> loc("middle")
  %e2 = tensor.empty() : tensor<32x40xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x40xf32>) -> tensor<32x40xf32>
  %u = linalg.matmul ins(%z, %v : tensor<32x64xf32>, tensor<64x40xf32>) outs(%f2 : tensor<32x40xf32>) -> tensor<32x40xf32> loc("last")
  return %u : tensor<32x40xf32>
}
