// RUN: not tilewright-opt --torch-to-graph %s 2>&1 | FileCheck %s
// Everything that is missing is reported at once.

// CHECK: error: [TW-LOWER-0001] operator aten.nonzero is not supported: its result's sizes or value depend on the data
// CHECK: note: inputs f32[2,?]
// CHECK: error: [TW-LOWER-0001] operator aten.bernoulli is not supported: it draws random numbers
// CHECK: operator aten.view_as_complex is not supported: tensors of complex numbers are not supported
// CHECK: operator aten.mul.Tensor is not supported: tensors of complex numbers are not supported
// CHECK-NOT: operator aten.mul.Tensor
// CHECK: operator aten.abs is not supported: tensors of complex numbers are not supported
// CHECK: operator aten._fft_r2c is not supported
// CHECK: operator aten.rand_like is not supported: it draws random numbers
// CHECK: note: help: 7 operators are unsupported, all listed above
// CHECK: error: [TW-LOWER-0002] operator aten.mm: the first tensor has 1 dimension, but 2 are needed
// CHECK: note: inputs f32[3], f32[3,2]
func.func @main(%x: !torch.vtensor<[2,?],f32>, %v: !torch.vtensor<[3],f32>, %w: !torch.vtensor<[3,2],f32>)
    -> (!torch.vtensor<[?,2],si64>, !torch.vtensor<[2,?],f32>, !torch.vtensor<[2],f32>) {
  %none = torch.constant.none
  %0 = torch.aten.nonzero %x : !torch.vtensor<[2,?],f32> -> !torch.vtensor<[?,2],si64>
  %1 = torch.aten.bernoulli %x, %none : !torch.vtensor<[2,?],f32>, !torch.none -> !torch.vtensor<[2,?],f32>
  %2 = torch.aten.mm %v, %w : !torch.vtensor<[3],f32>, !torch.vtensor<[3,2],f32> -> !torch.vtensor<[2],f32>
  return %0, %1, %2 : !torch.vtensor<[?,2],si64>, !torch.vtensor<[2,?],f32>, !torch.vtensor<[2],f32>
}

func.func @complex(%x: !torch.vtensor<[3,2],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3,2],complex<f32>>, !torch.vtensor<[3,2],f32>) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %true = torch.constant.bool true
  %dims = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.view_as_complex %x : !torch.vtensor<[3,2],f32> -> !torch.vtensor<[3],complex<f32>>
  %1 = torch.aten.mul.Tensor %0, %0 : !torch.vtensor<[3],complex<f32>>, !torch.vtensor<[3],complex<f32>> -> !torch.vtensor<[3],complex<f32>>
  %2 = torch.aten.abs %1 : !torch.vtensor<[3],complex<f32>> -> !torch.vtensor<[3],f32>
  %3 = torch.aten._fft_r2c %x, %dims, %int0, %true : !torch.vtensor<[3,2],f32>, !torch.list<int>, !torch.int, !torch.bool -> !torch.vtensor<[3,2],complex<f32>>
  %4 = torch.aten.rand_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[3,2],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3,2],f32>
  return %2, %3, %4 : !torch.vtensor<[3],f32>, !torch.vtensor<[3,2],complex<f32>>, !torch.vtensor<[3,2],f32>
}
