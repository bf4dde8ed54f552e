func.func private @f(%n: !torch.int) -> !torch.int {
  return %n : !torch.int
}
func.func @forward(%n: !torch.int, %x: !torch.vtensor<[?,2],f32>) -> (!torch.int, !torch.vtensor<[?,2],f32>) {
  %s = torch.symbolic_int "s0" {min_val = 2, max_val = 9} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0, 2)> : !torch.vtensor<[?,2],f32>
  %true = torch.constant.bool true
  %l = torch.vtensor.literal(dense<[1.0, 2.0]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %0 = torch.prim.If %true -> (!torch.int) {
    %3 = func.call @f(%n) : (!torch.int) -> !torch.int
    torch.prim.If.yield %3 : !torch.int
  } else {
    torch.prim.If.yield %n : !torch.int
  }
  %1 = torch.prim.Loop %0, %true, init(%n) {
  ^bb0(%i: !torch.int, %c: !torch.int):
    torch.prim.Loop.condition %true, iter(%c : !torch.int)
  } : (!torch.int, !torch.bool, !torch.int) -> !torch.int
  %2 = torch.operator "torch.my.op"(%x) : (!torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,2],f32>
  return %1, %2 : !torch.int, !torch.vtensor<[?,2],f32>
}
