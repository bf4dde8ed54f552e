// The same search for a GPU: here one that the tests' driver makes believe.
// RUN: rm -rf %t && mkdir %t
// RUN: env TILEWRIGHT_COMPILER=%device_compiler LD_LIBRARY_PATH=%driver tilewright tune %s --target=nvidia:sm_90a --input=64x48xf32=random:1 --input=48x64xf32=random:2 --budget=2s -o %t/found.mlir | FileCheck %s
// CHECK: {{[0-9.]+ +100.0 +([0-9.]+|-) +[0-9.]+ +- +[0-9]+  k0 }}
// CHECK: a call takes
// RUN: FileCheck %s --check-prefix=SPEC < %t/found.mlir
// SPEC: tuning.target = "nvidia"
// In three parts; what is random is drawn again where it is measured. One program has another cut.
// RUN: env TILEWRIGHT_COMPILER=%device_compiler LD_LIBRARY_PATH=%driver tilewright tune %s --target=nvidia:sm_90a --input=64x48xf32=random:1 --input=48x64xf32=1 --prepare=%t/bundle --programs=3
// RUN: FileCheck %s --check-prefix=BUNDLE < %t/bundle/bundle.json
// BUNDLE: "reference": "reference",
// BUNDLE-SAME: "inputs": ["64x48xf32=random:1", "input1.npy"]
// RUN: not env TILEWRIGHT_COMPILER=/nowhere tilewright tune --measure=%t/bundle 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error[TW-RUNTIME-0008]: device "cuda" is not available
// RUN: env TILEWRIGHT_COMPILER=/nowhere LD_LIBRARY_PATH=%driver tilewright tune --measure=%t/bundle | FileCheck %s --check-prefix=MEASURE
// MEASURE: 3 programs measured, 0 known before
// RUN: env TILEWRIGHT_COMPILER=%device_compiler tilewright tune %s --target=nvidia:sm_90a --finish=%t/bundle -o %t/finished.mlir | FileCheck %s --check-prefix=FINISH
// FINISH: 2 measurements, on {{.+}}; {{.+}}; {{[0-9]+}} threads
func.func @main(%x: !torch.vtensor<[64,48],f32>, %y: !torch.vtensor<[48,64],f32>) -> !torch.vtensor<[64,64],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[64,48],f32>, !torch.vtensor<[48,64],f32> -> !torch.vtensor<[64,64],f32>
  return %0 : !torch.vtensor<[64,64],f32>
}
