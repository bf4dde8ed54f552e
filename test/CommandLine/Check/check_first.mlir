// The pass of this compiler forgets an exponential between two products: the dispatch that should
// have it is named, not the one behind it, whose result is the output that differs.
// RUN: tilewright check %s --dispatches --input=4x40xf32=random:1 --input=40x8xf32=random:2 --input=16x5xf32=random:3 | FileCheck %s --check-prefix=FINE
// FINE: dispatches: 2 compared, of which 0 differ; 0 not compared
// RUN: not env TILEWRIGHT_COMPILER=%broken_compiler tilewright check %s --interpret --input=4x40xf32=random:1 --input=40x8xf32=random:2 --input=16x5xf32=random:3 2>&1 | FileCheck %s
// CHECK: error[TW-CLI-0004]: output "output_0" differs from the reference target
// CHECK: error[TW-CLI-0010]: dispatch 0 "{{.*}}" is the first that differs from the reference target
// CHECK: note: its result is the value of check_first.mlir:[[# @LINE + 10]]:8
// CHECK: note: the interpreter computes the same from its kernel: the kernel is wrong, not its code
// CHECK: note: dispatches: 2 compared, of which 1 differ; 0 not compared
func.func @main(%x: !torch.vtensor<[4,40],f32>, %y: !torch.vtensor<[40,8],f32>, %z: !torch.vtensor<[16,5],f32>) -> !torch.vtensor<[2,5],f32> {
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %sixteen = torch.constant.int 16
  %sizes = torch.prim.ListConstruct %two, %sixteen : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[4,40],f32>, !torch.vtensor<[40,8],f32> -> !torch.vtensor<[4,8],f32>
  %1 = torch.aten.exp %0 : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %2 = torch.aten.add.Scalar %1, %one, %one : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
  %3 = torch.aten.view %2, %sizes : !torch.vtensor<[4,8],f32>, !torch.list<int> -> !torch.vtensor<[2,16],f32>
  %4 = torch.aten.mm %3, %z : !torch.vtensor<[2,16],f32>, !torch.vtensor<[16,5],f32> -> !torch.vtensor<[2,5],f32>
  return %4 : !torch.vtensor<[2,5],f32>
}
