// RUN: not tilewright-opt --torch-to-graph %s 2>&1 | FileCheck %s
// What is computed from something refused is looked at too, and its sizes contradict nothing.

// CHECK-COUNT-2: error: [TW-LOWER-0002] operator aten.dropout: with p > 0 in training mode
// CHECK-NOT: error:
func.func @main(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %p = torch.constant.float 5.000000e-01
  %true = torch.constant.bool true
  %int1 = torch.constant.int 1
  %0 = torch.aten.dropout %x, %p, %true : !torch.vtensor<[?,3],f32>, !torch.float, !torch.bool -> !torch.vtensor<[?,3],f32>
  %1 = torch.aten.add.Tensor %0, %x, %int1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  %2 = torch.aten.dropout %1, %p, %true : !torch.vtensor<[?,3],f32>, !torch.float, !torch.bool -> !torch.vtensor<[?,3],f32>
  return %2 : !torch.vtensor<[?,3],f32>
}
