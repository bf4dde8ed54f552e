// RUN: tilewright-opt %s -torch-to-graph -split-input-file | FileCheck %s

// Where the program does not state a tensor's sizes, they are those that are computed: of results
// of operators, of the function, of branches (which differ in one size here) and loops.

// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<4x3xf32>, tensor<?x3xf32> {tw.name = "y"}, tensor<1x2xi64>)
// CHECK: scf.if %{{.*}} -> (tensor<?x3xf32>, index)
// CHECK: tensor.cast %{{.*}} : tensor<2x3xf32> to tensor<?x3xf32>
// CHECK: tensor.cast %{{.*}} : tensor<4x3xf32> to tensor<?x3xf32>
// CHECK: scf.for {{.*}} -> (tensor<4x3xf32>)
func.func @main(%x: !torch.vtensor<[2,3],f32>, %c: !torch.bool) -> (!torch.vtensor<*,f32>, !torch.vtensor<*,f32> {tw.name = "y"}, !torch.vtensor<*,si64>) {
  %true = torch.constant.bool true
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %four = torch.constant.int 4
  %pair = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>) -> !torch.list<vtensor>
  %twice = torch.aten.cat %pair, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<*,f32>
  %some = torch.aten.slice.Tensor %twice, %zero, %zero, %four, %one : !torch.vtensor<*,f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<*,f32>
  %either = torch.prim.If %c -> (!torch.vtensor<*,f32>) {
    %y = torch.aten.relu %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<*,f32>
    torch.prim.If.yield %y : !torch.vtensor<*,f32>
  } else {
    torch.prim.If.yield %some : !torch.vtensor<*,f32>
  }
  %looped = torch.prim.Loop %four, %true, init(%some) {
  ^bb0(%i: !torch.int, %now: !torch.vtensor<*,f32>):
    %next = torch.aten.tanh %now : !torch.vtensor<*,f32> -> !torch.vtensor<*,f32>
    torch.prim.Loop.condition %true, iter(%next : !torch.vtensor<*,f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<*,f32>) -> !torch.vtensor<*,f32>
  %largest = torch.aten.argmax %x, %one, %true : !torch.vtensor<[2,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<*,si64>
  %turned = torch.aten.t %largest : !torch.vtensor<*,si64> -> !torch.vtensor<*,si64>
  return %looped, %either, %turned : !torch.vtensor<*,f32>, !torch.vtensor<*,f32>, !torch.vtensor<*,si64>
}

// -----

// Whether a size that is not known is 1 decides the number of dimensions: it must not be.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> tensor<?x3xf32>
// CHECK: arith.cmpi ne, %{{.*}}, %c1
// CHECK: tw.assert %{{.*}}, "aten.squeeze: a dimension of size %lld would be squeezed; this program works for sizes other than %lld"
func.func @main(%x: !torch.vtensor<[1,?,3],f32>) -> !torch.vtensor<*,f32> {
  %y = torch.aten.squeeze %x : !torch.vtensor<[1,?,3],f32> -> !torch.vtensor<*,f32>
  return %y : !torch.vtensor<*,f32>
}

// The program's own rank says that the dimension stays, so it may not have size 1.
// CHECK-LABEL: func.func @squeeze_kept
// CHECK: tw.assert %{{.*}}, "aten.squeeze.dim: a dimension of size %lld would be squeezed; this program works for sizes other than %lld"
func.func @squeeze_kept(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %zero = torch.constant.int 0
  %y = torch.aten.squeeze.dim %x, %zero : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  return %y : !torch.vtensor<[?,3],f32>
}
