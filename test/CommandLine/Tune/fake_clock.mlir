// A search from its beginning to its end: programs are compiled, run and verified, but what they take is a function of
// their configuration, which is least for blocks of 2 x 10 (unittests/Tools/FakeClock.cpp). The search finds these among
// all, without trying all, and says so in its spec.
// RUN: %tilewright_by_clock tune %s --target=cpu:x86-64-v3 --input=16x64xf32=random:1 --input=64x48xf32=random:2 --threads=1 --no-decisions --knobs=rows,columns --candidates=100 -o %t.mlir --json > %t.json
// RUN: FileCheck %s --check-prefix=SPEC < %t.mlir
// SPEC: transform.tuning.match.size %kernel "columns" equals 48
// SPEC: columns = 10{{.*}} rows = 2
// RUN: tilewright tune %s --target=cpu:x86-64-v3 --space --json --knobs=rows,columns > %t.space.json
// RUN: %python -c "import json; r = json.load(open('%t.json')); s, = json.load(open('%t.space.json'))['spaces']; k, = r['kernels']; m = r['ratio']; print(s['legal']['exact'], k['measured'] < s['legal']['points'], m['low'] == m['median'] == m['high'] == r['ratio_of_compilers']['median'] < 1, k['rejected'])" | FileCheck %s --check-prefix=REPORT
// REPORT: True True True 0
// RUN: tilewright check %s --target=cpu:x86-64-v3 --tuning-spec=%t.mlir --input=16x64xf32=random:1 --input=64x48xf32=random:2
func.func @main(%x: !torch.vtensor<[16,64],f32>, %y: !torch.vtensor<[64,48],f32>) -> !torch.vtensor<[16,48],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[16,64],f32>, !torch.vtensor<[64,48],f32> -> !torch.vtensor<[16,48],f32>
  return %0 : !torch.vtensor<[16,48],f32>
}
