// What stands in a branch has the name of its own operation, not that of the branch.
// RUN: tilewright compile %s -o %t.so && tilewright inspect %t.so | FileCheck %s
// CHECK: dispatches (2)
// CHECK-NEXT: 0 bent (k0): bent{{$}}
// CHECK-NEXT: 1 exp (k1): exp from names_in_branches.mlir:[[# @LINE + 8]]:10

func.func @main(%x: !torch.vtensor<[64],f32>, %c: !torch.vtensor<[],i1>) -> !torch.vtensor<[64],f32> {
  %b = torch.aten.Bool.Tensor %c : !torch.vtensor<[],i1> -> !torch.bool
  %r = torch.prim.If %b -> (!torch.vtensor<[64],f32>) {
    %t = torch.aten.tanh %x : !torch.vtensor<[64],f32> -> !torch.vtensor<[64],f32> loc("bent")
    torch.prim.If.yield %t : !torch.vtensor<[64],f32>
  } else {
    %t = torch.aten.exp %x : !torch.vtensor<[64],f32> -> !torch.vtensor<[64],f32>
    torch.prim.If.yield %t : !torch.vtensor<[64],f32>
  }
  return %r : !torch.vtensor<[64],f32>
}
