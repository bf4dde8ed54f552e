// Whether an operator becomes several kernels is a decision about it, noted where both are possible.
// RUN: tilewright-opt %s -tw-configure -split-input-file | FileCheck %s

// The target chooses; what is nothing to decide is not noted. Calls share a function, which is said to come from one.
// CHECK: tw.decisions = [#tw.decision<cut["product"] false because "one kernel is expected to be faster">,
// CHECK-SAME: #tw.decision<cut["product_1"] false because "one kernel is expected to be faster">,
// CHECK-SAME: #tw.decision<cut["sum"] true>]
// CHECK: @k0{{.*}}<cuts[ none]
// CHECK: @k1{{.*}}<cuts[ split_reductions] kernels[<"loops"{{.*}}>, <"loops"{{.*}}>]
// CHECK: @k2{{.*}}<cuts[ none]
#row = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>
module attributes {tw.wanted_decisions = []} {
func.func private @k0(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %out: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x256xf32>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32> loc("product")
  return %y : tensor<64x256xf32>
} loc("product")
func.func private @k1(%x: tensor<4194304xf32>, %out: tensor<4194304xf32>) -> tensor<4194304xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#row, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<4194304xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32> loc("sum")
  %y = linalg.generic {indexing_maps = [#row, #scalar, #row], iterator_types = ["parallel"]} ins(%x, %s : tensor<4194304xf32>, tensor<f32>) outs(%out : tensor<4194304xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<4194304xf32> loc("div")
  return %y : tensor<4194304xf32>
} loc(fused["sum", "div"])
func.func private @k2(%x: tensor<64x256xf32>, %out: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {tw.kernel} {
  %y = linalg.exp ins(%x : tensor<64x256xf32>) outs(%out : tensor<64x256xf32>) -> tensor<64x256xf32> loc("exp")
  return %y : tensor<64x256xf32>
} loc("exp")
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %x: tensor<4194304xf32>) -> (tensor<64x256xf32>, tensor<64x256xf32>, tensor<4194304xf32>) {
  %e = tensor.empty() : tensor<64x256xf32>
  %y = tw.dispatch @k0(%a, %b) outs(%e) : (tensor<64x64xf32>, tensor<64x256xf32>) outs(tensor<64x256xf32>) -> tensor<64x256xf32> loc("product")
  %z = tw.dispatch @k0(%a, %y) outs(%e) : (tensor<64x64xf32>, tensor<64x256xf32>) outs(tensor<64x256xf32>) -> tensor<64x256xf32> loc("product_1")
  %u = tw.dispatch @k2(%y) outs(%e) : (tensor<64x256xf32>) outs(tensor<64x256xf32>) -> tensor<64x256xf32> loc("exp")
  %d = tensor.empty() : tensor<4194304xf32>
  %v = tw.dispatch @k1(%x) outs(%d) : (tensor<4194304xf32>) outs(tensor<4194304xf32>) -> tensor<4194304xf32> loc(fused["sum", "div"])
  return %z, %u, %v : tensor<64x256xf32>, tensor<64x256xf32>, tensor<4194304xf32>
}
}

// -----

// What one operator wants holds for all that share the kernels; a rule decides where no operator is named.
// CHECK: tw.decisions = [#tw.decision<cut["product"] true>, #tw.decision<cut["product_1"] true>, #tw.decision<cut["sum"] false because "the configuration says so">]
// CHECK: @k0{{.*}}<cuts[ transpose_rhs] kernels[<"loops"{{.*}}>, <"contraction"{{.*}}>]
// CHECK: @k1{{.*}}<cuts[ none]
#row = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>
module attributes {tw.wanted_decisions = [#tw.decision<cut["product_1"] true>], tw.decision_rules = [{decision = "cut", operations = ["sum"], want = false}]} {
func.func private @k0(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %out: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x256xf32>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32> loc("product")
  return %y : tensor<64x256xf32>
} loc("product")
func.func private @k1(%x: tensor<4194304xf32>, %out: tensor<4194304xf32>) -> tensor<4194304xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#row, #scalar], iterator_types = ["reduction"]} ins(%x : tensor<4194304xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32> loc("sum")
  %y = linalg.generic {indexing_maps = [#row, #scalar, #row], iterator_types = ["parallel"]} ins(%x, %s : tensor<4194304xf32>, tensor<f32>) outs(%out : tensor<4194304xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<4194304xf32> loc("div")
  return %y : tensor<4194304xf32>
} loc(fused["sum", "div"])
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %x: tensor<4194304xf32>) -> (tensor<64x256xf32>, tensor<4194304xf32>) {
  %e = tensor.empty() : tensor<64x256xf32>
  %y = tw.dispatch @k0(%a, %b) outs(%e) : (tensor<64x64xf32>, tensor<64x256xf32>) outs(tensor<64x256xf32>) -> tensor<64x256xf32> loc("product")
  %z = tw.dispatch @k0(%a, %y) outs(%e) : (tensor<64x64xf32>, tensor<64x256xf32>) outs(tensor<64x256xf32>) -> tensor<64x256xf32> loc("product_1")
  %d = tensor.empty() : tensor<4194304xf32>
  %v = tw.dispatch @k1(%x) outs(%d) : (tensor<4194304xf32>) outs(tensor<4194304xf32>) -> tensor<4194304xf32> loc(fused["sum", "div"])
  return %z, %v : tensor<64x256xf32>, tensor<4194304xf32>
}
}

// -----

// Where they want the opposite of one another, the target chooses.
// CHECK: tw.decisions = [#tw.decision<cut["product"] false because "operators of the same kernels want it both ways">,
// CHECK-SAME: #tw.decision<cut["product_1"] false because "operators of the same kernels want it both ways">]
// CHECK: @k0{{.*}}<cuts[ none]
module attributes {tw.wanted_decisions = [#tw.decision<cut["product"] true>, #tw.decision<cut["product_1"] false>]} {
func.func private @k0(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %out: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x256xf32>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32> loc("product")
  return %y : tensor<64x256xf32>
} loc("product")
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<64x256xf32>
  %y = tw.dispatch @k0(%a, %b) outs(%e) : (tensor<64x64xf32>, tensor<64x256xf32>) outs(tensor<64x256xf32>) -> tensor<64x256xf32> loc("product")
  %z = tw.dispatch @k0(%a, %y) outs(%e) : (tensor<64x64xf32>, tensor<64x256xf32>) outs(tensor<64x256xf32>) -> tensor<64x256xf32> loc("product_1")
  return %z : tensor<64x256xf32>
}
}
