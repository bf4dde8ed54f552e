// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tilewright-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-order))' | FileCheck %s
// What touches memory keeps its order; the rest stands before its first use, constants at the top.

// CHECK-LABEL: tile.kernel @k
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[X:.*]] = tile.load %x
// CHECK-NEXT: %[[Y:.*]] = tile.load %y
// CHECK-NEXT: tile.for
// CHECK-NEXT:   %[[EXP:.*]] = math.exp %[[Y]]
// CHECK-NEXT:   %[[ONES:.*]] = tile.full %[[ONE]]
// CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[EXP]], %[[ONES]]
// CHECK-NEXT:   tile.store %[[SUM]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[DOUBLE:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT: tile.store %[[DOUBLE]]
tile.kernel @k(in %x: !tile.buffer<[8], f32>, inout %y: !tile.buffer<[8], f32>) grid [1] {
  %eight = arith.constant 8 : index
  %zero = arith.constant 0 : index
  %a = tile.load %x[%zero] : !tile.buffer<[8], f32> -> tensor<8xf32>
  %double = arith.addf %a, %a : tensor<8xf32>
  %b = tile.load %y[%zero] : !tile.buffer<[8], f32> -> tensor<8xf32>
  tile.for %k = %zero to %eight step %eight {
    %one = arith.constant 1.0 : f32
    %again = arith.constant 0 : index
    %ones = tile.full %one : f32 -> tensor<8xf32>
    %exp = math.exp %b : tensor<8xf32>
    %sum = arith.addf %exp, %ones : tensor<8xf32>
    tile.store %sum, %y[%again] : tensor<8xf32>, !tile.buffer<[8], f32>
  }
  tile.store %double, %y[%zero] : tensor<8xf32>, !tile.buffer<[8], f32>
}
