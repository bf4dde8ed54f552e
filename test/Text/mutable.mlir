// RUN: tilewright run %s --input=3xf32=2 --input=3xf32=1,2,3 --expected-output=3xf32=4,8,12 | FileCheck %s
// RUN: tilewright check %s --input=3xf32=2 --input=3xf32=1,2,3 | FileCheck %s --check-prefix=BOTH

// A mutable argument: its new contents are written back to the input.

// CHECK: all 3 elements agree
// BOTH: output_0: all 3 elements agree
// BOTH: input {{.*}}: all 3 elements agree

module {
  func.func @main(%arg0: !torch.vtensor<[3],f32>, %arg1: !torch.tensor<[3],f32>) -> !torch.vtensor<[3],f32> {
    %0 = torch.copy.to_vtensor %arg1 : !torch.vtensor<[3],f32>
    %1 = torch.aten.mul.Tensor %0, %arg0 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
    torch.overwrite.tensor.contents %1 overwrites %arg1 : !torch.vtensor<[3],f32>, !torch.tensor<[3],f32>
    %2 = torch.aten.mul.Tensor %arg0, %1 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
    return %2 : !torch.vtensor<[3],f32>
  }
}
