// A search in three parts: candidates are compiled, measured without a compiler, and read.
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --threads=1 --target=cpu:x86-64-v3 --no-decisions --prepare=%t/bundle --programs=4 | FileCheck %s --check-prefix=PREPARE
// PREPARE: bundle: 4 programs with candidates for 1 kernel, 0 with other decisions
// RUN: not tilewright tune %s --target=cpu:x86-64-v3 --finish=%t/bundle -o %t/x.mlir 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error[TW-TUNE-0006]: the bundle {{.*}}bundle has not been measured
// RUN: env TILEWRIGHT_COMPILER=/nowhere tilewright tune --measure=%t/bundle | FileCheck %s --check-prefix=MEASURE
// MEASURE: 4 programs measured, 0 known before
// Once more is nothing to do.
// RUN: env TILEWRIGHT_COMPILER=/nowhere tilewright tune --measure=%t/bundle --json | FileCheck %s --check-prefix=AGAIN
// AGAIN: {"measured": 0, "known": 4, "interrupted": false, "notes": []}
// What has come to harm on the way is no fault of a candidate: it is measured when it is whole again.
// RUN: cp -r %t/bundle %t/harmed && rm %t/harmed/measured.sqlite %t/harmed/program3.so && truncate -s 5000 %t/harmed/program2.so
// RUN: tilewright tune --measure=%t/harmed | FileCheck %s --check-prefix=HARMED
// HARMED: note: program2.so is left out: the artifact is damaged: {{.*}}; copy the bundle again
// HARMED: note: program3.so is left out: cannot read the artifact {{.*}}; copy the bundle again
// HARMED: 2 programs measured, 0 known before
// RUN: cp %t/bundle/program*.so %t/harmed && tilewright tune --measure=%t/harmed | FileCheck %s --check-prefix=WHOLE
// WHOLE: 2 programs measured, 2 known before
// RUN: echo "no database, but a text" > %t/harmed/measured.sqlite
// RUN: not tilewright tune --measure=%t/harmed 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error[TW-TUNE-0001]: the database {{.*}}measured.sqlite cannot be read: file is not a database
// TEXT-NEXT: help: without {{.*}}measured.sqlite, all programs are measured again
// RUN: tilewright tune %s --target=cpu:x86-64-v3 --finish=%t/bundle -o %t/found.mlir | FileCheck %s --check-prefix=FINISH
// FINISH: {{[0-9.]+ +([0-9.]+|-) +4  k0 }}
// FINISH: 4 measurements, on {{.+}}; 1 threads
// RUN: tilewright check %s --target=cpu:x86-64-v3 --tuning-spec=%t/found.mlir --input=64x256xf32=random:1 --input=256x64xf32=random:2
// What was measured for one target is not written for another.
// RUN: not tilewright tune %s --finish=%t/bundle -o %t/x.mlir 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error[TW-TUNE-0006]: the bundle {{.*}}bundle was prepared for --target=cpu:x86-64-v3, and is to be finished for cpu
// TARGET-NEXT: help: give --target=cpu:x86-64-v3
// What another compiler has made says nothing of this one's code.
// RUN: cp -r %t/bundle %t/others && sed -i 's/"compiler": "/"compiler": "another /' %t/others/bundle.json
// RUN: not tilewright tune %s --target=cpu:x86-64-v3 --finish=%t/others -o %t/x.mlir 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: error[TW-TUNE-0006]: the programs of the bundle {{.*}}others were compiled by another compiler
// OTHERS-NEXT: note: theirs is another tilewright {{.*}}
// OTHERS-NEXT: note: this one is tilewright {{.*}}
// A bundle whose programs were all left out has no times.
// RUN: %python -c "import sqlite3; c = sqlite3.connect('%t/others/measured.sqlite'); c.execute('DELETE FROM measurements'); c.commit()"
// RUN: cp %t/bundle/bundle.json %t/others/bundle.json
// RUN: tilewright tune %s --target=cpu:x86-64-v3 --finish=%t/others -o %t/x.mlir | FileCheck %s --check-prefix=EMPTY
// EMPTY: 0 measurements, on {{.*}}: its programs were all left out, or measuring was interrupted
// More threads than cores are said, here and in a search.
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --threads=2 --target=cpu:x86-64-v3 --no-decisions --prepare=%t/two --programs=1
// RUN: env TILEWRIGHT_COMPILER=/nowhere taskset -c 0 tilewright tune --measure=%t/two --json | FileCheck %s --check-prefix=THREADS
// THREADS: "notes": ["calls have 2 threads, but this process may use 1 cores
// The next round asks for others.
// RUN: tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --threads=1 --target=cpu:x86-64-v3 --no-decisions --prepare=%t/bundle --programs=2
// RUN: tilewright tune --measure=%t/bundle | FileCheck %s --check-prefix=MORE
// MORE: 2 programs measured, 0 known before
// RUN: not ls %t/bundle/program3.so
// A round that ends early leaves no bundle that says of programs what they are not.
// RUN: rm %t/bundle/program2.so && mkdir -p %t/bundle/program2.so/in
// RUN: not tilewright tune %s --input=64x256xf32=random:1 --input=256x64xf32=random:2 --threads=1 --target=cpu:x86-64-v3 --no-decisions --prepare=%t/bundle --programs=2 2>&1 | FileCheck %s --check-prefix=EARLIER
// EARLIER: error[TW-IO-0002]: cannot write {{.*}}program2.so
// RUN: not tilewright tune --measure=%t/bundle 2>&1 | FileCheck %s --check-prefix=APART
// APART: error[TW-IO-0001]: cannot read {{.*}}bundle.json
func.func @main(%x: !torch.vtensor<[64,256],f32>, %y: !torch.vtensor<[256,64],f32>) -> !torch.vtensor<[64,64],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[64,256],f32>, !torch.vtensor<[256,64],f32> -> !torch.vtensor<[64,64],f32>
  return %0 : !torch.vtensor<[64,64],f32>
}
