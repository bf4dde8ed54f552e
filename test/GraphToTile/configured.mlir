// Kernels are made as their configuration says, whoever chose it; without one a function stays.
// RUN: tilewright-opt %s -tw-tile-programs | FileCheck %s

// CHECK: tile.kernel @given({{.*}} grid [8] attributes {tile.block = array<i64: 3>,
// CHECK-SAME: tile.configuration = #tile.config<"loops" {block = array<i64: 256>
func.func private @given(%a: tensor<32x64xf32>, %out: tensor<32x64xf32>) -> tensor<32x64xf32> attributes {tw.kernel,
    tile.configuration = #tile.dispatch_config<cuts[none] kernels[
      <"loops" {block = array<i64: 256>, chunk = array<i64: 0>, parts = 1 : i64, programs = array<i64: 3>, split_parts = 0 : i64}>]>} {
  %0 = linalg.exp ins(%a : tensor<32x64xf32>) outs(%out : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// CHECK: func.func private @left({{.*}} attributes {tw.kernel}
func.func private @left(%a: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> attributes {tw.kernel} {
  %0 = linalg.exp ins(%a : tensor<8xf32>) outs(%out : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @main(%a: tensor<32x64xf32>, %b: tensor<8xf32>) -> (tensor<32x64xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<32x64xf32>
  %f = tensor.empty() : tensor<8xf32>
  %y = tw.dispatch @given(%a) outs(%e) : (tensor<32x64xf32>) outs(tensor<32x64xf32>) -> tensor<32x64xf32>
  %z = tw.dispatch @left(%b) outs(%f) : (tensor<8xf32>) outs(tensor<8xf32>) -> tensor<8xf32>
  return %y, %z : tensor<32x64xf32>, tensor<8xf32>
}
