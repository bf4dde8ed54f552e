// RUN: not tilewright run %s --input=2xf32=1 2>&1 | FileCheck %s

// What a loop carries keeps its place, so a program that makes it grow is stopped.

// CHECK: error[TW-RUNTIME-0013]: a loop changes the size of what it carries from 2 to 4
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> (tensor<?xf32>) {
    %d = tensor.concat dim(0) %t, %t : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
