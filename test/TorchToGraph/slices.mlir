// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
// What a slice takes is computed from symbols and their ranges; an index is checked only where the
// ranges do not show that it is inside.

// CHECK-LABEL: func.func @ranges(
// CHECK-NOT: tw.assert
// CHECK: %[[LENGTH:.*]] = arith.subi %[[N:.*]], %c2
// CHECK: tensor.extract_slice %arg0[2, 0] [%[[LENGTH]], 3] [1, 1]
// CHECK: %[[LAST:.*]] = arith.addi
// CHECK: tensor.extract_slice %arg0[%[[LAST]], 0] [1, 3] [1, 1]
// CHECK-NOT: tw.assert
// CHECK: return
func.func @ranges(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>) {
  %n = torch.symbolic_int "n" {min_val = 2, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %x, [%n], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %-1 = torch.constant.int -1
  %end = torch.constant.int 9223372036854775807
  %y = torch.aten.slice.Tensor %x, %0, %2, %end, %1 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
  %z = torch.aten.select.int %x, %0, %-1 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  return %y, %z : !torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @checked(
// CHECK: arith.cmpi ult
// CHECK: tw.assert %{{.*}}, "aten.select.int: index %lld is out of range for dimension 0 with size %lld"
func.func @checked(%x: !torch.vtensor<[5],f32>, %i: !torch.int) -> !torch.vtensor<[],f32> {
  %0 = torch.constant.int 0
  %y = torch.aten.select.int %x, %0, %i : !torch.vtensor<[5],f32>, !torch.int, !torch.int -> !torch.vtensor<[],f32>
  return %y : !torch.vtensor<[],f32>
}
