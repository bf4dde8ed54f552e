// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
// Symbols become one SSA value, scalars index arithmetic, torch.prim.If an scf.if that also yields
// its dynamic sizes; f16 is computed in f32 and rounded once an operator.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<?x784xf16> {tw.sizes = #tw.sizes<["s77"] ()[s0] -> (s0, 784)>}
// CHECK-SAME: attributes {tw.symbols = [{max = 512 : i64, min = 0 : i64, name = "s77"}]}
// CHECK: %[[N:.*]] = arith.index_cast %arg3 : i64 to index
// CHECK: %[[S:.*]] = tensor.dim %arg0
// CHECK-NOT: tensor.dim
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.yield %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: %[[E:.*]] = arith.muli %[[S]], %[[N]]
// CHECK: tw.assert %{{.*}}, "too small"
// CHECK: scf.if %{{.*}} -> (tensor<?x10xf16>, index)
// CHECK: scf.yield %{{.*}}, %[[S]]
func.func @main(%x: !torch.vtensor<[?,784],f16>, %w: !torch.vtensor<[10,784],f16>, %b: !torch.vtensor<[10],f16>, %n: !torch.int, %y: !torch.vtensor<[?,10],f16>) -> (!torch.vtensor<[?,10],f16>, !torch.int) {
  %s = torch.symbolic_int "s77" {min_val = 0, max_val = 512} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0, 784)> : !torch.vtensor<[?,784],f16>
  torch.bind_symbolic_shape %y, [%s], affine_map<()[s0] -> (s0, 10)> : !torch.vtensor<[?,10],f16>
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[?,784],f16>, !torch.vtensor<[10,784],f16>, !torch.vtensor<[10],f16> -> !torch.vtensor<[?,10],f16>
  %int2 = torch.constant.int 2
  %int0 = torch.constant.int 0
  %1 = torch.aten.add.Tensor %0, %y, %int2 : !torch.vtensor<[?,10],f16>, !torch.vtensor<[?,10],f16>, !torch.int -> !torch.vtensor<[?,10],f16>
  %d = torch.aten.size.int %1, %int0 : !torch.vtensor<[?,10],f16>, !torch.int -> !torch.int
  %e = torch.aten.mul.int %d, %n : !torch.int, !torch.int -> !torch.int
  %c = torch.aten.gt.int %e, %int2 : !torch.int, !torch.int -> !torch.bool
  torch.runtime.assert %c, "too small"
  %r = torch.prim.If %c -> (!torch.vtensor<[?,10],f16>) {
    %2 = torch.aten.add.Scalar %1, %int2, %e : !torch.vtensor<[?,10],f16>, !torch.int, !torch.int -> !torch.vtensor<[?,10],f16>
    torch.prim.If.yield %2 : !torch.vtensor<[?,10],f16>
  } else {
    torch.prim.If.yield %1 : !torch.vtensor<[?,10],f16>
  }
  return %r, %e : !torch.vtensor<[?,10],f16>, !torch.int
}
