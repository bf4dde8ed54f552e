// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop carries: tiles of a few vectors in registers, others in memory that each trip updates in place.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v3 plan})' | FileCheck %s

// CHECK-LABEL: plan of @sums
// CHECK:      tile.for
// CHECK-NEXT:   value 0 in registers: vectors of 8 along dimension 0, unrolled
// CHECK:        value 1 is copied: vectors of 8 along dimension 0
// CHECK:        results
// CHECK:        value 0 in registers: vectors of 8 along dimension 0, unrolled
// CHECK-NEXT:   value 1 over the one before: vectors of 8 along dimension 0
tile.kernel @sums(in %x: !tile.buffer<[64, 16], f32>, in %z: !tile.buffer<[64, 4096], f32>,
                  out %y: !tile.buffer<[16], f32>, out %w: !tile.buffer<[4096], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<16xf32>
  %l = tile.full %zero : f32 -> tensor<4096xf32>
  %r:2 = tile.for %i = %c0 to %c64 step %c1 carry (%a = %s : tensor<16xf32>, %b = %l : tensor<4096xf32>) {
    %t = tile.load %x[%i, %c0] : !tile.buffer<[64, 16], f32> -> tensor<1x16xf32>
    %t1 = tile.reshape %t : tensor<1x16xf32> -> tensor<16xf32>
    %u = tile.load %z[%i, %c0] : !tile.buffer<[64, 4096], f32> -> tensor<1x4096xf32>
    %u1 = tile.reshape %u : tensor<1x4096xf32> -> tensor<4096xf32>
    %na = arith.addf %a, %t1 : tensor<16xf32>
    %nb = arith.addf %b, %u1 : tensor<4096xf32>
    tile.yield %na, %nb : tensor<16xf32>, tensor<4096xf32>
  }
  tile.store %r#0, %y[%c0] : tensor<16xf32>, !tile.buffer<[16], f32>
  tile.store %r#1, %w[%c0] : tensor<4096xf32>, !tile.buffer<[4096], f32>
}
