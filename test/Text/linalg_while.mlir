// RUN: tilewright run %s --input=2xf32=1,2 --expected-output=2xf32=8,16 | FileCheck %s

// A loop with a condition.

// CHECK: all 2 elements agree

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %r:2 = scf.while (%i = %c0, %t = %x) : (i64, tensor<2xf32>) -> (i64, tensor<2xf32>) {
    %go = arith.cmpi slt, %i, %c3 : i64
    scf.condition(%go) %i, %t : i64, tensor<2xf32>
  } do {
  ^bb0(%i: i64, %t: tensor<2xf32>):
    %n = arith.addi %i, %c1 : i64
    %s = arith.addf %t, %t : tensor<2xf32>
    scf.yield %n, %s : i64, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}
