// Searches for several numbers of threads: what is found for more of them is a variant, and the report says which number is best.
// RUN: tilewright tune %s --input=512x768xf32=random:1 --input=512x768xf32=random:2 --target=cpu:x86-64-v3 --threads=4,1 --budget=4s --reference=cpu:x86-64-v3 --no-decisions -o %t.mlir --json > %t.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); print([len(s['kernels']) for s in r['searches']], [s['kernels'][0].get('variant') for s in r['searches']], [t['threads'] for t in r['threads']], r['best_threads'] in (1, 4))" | FileCheck %s
// CHECK: [1, 1] [None, {'workers_at_least': 4}] [1, 4] True
// RUN: tilewright compile %s --target=cpu:x86-64-v3 --tuning-spec=%t.mlir -o %t.so
// RUN: tilewright run %t.so --threads=1 --input=512x768xf32=random:1 --input=512x768xf32=random:2 --output=@%t.1.npy
// RUN: tilewright run %t.so --threads=4 --input=512x768xf32=random:1 --input=512x768xf32=random:2 --output=@%t.4.npy
// RUN: cmp %t.1.npy %t.4.npy
// RUN: not tilewright tune %s --input=512x768xf32=1 --input=512x768xf32=1 --threads=1,4 --prepare=%t.bundle 2>&1 | FileCheck %s --check-prefix=BUNDLE
// BUNDLE: error[TW-CLI-0001]: --prepare is for one number of threads, but --threads=1,4 is given
// RUN: not tilewright tune %s --input=512x768xf32=1 --input=512x768xf32=1 --threads=0,4 -o %t.mlir 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: error[TW-CLI-0001]: --threads has 0, which is all cores, beside other numbers
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
