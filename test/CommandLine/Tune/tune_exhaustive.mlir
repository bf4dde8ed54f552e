// All configurations of a kernel, each of which is compiled, verified and timed.
// RUN: rm -f %t.sqlite
// RUN: tilewright tune %s --input=4x64xf32=random:1 --input=64x16xf32=random:2 --exhaustive --knobs=k_block --threads=1 --target=cpu:x86-64-v3 --budget=3s --database=%t.sqlite | FileCheck %s --check-prefix=PART
// PART: tried  % of best
// PART: note: k0: all of its [[LEGAL:[0-9]+]] legal configurations are to be measured, within the budget
// PART: what the search began with reaches {{[0-9.]+}} % of the best configurations (geometric mean of 1 kernel), of {{[1-9][0-9]*}} measured, 0 rejected and {{[0-9]+}} not tried
// The next one goes on to the end, and writes what it has found.
// RUN: tilewright tune %s --input=4x64xf32=random:1 --input=64x16xf32=random:2 --exhaustive --knobs=k_block --threads=1 --target=cpu:x86-64-v3 --database=%t.sqlite -o %t.mlir --json > %t.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); k, = r['kernels']; e = k['exhaustive']; print(e['untried'], k['measured'] + k['rejected'] - e['legal'], r['share_of_best'] == e['share_of_best'] <= 1, [n.split('configurations ')[1] for n in r['notes'] if 'legal' in n])" | FileCheck %s --check-prefix=WHOLE
// WHOLE: 0 -1 True ['are measured']
// RUN: tilewright check %s --target=cpu:x86-64-v3 --tuning-spec=%t.mlir --input=4x64xf32=random:1 --input=64x16xf32=random:2
// Of the cheapest by the model there are fewer.
// RUN: tilewright tune %s --space --json --count=0 --exhaustive=1.2 --knobs=rows,k_block --target=cpu:x86-64-v3 > %t.json
// RUN: %python -c "import json; s, = json.load(open('%t.json'))['spaces']; e = s['enumerated']; c = [p['cost'] for p in s['points']]; print(e['complete'], 0 < e['within'] == len(c) < e['legal'], c == sorted(c), c[-1] <= 1.2 * c[0])" | FileCheck %s --check-prefix=CHEAP
// CHEAP: True True True True
// Searches of what was measured need neither model nor compiler.
// RUN: env TILEWRIGHT_COMPILER=/nowhere tilewright tune --replay=%t.sqlite | FileCheck %s --check-prefix=REPLAY
// REPLAY: points % of best   5 %       random        model    corrected       search   with prior   from start  kernel
// REPLAY-NEXT: {{ +[0-9]+ +[0-9.]+ +[0-9]+ .*  contraction f32, f32, f32; batch 1, columns 16, rows 4, sum 64}}
// REPLAY-NEXT: within 5 %:{{.*}} of 25 searches of 1 spaces each
// RUN: env TILEWRIGHT_COMPILER=/nowhere tilewright tune --replay=%t.sqlite --json > %t.json
// RUN: %python -c "import json; s, = json.load(open('%t.json'))['spaces']; print(s['sizes'], sorted(s['candidates']) == sorted(s['within']))" | FileCheck %s --check-prefix=JSON
// JSON: {'batch': [1, 1], 'columns': [16, 16], 'rows': [4, 4], 'sum': [64, 64]} True
func.func @main(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[64,16],f32>) -> !torch.vtensor<[4,16],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[4,64],f32>, !torch.vtensor<[64,16],f32> -> !torch.vtensor<[4,16],f32>
  return %0 : !torch.vtensor<[4,16],f32>
}
