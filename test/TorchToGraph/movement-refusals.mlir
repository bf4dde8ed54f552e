// RUN: not tilewright-opt --torch-to-graph %s 2>&1 | FileCheck %s
// Refusals of data movement say both values.

// CHECK: operator aten.view: a tensor of 6 elements cannot have a shape of 8
// CHECK: operator aten.select.int: index 3 is out of range for dimension 1 with size 3
// CHECK: operator aten.transpose.int: argument 'dim1' is 2, but the tensor has 2 dimensions
// CHECK: operator aten.expand: a dimension of size 3 cannot be expanded to 4
// CHECK: operator aten.cat: dimension 1 of tensor 0 has size 3, but that of tensor 1 has size 2
// CHECK: operator aten.reflection_pad1d: a padding of 3 is more than the 2 possible here
// CHECK: operator aten.unfold: its result has size 2, but the program says 9
func.func @main(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[2,2],f32>) -> (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[3,2],f32>, !torch.vtensor<[2,4],f32>, !torch.vtensor<[4,3],f32>, !torch.vtensor<[2,9],f32>, !torch.vtensor<[2,9,2],f32>) {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %3 = torch.constant.int 3
  %4 = torch.constant.int 4
  %false = torch.constant.bool false
  %sizes = torch.prim.ListConstruct %2, %4 : (!torch.int, !torch.int) -> !torch.list<int>
  %pads = torch.prim.ListConstruct %3, %3 : (!torch.int, !torch.int) -> !torch.list<int>
  %both = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,2],f32>) -> !torch.list<vtensor>
  %r0 = torch.aten.view %x, %sizes : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,4],f32>
  %r1 = torch.aten.select.int %x, %1, %3 : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
  %r2 = torch.aten.transpose.int %x, %0, %2 : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,2],f32>
  %r3 = torch.aten.expand %x, %sizes, %false : !torch.vtensor<[2,3],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[2,4],f32>
  %r4 = torch.aten.cat %both, %0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,3],f32>
  %r5 = torch.aten.reflection_pad1d %x, %pads : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,9],f32>
  %r6 = torch.aten.unfold %x, %1, %2, %1 : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,9,2],f32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[3,2],f32>, !torch.vtensor<[2,4],f32>, !torch.vtensor<[4,3],f32>, !torch.vtensor<[2,9],f32>, !torch.vtensor<[2,9,2],f32>
}
