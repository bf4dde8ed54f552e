// Layers that repeat share their kernels: each of their operators is one to search by, and a kernel says which it
// computes itself.
// RUN: tilewright tune %s --space --json --count=0 | %python -c "import json, sys; [print(s['calls'], s['ops'], s['operators']) for s in json.load(sys.stdin)['spaces']]" | FileCheck %s
// CHECK: 2 mm ['mm', 'mm_1']
// RUN: tilewright tune %s --input=64x64xf32=random:1 --input=64x64xf32=random:2 --input=64x64xf32=random:3 --input=64x64xf32=random:4 --threads=1 --candidates=1 --dispatch=mm_1 -o %t.mlir | FileCheck %s --check-prefix=SECOND
// SECOND: k0 mm
// RUN: not tilewright tune %s --input=64x64xf32=random:1 --input=64x64xf32=random:2 --input=64x64xf32=random:3 --input=64x64xf32=random:4 --threads=1 --candidates=1 --dispatch=mm_2 -o %t.mlir 2>&1 | FileCheck %s --check-prefix=THIRD
// THIRD: error[TW-CLI-0001]: --dispatch=mm_2 is none of the model's kernels
func.func @main(%x: !torch.vtensor<[64,64],f32>, %y: !torch.vtensor<[64,64],f32>, %z: !torch.vtensor<[64,64],f32>, %w: !torch.vtensor<[64,64],f32>) -> (!torch.vtensor<[64,64],f32>, !torch.vtensor<[64,64],f32>) {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[64,64],f32>, !torch.vtensor<[64,64],f32> -> !torch.vtensor<[64,64],f32>
  %1 = torch.aten.mm %z, %w : !torch.vtensor<[64,64],f32>, !torch.vtensor<[64,64],f32> -> !torch.vtensor<[64,64],f32>
  return %0, %1 : !torch.vtensor<[64,64],f32>, !torch.vtensor<[64,64],f32>
}
