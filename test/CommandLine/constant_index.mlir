// RUN: not tilewright compile %s -o %t.so 2> %t.err
// RUN: FileCheck %s < %t.err

// A check that fails for the program's own constants fails when it is compiled, as the model's error.

// CHECK: error[TW-RUNTIME-0013]: an expression over weights cannot be evaluated
// CHECK: note: aten.index_select: index 7 is out of range for dimension 0 with size 3
func.func @main() -> !torch.vtensor<[2],f32> {
  %x = torch.vtensor.literal(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : !torch.vtensor<[3],f32>
  %i = torch.vtensor.literal(dense<[0, 7]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %zero = torch.constant.int 0
  %0 = torch.aten.index_select %x, %zero, %i : !torch.vtensor<[3],f32>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[2],f32>
  %1 = torch.aten.relu %0 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %1 : !torch.vtensor<[2],f32>
}
