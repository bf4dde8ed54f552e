// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=4xf32=1,2,3,4 --input=i64=5 --expected-output=4xf32=4,8,12,16 --expected-output=2x6xf32=2,4,4,4,4,2,2,2,2,2,2,2 | FileCheck %s
// RUN: tilewright run %t.so --input=4xf32=1,2,3,4 --input=i64=0 --expected-output=4xf32=1,2,3,4 --expected-output=2x6xf32=2,1,1,1,1,2,2,2,2,2,2,2

// A loop with a branch that carries a tensor; padding of what it gives.

// CHECK: all 4 elements agree
// CHECK: all 12 elements agree

func.func @main(%x: tensor<4xf32>, %n: i64) -> (tensor<4xf32>, tensor<2x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %rounds = arith.index_cast %n : i64 to index
  %two = arith.constant 2.0 : f32
  %r = scf.for %i = %c0 to %rounds step %c1 iter_args(%t = %x) -> (tensor<4xf32>) {
    %odd = arith.cmpi slt, %i, %c3 : index
    %next = scf.if %odd -> (tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %d = linalg.add ins(%t, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %d : tensor<4xf32>
    } else {
      scf.yield %t : tensor<4xf32>
    }
    scf.yield %next : tensor<4xf32>
  }
  %v = tensor.extract %r[%c0] : tensor<4xf32>
  %s = tensor.splat %v : tensor<1x4xf32>
  %p = tensor.pad %s low[0, 1] high[1, 1] {
    ^bb0(%a: index, %b: index):
      tensor.yield %two : f32
  } : tensor<1x4xf32> to tensor<2x6xf32>
  return %r, %p : tensor<4xf32>, tensor<2x6xf32>
}
