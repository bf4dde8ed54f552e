// RUN: tilewright-opt %s -tw-target-reference -verify-diagnostics

func.func private @k(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32>
    attributes {tw.kernel} {
  // expected-error @+1 {{the reference target cannot do tw.kernel_call}}
  %y = tw.kernel_call "user"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
