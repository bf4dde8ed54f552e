// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a that lie along the sum: a block in memory of as many columns as keep workers evenly busy,
// where caches beyond the second level are slow; a block in registers elsewhere.
// RUN: tilewright compile %s --target=cpu:amx -o %t.so --report=json | FileCheck %s --check-prefix=AMX
// RUN: tilewright compile %s --target=cpu:x86-64-v4 -o %t.so --report=json | FileCheck %s --check-prefix=V4

// AMX-DAG: "columns": 192
// AMX-DAG: "k_block": 128
// AMX-DAG: "rows": 256
// AMX-DAG: "accumulators_in_memory": true
// V4-DAG: "k_block": 0
// V4-DAG: "accumulators_in_memory": false
func.func @main(%dy: tensor<512x3072xf32>, %x: tensor<512x768xf32>) -> tensor<3072x768xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3072x768xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%empty : tensor<3072x768xf32>) -> tensor<3072x768xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %x : tensor<512x3072xf32>, tensor<512x768xf32>) outs(%sums : tensor<3072x768xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<3072x768xf32>
  return %y : tensor<3072x768xf32>
}
