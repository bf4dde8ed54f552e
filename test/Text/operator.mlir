// RUN: tilewright run %s --input=2x2xf32=1,0,1,-1 --expected-output=2x2xf32=0.6931472,0,0.6931472,0 | FileCheck %s

// ATen operators that another tool does not know and prints by name are the ones of the table.

// CHECK: all 4 elements agree

func.func @main(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> {
  %0 = torch.operator "torch.aten.relu"(%x) : (!torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32>
  %float = torch.constant.float 2.0
  %1 = torch.operator "torch.aten.xlogy.Scalar_Other"(%0, %float) : (!torch.vtensor<[2,2],f32>, !torch.float) -> !torch.vtensor<[2,2],f32>
  return %1 : !torch.vtensor<[2,2],f32>
}
