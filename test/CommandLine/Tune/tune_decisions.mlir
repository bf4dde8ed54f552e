// A search tries decisions the other way round. What cannot be had is counted, and no failure of the command: with --json
// there is one object.
// RUN: rm -f %t.sqlite
// RUN: tilewright tune %s --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --candidates=15 --database=%t.sqlite -o %t.mlir --json > %t.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); print(r['decisions']['tried'] > r['decisions']['refused'] > 0)" | FileCheck %s
// CHECK: True
// They are kept, as measurements of kernels are.
// RUN: %python -c "import sqlite3; c = sqlite3.connect('%t.sqlite'); print(*c.execute('select count(*) > 0 from kernels join measurements on measurements.kernel = kernels.id where target like \'%% decisions\'').fetchone())" | FileCheck %s --check-prefix=KEPT
// KEPT: 1
// The next search knows what cannot be had, and does not try it again.
// RUN: tilewright tune %s --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --candidates=15 --database=%t.sqlite -o %t.mlir --json > %t.json
// RUN: %python -c "import sqlite3; c = sqlite3.connect('%t.sqlite'); print(*c.execute('select max(n) from (select count(*) as n from kernels join measurements on measurements.kernel = kernels.id where target like \'%% decisions\' and rejection <> \'\' group by kernels.id)').fetchone())" | FileCheck %s --check-prefix=ONCE
// ONCE: {{^}}1{{$}}
// RUN: tilewright check %s --tuning-spec=%t.mlir --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3
// Of a single candidate there is none for decisions.
// RUN: tilewright tune %s --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --candidates=1 -o %t.mlir --json > %t.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); print(r['decisions']['tried'], r['trials'])" | FileCheck %s --check-prefix=SINGLE
// SINGLE: {{^}}0 1{{$}}
// In a bundle, too: of five programs one has other decisions, which are compared by the whole call. The next round asks for others.
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright tune %s --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --prepare=%t/bundle --programs=5 | FileCheck %s --check-prefix=PREPARE
// PREPARE: bundle: 4 programs with candidates for {{[0-9]}} kernels, 1 with other decisions
// RUN: FileCheck %s --check-prefix=FIRST < %t/bundle/bundle.json
// FIRST: "kernels": [{"name": "", "signature": "fuse of [[WHAT:[^"]*]]"
// RUN: tilewright tune --measure=%t/bundle | FileCheck %s --check-prefix=MEASURE
// MEASURE: 5 programs measured, 0 known before
// RUN: tilewright tune %s --finish=%t/bundle -o %t/found.mlir
// RUN: tilewright check %s --tuning-spec=%t/found.mlir --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3
// What the compiler refuses, here the first one, makes room for the next.
// RUN: tilewright tune %models/small_mlp/small_mlp.pt2 --input=5x16xf32=random:1 --threads=1 --prepare=%t/refused --programs=2 | FileCheck %s --check-prefix=REFUSED
// REFUSED: 1 program with candidates for {{[0-9]}} kernels, 1 with other decisions
// A bundle is of one model.
// RUN: not tilewright tune %S/tune.mlir --finish=%t/bundle -o %t/other.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error[TW-TUNE-0006]: the bundle {{.*}}bundle is of {{.*}}tune_decisions.mlir, and {{.*}}tune.mlir has none of its kernels
// RUN: cp %t/bundle/bundle.json %t/first.json
// RUN: tilewright tune %s --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --prepare=%t/bundle --programs=5
// RUN: cat %t/first.json %t/bundle/bundle.json > %t/both.json
// RUN: FileCheck %s --check-prefix=ROUNDS < %t/both.json
// ROUNDS: "name": "", "signature": "fuse of [[WHAT:[^"]*]]"
// ROUNDS-NOT: "signature": "fuse of [[WHAT]]"
// RUN: tilewright tune %s --input=32x48xf32=random:1 --input=48x64xf32=random:2 --input=64x40xf32=random:3 --threads=1 --prepare=%t/kernels --programs=5 --no-decisions | FileCheck %s --check-prefix=KERNELS
// KERNELS: 0 with other decisions
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
