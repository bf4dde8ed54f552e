// A search, what it writes, and what the next one makes of its database.
// RUN: rm -f %t.sqlite
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3 --budget=3s --threads=1 --kernel=k0 --database=%t.sqlite -o %t.mlir --html=%t.html --json > %t.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); k, = r['kernels']; print(k['kernel'], k['measured'] == len(k['search']), r['ratio']['low'] <= r['ratio']['median'] <= r['ratio']['high'])" | FileCheck %s
// CHECK: k0 True True
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// PAGE: <script type="application/json" id="report">{"model": "{{.*}}tune.mlir", "start_us":
// RUN: FileCheck %s --check-prefix=SPEC < %t.mlir
// SPEC: module attributes {transform.with_named_sequence, tuning.version = 4 : i64,
// SPEC: transform.named_sequence @__transform_main
// The spec is one: the compiler reads it, and the search can begin with it.
// RUN: tilewright check %s --tuning-spec=%t.mlir --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3 --budget=1s --threads=1 --tuning-spec=%t.mlir -o %t2.mlir | FileCheck %s --check-prefix=AGAIN
// AGAIN: compiled with what is written it takes {{[0-9.]+}} of the time with the compiler's own choice
// Of a search of nothing only the database is left.
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3 --model-only --budget=5s --threads=1 --database=%t.sqlite -o %t3.json | FileCheck %s --check-prefix=ONLY
// ONLY: note: {{[1-9][0-9]*}} measurements come from
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3 --model-only --threads=2 --database=%t.sqlite -o %t4.json | FileCheck %s --check-prefix=NOTHING
// NOTHING: note: {{.*}}.sqlite knows nothing of these kernels
// A search says so, too, for whoever has brought the database of another machine.
// RUN: %python -c "import sqlite3; c = sqlite3.connect('%t.sqlite'); c.execute('UPDATE kernels SET machine = machine || 7'); c.commit()"
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3 --candidates=1 --no-decisions --threads=1 --database=%t.sqlite -o %t4.json | FileCheck %s --check-prefix=NOTHING
// A database that is not there is not made, and none is written over.
// RUN: not tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3 --model-only --threads=1 --database=%t.none -o %t4.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error[TW-IO-0001]: cannot read {{.*}}.none
// RUN: not tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --input=256x96xf32=random:3 --threads=1 --database=%t.sqlite -o %t.sqlite 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: error[TW-IO-0018]: cannot write {{.*}}.sqlite: another output of this command goes to the same file
// RUN: FileCheck %s --check-prefix=CONFIG < %t3.json
// CONFIG: {"version": {{[0-9]+}}, "configurations":
func.func @main(%x: !torch.vtensor<[64,256],f32>, %y: !torch.vtensor<[256,64],f32>, %z: !torch.vtensor<[256,96],f32>)
    -> (!torch.vtensor<[64,64],f32>, !torch.vtensor<[64,96],f32>) {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[64,256],f32>, !torch.vtensor<[256,64],f32> -> !torch.vtensor<[64,64],f32>
  %1 = torch.aten.mm %x, %z : !torch.vtensor<[64,256],f32>, !torch.vtensor<[256,96],f32> -> !torch.vtensor<[64,96],f32>
  return %0, %1 : !torch.vtensor<[64,64],f32>, !torch.vtensor<[64,96],f32>
}
