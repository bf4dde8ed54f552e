// RUN: tilewright run %s --input=i64=7 --input=3xf32=1,2,3 --expected-output=2xi64=7,5 --expected-output=i64=7 --expected-output=3xf32=1 --expected-output=3xf32=4,5,6 | FileCheck %s

// Tensors made of numbers, and of a size that is known at run time.

// CHECK-COUNT-4: agree
func.func @main(%a: i64, %x: tensor<?xf32>) -> (tensor<2xi64>, tensor<i64>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %five = arith.constant 5 : i64
  %p = tensor.from_elements %a, %five : tensor<2xi64>
  %s = tensor.from_elements %a : tensor<i64>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %one = arith.constant 1.0 : f32
  %o = tensor.splat %one[%n] : tensor<?xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %d = linalg.add ins(%t, %o : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %d : tensor<?xf32>
  }
  return %p, %s, %o, %r : tensor<2xi64>, tensor<i64>, tensor<?xf32>, tensor<?xf32>
}
