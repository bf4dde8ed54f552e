// RUN: tilewright-opt %s -torch-to-graph | FileCheck %s

// A layer is one product for all steps and one loop that carries the outputs and the state. The
// length is checked where it is known only at run time.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<?x2x3xf32>
// CHECK: %[[T:.*]] = tensor.dim %arg0
// CHECK: tw.assert %{{.*}}, "the sequence of a recurrent layer has length %lld
// CHECK: %[[GATES:.*]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%arg0, %arg2
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[T]] {{.*}} -> (tensor<?x2x4xf32>, tensor<2x4xf32>) {
// CHECK: tensor.extract_slice {{.*}} : tensor<?x2x4xf32> to tensor<2x4xf32>
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: math.tanh
// CHECK: tensor.insert_slice {{.*}} : tensor<2x4xf32> into tensor<?x2x4xf32>
// CHECK: scf.yield
func.func @main(%x: !torch.vtensor<[?,2,3],f32>, %h: !torch.vtensor<[1,2,4],f32>, %w: !torch.vtensor<[4,3],f32>, %r: !torch.vtensor<[4,4],f32>) -> (!torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,2,4],f32>) {
  %false = torch.constant.bool false
  %one = torch.constant.int 1
  %dropout = torch.constant.float 0.0
  %params = torch.prim.ListConstruct %w, %r : (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,4],f32>) -> !torch.list<vtensor>
  %y, %n = torch.aten.rnn_tanh.input %x, %h, %params, %false, %one, %dropout, %false, %false, %false : !torch.vtensor<[?,2,3],f32>, !torch.vtensor<[1,2,4],f32>, !torch.list<vtensor>, !torch.bool, !torch.int, !torch.float, !torch.bool, !torch.bool, !torch.bool -> !torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,2,4],f32>
  return %y, %n : !torch.vtensor<[?,2,4],f32>, !torch.vtensor<[1,2,4],f32>
}
