// Products with a loop over their sum are wrong here, and faster than right ones. What is kept is right.
// RUN: rm -f %t.sqlite
// RUN: env TILEWRIGHT_COMPILER=%broken_products tilewright tune %s --input=64x512xf32=random:1 --input=512x64xf32=random:2 --budget=60s --threads=1 -o %t.config.json --database=%t.sqlite --json > %t.json
// RUN: FileCheck %s < %t.json
// CHECK: "notes": ["{{k[0-9_]+}}: rejected {{.*}} k_block 0->{{[1-9].*}}: inputs as given: output {{.*}} elements differ
// RUN: %python -c "import json; c = json.load(open('%t.config.json')); assert all(k['k_block'] == 0 for d in c['configurations'] for k in d['kernels']), c"
// The next search knows it.
// RUN: env TILEWRIGHT_COMPILER=%broken_products tilewright tune %s --input=64x512xf32=random:1 --input=512x64xf32=random:2 --budget=1s --threads=1 -o %t.config.json --database=%t.sqlite | FileCheck %s --check-prefix=AGAIN
// AGAIN: note: {{[1-9][0-9]*}} measurements come from
// RUN: tilewright check %s --config=%t.config.json --input=64x512xf32=random:1 --input=512x64xf32=random:2
func.func @main(%x: !torch.vtensor<[64,512],f32>, %y: !torch.vtensor<[512,64],f32>) -> !torch.vtensor<[64,64],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[64,512],f32>, !torch.vtensor<[512,64],f32> -> !torch.vtensor<[64,64],f32>
  return %0 : !torch.vtensor<[64,64],f32>
}
