// RUN: tilewright run %s --input=2x3x4xf32=1 --input=2x4x5xf32=1 --input=2x4xf32=0 --expected-output=2x3x5xf32=4 --expected-output=2x4xf32=0.25 --expected-output=2x4x3xf32=0 --expected-output=f64=2.5 | FileCheck %s

// A batched product, softmax, broadcasting, a number as a result.

// CHECK-COUNT-4: agree

func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %x: tensor<2x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x4xf32>, tensor<2x4x3xf32>, f64) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf32>, tensor<2x4x5xf32>) outs(%f : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %se = tensor.empty() : tensor<2x4xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<2x4xf32>) outs(%se : tensor<2x4xf32>) -> tensor<2x4xf32>
  %be = tensor.empty() : tensor<2x4x3xf32>
  %br = linalg.broadcast ins(%x : tensor<2x4xf32>) outs(%be : tensor<2x4x3xf32>) dimensions = [2]
  %d = arith.constant 2.5 : f64
  return %r, %s, %br, %d : tensor<2x3x5xf32>, tensor<2x4xf32>, tensor<2x4x3xf32>, f64
}
