// RUN: tilewright run %s --input=2x3xf32=1,2,3,4,5,6 --input=2xi64=0,1 --expected-output=4x3xf32=1,2,3,4,5,6,1,2,3,4,5,6 --expected-output=3xf32=4,5,6 --expected-output=3x3xf32=0,0,0,1,2,3,4,5,6 --expected-output=2x3xf32=1,1,3,4,5,6 --expected-output=3xi32=1,4,9 | FileCheck %s

// Concatenation, a slice at a position from data, insertion of slices and elements, constants.

// CHECK-COUNT-5: agree

func.func @main(%x: tensor<2x3xf32>, %i: tensor<2xi64>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<2x3xf32>, tensor<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cat = tensor.concat dim(0) %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %iv = tensor.extract %i[%c1] : tensor<2xi64>
  %ix = arith.index_cast %iv : i64 to index
  %row = tensor.extract_slice %x[%ix, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %ins = tensor.insert_slice %x into %f[1, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<3x3xf32>
  %one = arith.constant 1.0 : f32
  %put = tensor.insert %one into %x[%c0, %c1] : tensor<2x3xf32>
  %k = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %sq = arith.muli %k, %k : tensor<3xi32>
  return %cat, %row, %ins, %put, %sq : tensor<4x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<2x3xf32>, tensor<3xi32>
}
