// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
// Views whose groups of dimensions match are one collapse or expand, with nothing checked at run
// time; a size that is -1 follows from polynomials of symbols.

// CHECK-LABEL: func.func @heads(
// CHECK-NOT: tw.assert
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1], [2, 3]] output_shape [%{{.*}}, %{{.*}}, 4, 8]
// CHECK: linalg.transpose ins(%{{.*}} : tensor<?x?x4x8xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] : tensor<?x4x?x8xf32> into tensor<?x?x8xf32>
// CHECK-NOT: tw.assert
// CHECK: return
func.func @heads(%x: !torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,8],f32> {
  %b = torch.symbolic_int "b" {min_val = 1, max_val = 64} : !torch.int
  %n = torch.symbolic_int "n" {min_val = 1, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %x, [%b, %n], affine_map<()[s0, s1] -> (s0, s1, 32)> : !torch.vtensor<[?,?,32],f32>
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %4 = torch.constant.int 4
  %8 = torch.constant.int 8
  %-1 = torch.constant.int -1
  %rows = torch.aten.size.int %x, %1 : !torch.vtensor<[?,?,32],f32>, !torch.int -> !torch.int
  %split = torch.prim.ListConstruct %-1, %rows, %4, %8 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %heads = torch.aten.view %x, %split : !torch.vtensor<[?,?,32],f32>, !torch.list<int> -> !torch.vtensor<[?,?,4,8],f32>
  %swapped = torch.aten.transpose.int %heads, %1, %2 : !torch.vtensor<[?,?,4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,4,?,8],f32>
  %joined = torch.prim.ListConstruct %-1, %rows, %8 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %y = torch.aten.reshape %swapped, %joined : !torch.vtensor<[?,4,?,8],f32>, !torch.list<int> -> !torch.vtensor<[?,?,8],f32>
  return %y : !torch.vtensor<[?,?,8],f32>
}

// What does not follow from the symbols is checked when the program runs.
// CHECK-LABEL: func.func @checked(
// CHECK: tw.assert %{{.*}}, "aten.view: a tensor of %lld elements cannot have a shape of %lld"
func.func @checked(%x: !torch.vtensor<[?],f32>, %n: !torch.int) -> !torch.vtensor<[?,2],f32> {
  %2 = torch.constant.int 2
  %sizes = torch.prim.ListConstruct %n, %2 : (!torch.int, !torch.int) -> !torch.list<int>
  %y = torch.aten.view %x, %sizes : !torch.vtensor<[?],f32>, !torch.list<int> -> !torch.vtensor<[?,2],f32>
  return %y : !torch.vtensor<[?,2],f32>
}

// Strides are nothing that a tensor has here.
// CHECK-LABEL: func.func @copy_strided
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @copy_strided(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %strides = torch.prim.ListConstruct %one, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %y = torch.prims.copy_strided %x, %strides : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3],f32>
  return %y : !torch.vtensor<[2,3],f32>
}
