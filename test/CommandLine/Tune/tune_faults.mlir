// Candidates with which the compiler crashes (3 rows), hangs (5) or takes more memory than there is (7) are entries in
// the log, and not the end of the search.
// RUN: rm -f %t.sqlite
// RUN: env TILEWRIGHT_COMPILER=%faulty_products tilewright tune %s --input=8x64xf32=random:1 --input=64x32xf32=random:2 --exhaustive --knobs=rows --threads=1 --timeout=15 --database=%t.sqlite -o %t.config.json --json > %t.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); k, = r['kernels']; print(k['rejected'], k['exhaustive']['untried'], k['measured'] > 2); print(*sorted(n for n in r['notes'] if 'rejected' in n), sep='\n')" | FileCheck %s
// CHECK: 3 0 True
// CHECK: k0: rejected rows {{[0-9]+}}->3: the compiler ended without an answer: signal 6
// CHECK: k0: rejected rows {{[0-9]+}}->5: compiling a candidate took longer than 15 s
// CHECK: k0: rejected rows {{[0-9]+}}->7: there is not enough memory for compiling a candidate
// The next search knows them.
// RUN: env TILEWRIGHT_COMPILER=%faulty_products tilewright tune %s --input=8x64xf32=random:1 --input=64x32xf32=random:2 --exhaustive --knobs=rows --threads=1 --timeout=15 --database=%t.sqlite -o %t.config.json | FileCheck %s --check-prefix=AGAIN
// AGAIN: 3 rejected and 0 not tried
// RUN: tilewright check %s --config=%t.config.json --input=8x64xf32=random:1 --input=64x32xf32=random:2

// A disk that is full ends the search with what there is, and is no reason to reject anything.
// RUN: rm -f %t.sqlite
// RUN: env FULL_DISK=1 TILEWRIGHT_COMPILER=%faulty_products tilewright tune %s --input=8x64xf32=random:1 --input=64x32xf32=random:2 --exhaustive --knobs=rows --threads=1 --timeout=15 --database=%t.sqlite -o %t.config.json | FileCheck %s --check-prefix=FULL
// FULL: note: the search has ended early: cannot write {{.*}}: File too large
// RUN: tilewright check %s --config=%t.config.json --input=8x64xf32=random:1 --input=64x32xf32=random:2
// RUN: %python -c "import sqlite3; print(sqlite3.connect('%t.sqlite').execute('SELECT count(*) FROM measurements WHERE rejection LIKE \"%%disk%%\" OR rejection LIKE \"%%file%%\" OR point LIKE \"%%rows=3%%\"').fetchall())" | FileCheck %s --check-prefix=NONE
// NONE: [(0,)]

// A database that can no longer be written is a note: what was found is worth more.
// RUN: %python -c "import sqlite3; sqlite3.connect('%t.sqlite').execute('CREATE TRIGGER t BEFORE INSERT ON measurements BEGIN SELECT RAISE(FAIL, \"the disk is full\"); END')"
// RUN: tilewright tune %s --input=8x64xf32=random:1 --input=64x32xf32=random:2 --candidates=2 --threads=1 --no-decisions --database=%t.sqlite -o %t.config.json | FileCheck %s --check-prefix=DATABASE
// DATABASE: note: measurements are no longer kept: the database {{.*}} cannot be written: the disk is full
// DATABASE: after {{[2-9]}} trials

// Ctrl-C ends a search with what there is, too, here while a candidate is compiled.
// RUN: rm -f %t.sqlite %t.hanging %t.config.json
// RUN: env HANGING=%t.hanging TILEWRIGHT_COMPILER=%faulty_products %python %S/../Inputs/interrupt.py %t.hanging tilewright tune %s --input=8x64xf32=random:1 --input=64x32xf32=random:2 --exhaustive --knobs=rows --threads=1 --timeout=600 --database=%t.sqlite -o %t.config.json | FileCheck %s --check-prefix=INTERRUPTED
// INTERRUPTED: {{trials?}}; interrupted
// RUN: tilewright check %s --config=%t.config.json --input=8x64xf32=random:1 --input=64x32xf32=random:2
// RUN: %python -c "import sqlite3; print(sqlite3.connect('%t.sqlite').execute('SELECT count(*) FROM measurements WHERE point LIKE \"%%rows=5%%\"').fetchall())" | FileCheck %s --check-prefix=NONE
func.func @main(%x: !torch.vtensor<[8,64],f32>, %y: !torch.vtensor<[64,32],f32>) -> !torch.vtensor<[8,32],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[8,64],f32>, !torch.vtensor<[64,32],f32> -> !torch.vtensor<[8,32],f32>
  return %0 : !torch.vtensor<[8,32],f32>
}
