// RUN: not tilewright-opt --torch-to-graph %s 2>&1 | FileCheck %s
// Everything that is missing is reported at once.

// CHECK: error: [TW-LOWER-0001] operator aten.nonzero is not supported: its result's sizes or value depend on the data
// CHECK: note: inputs f32[2,?]
// CHECK: error: [TW-LOWER-0001] operator aten.bernoulli is not supported: it draws random numbers
// CHECK: note: help: 2 operators are unsupported, all listed above
// CHECK: error: [TW-LOWER-0002] operator aten.mm: the first tensor has 1 dimensions, but 2 are needed
// CHECK: note: inputs f32[3], f32[3,2]
func.func @main(%x: !torch.vtensor<[2,?],f32>, %v: !torch.vtensor<[3],f32>, %w: !torch.vtensor<[3,2],f32>)
    -> (!torch.vtensor<[?,2],si64>, !torch.vtensor<[2,?],f32>, !torch.vtensor<[2],f32>) {
  %none = torch.constant.none
  %0 = torch.aten.nonzero %x : !torch.vtensor<[2,?],f32> -> !torch.vtensor<[?,2],si64>
  %1 = torch.aten.bernoulli %x, %none : !torch.vtensor<[2,?],f32>, !torch.none -> !torch.vtensor<[2,?],f32>
  %2 = torch.aten.mm %v, %w : !torch.vtensor<[3],f32>, !torch.vtensor<[3,2],f32> -> !torch.vtensor<[2],f32>
  return %0, %1, %2 : !torch.vtensor<[?,2],si64>, !torch.vtensor<[2,?],f32>, !torch.vtensor<[2],f32>
}
