// RUN: tilewright-opt --torch-to-graph -canonicalize %s | FileCheck %s
// An int that is no size of any tensor keeps its symbol and range; .item() of a bool is a bool.

// CHECK: tw.symbols = [{max = 9 : i64, min = 0 : i64, name = "s86"}]
func.func @main(%x: !torch.vtensor<[2],f32>, %n: !torch.int {tw.name = "n", tw.role = "input", tw.symbol = "s86"},
                %m: !torch.vtensor<[],i1>) -> (!torch.vtensor<[2],f32>, !torch.bool) {
  %s = torch.symbolic_int "s86" {min_val = 0, max_val = 9} : !torch.int
  %0 = torch.aten.mul.Scalar %x, %n : !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f32>
  // CHECK: tensor.extract %arg2[] : tensor<i1>
  %1 = torch.aten.item %m : !torch.vtensor<[],i1> -> !torch.bool
  return %0, %1 : !torch.vtensor<[2],f32>, !torch.bool
}
