// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop carries: tiles of a few vectors in registers, others in memory that each trip updates in place.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v3 plan})' | FileCheck %s
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 plan})' | FileCheck %s --check-prefix=V4

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

// Sums that only wait for a product of the body leave the registers to it, where both do not fit; smaller ones stay.
// V4-LABEL: plan of @waiting
// V4:         value 0 is copied: vectors of 16 along dimension 1, unrolled
// V4:         results
// V4-NEXT:      value 0 over the one before: vectors of 16 along dimension 1, unrolled
// V4-NEXT:      value 1 in registers: vectors of 16 along dimension 1, unrolled
tile.kernel @waiting(in %x: !tile.buffer<[12, 512], f32>, in %w: !tile.buffer<[512, 32], f32>,
                     out %y: !tile.buffer<[12, 32], f32>, out %z: !tile.buffer<[1, 32], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<12x32xf32>
  %l = tile.full %zero : f32 -> tensor<1x32xf32>
  %r:2 = tile.for %i = %c0 to %c2 step %c1 carry (%total = %s : tensor<12x32xf32>, %few = %l : tensor<1x32xf32>) {
    %k = arith.muli %i, %c256 : index
    %a = tile.load %x[%c0, %k] : !tile.buffer<[12, 512], f32> -> tensor<12x256xf32>
    %b = tile.load %w[%k, %c0] : !tile.buffer<[512, 32], f32> -> tensor<256x32xf32>
    %d = tile.dot %a, %b, %s : tensor<12x256xf32>, tensor<256x32xf32>, tensor<12x32xf32>
    %next = arith.addf %total, %s : tensor<12x32xf32>
    %sum = arith.addf %next, %d : tensor<12x32xf32>
    %first = tile.load %w[%k, %c0] : !tile.buffer<[512, 32], f32> -> tensor<1x32xf32>
    %more = arith.addf %few, %first : tensor<1x32xf32>
    tile.yield %sum, %more : tensor<12x32xf32>, tensor<1x32xf32>
  }
  tile.store %r#0, %y[%c0, %c0] : tensor<12x32xf32>, !tile.buffer<[12, 32], f32>
  tile.store %r#1, %z[%c0, %c0] : tensor<1x32xf32>, !tile.buffer<[1, 32], f32>
}
