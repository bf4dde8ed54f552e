// RUN: tilewright run %s --input=2x3xf32=1 --expected-output=2x3xf32=1 | FileCheck %s

// Types that say less than is known, in the middle.

// CHECK: all 6 elements agree

func.func @main(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %0 = torch.tensor_static_info_cast %x : !torch.vtensor<[2,3],f32> to !torch.vtensor<[?,?],f32>
  %1 = torch.aten.exp %0 : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  %2 = torch.aten.log %1 : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  %3 = torch.tensor_static_info_cast %2 : !torch.vtensor<[?,?],f32> to !torch.vtensor<[2,3],f32>
  return %3 : !torch.vtensor<[2,3],f32>
}
