// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product whose blocks are few for 16 threads has a kernel for these with smaller ones, which makes the same sums: results
// are the same bits. What a configuration file says of the kernel itself is for any number of threads only if it lists no variants.
// RUN: tilewright compile %s --target=cpu:amx -o %t.amx.so --report=json > %t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=JSON
// RUN: tilewright compile %s --target=cpu:amx -o %t.amx.so --config=%t.json --report=json | FileCheck %s --check-prefix=JSON
// RUN: sed -e 's/"workers_at_least": [0-9]*/"workers_at_least": 1/' %t.json > %t.one.json
// RUN: not tilewright compile %s --target=cpu:amx -o %t.amx.so --config=%t.one.json 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed -e 's/\("workers_at_least": [0-9]*.*"k_block": \)128/\164/' %t.json > %t.sums.json
// RUN: not tilewright compile %s --target=cpu:amx -o %t.amx.so --config=%t.sums.json 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: %python -c "import json; c = json.load(open('%t.json')); [k.update(variants=[]) for d in c['configurations'] for k in d['kernels']]; json.dump(c, open('%t.none.json', 'w'))"
// RUN: tilewright compile %s --target=cpu:amx -o %t.amx.so --config=%t.none.json --report=json | FileCheck %s --check-prefix=NONE
// RUN: %python -c "import json; c = json.load(open('%t.json')); [k.pop('variants') for d in c['configurations'] for k in d['kernels']]; json.dump(c, open('%t.own.json', 'w'))"
// RUN: tilewright compile %s --target=cpu:amx -o %t.amx.so --config=%t.own.json --report=json | FileCheck %s --check-prefix=JSON
// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --threads=1 --input=512x768xf32=random:1 --input=512x768xf32=random:2 --output=@%t.1.npy
// RUN: tilewright run %t.so --threads=16 --input=512x768xf32=random:1 --input=512x768xf32=random:2 --output=@%t.16.npy
// RUN: cmp %t.1.npy %t.16.npy

// JSON: "for_workers": [{{[0-9]+}}]
// JSON: "k_block": 128
// JSON: "variants": [{"workers_at_least": {{[0-9]+}}, "kind": "contraction"
// JSON-SAME: "k_block": 128
// NONE-NOT: workers_at_least
// ONE: error[TW-CONFIG-0001]: a variant is for 2 workers or more, not for 1
// ONE-NEXT: variants[0].workers_at_least
// SUMS: error[TW-CONFIG-0002]: {{.*}}variants[0]: {{.*}}k_block{{.*}}: results are the same bits for any number of workers
func.func @main(%dy: tensor<512x768xf32>, %x: tensor<512x768xf32>) -> tensor<768x768xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<768x768xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%empty : tensor<768x768xf32>) -> tensor<768x768xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %x : tensor<512x768xf32>, tensor<512x768xf32>) outs(%sums : tensor<768x768xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<768x768xf32>
  return %y : tensor<768x768xf32>
}
