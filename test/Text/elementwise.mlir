// RUN: tilewright run %s --input=2x3xf32=0 --input=2x3xf32=1 --expected-output=2x3xf32=2.7182817 --expected-output=2x3xf32=1 --expected-output=2x3xf32=0,1,2,1,2,3 | FileCheck %s

// Arithmetic on whole tensors, and a tensor computed from positions.

// CHECK-COUNT-3: agree

func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = arith.addf %x, %y : tensor<2x3xf32>
  %e = math.exp %a : tensor<2x3xf32>
  %c = arith.cmpf ogt, %x, %y : tensor<2x3xf32>
  %s = arith.select %c, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %p = arith.addi %i, %j : index
    %q = arith.index_cast %p : index to i64
    %f = arith.sitofp %q : i64 to f32
    tensor.yield %f : f32
  } : tensor<2x3xf32>
  return %e, %s, %g : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
