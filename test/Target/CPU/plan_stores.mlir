// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Consecutive stores of one shape share a loop; a load whose buffer is written before its last use is read where it
// stands; short rows are interleaved; outputs that no cache could hold are written past the caches.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v3 plan})' | FileCheck %s

// CHECK-LABEL: plan of @update
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   one loop for 2 stores
// CHECK-NEXT:   vectors of 8 along dimension 0
// CHECK-NEXT: {{^ +}}tile.store
// CHECK-NEXT:   in the loop of the store before
tile.kernel @update(in %g: !tile.buffer<[1024], f32>, inout %m: !tile.buffer<[1024], f32>,
                    inout %w: !tile.buffer<[1024], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %tg = tile.load %g[%c0] : !tile.buffer<[1024], f32> -> tensor<1024xf32>
  %tm = tile.load %m[%c0] : !tile.buffer<[1024], f32> -> tensor<1024xf32>
  %tw = tile.load %w[%c0] : !tile.buffer<[1024], f32> -> tensor<1024xf32>
  %nm = arith.addf %tm, %tg : tensor<1024xf32>
  %nw = arith.subf %tw, %nm : tensor<1024xf32>
  tile.store %nm, %m[%c0] : tensor<1024xf32>, !tile.buffer<[1024], f32>
  tile.store %nw, %w[%c0] : tensor<1024xf32>, !tile.buffer<[1024], f32>
}

// So do stores to one buffer at constant positions that no other of them has.
// CHECK-LABEL: plan of @apart
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   one loop for 2 stores
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   in the loop of the store before
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   vectors of 8 along dimension 1
tile.kernel @apart(in %x: !tile.buffer<[1, 1024], f32>, out %y: !tile.buffer<[2, 1024], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[1, 1024], f32> -> tensor<1x1024xf32>
  %sum = arith.addf %t, %t : tensor<1x1024xf32>
  %product = arith.mulf %sum, %t : tensor<1x1024xf32>
  tile.store %sum, %y[%c0, %c0] : tensor<1x1024xf32>, !tile.buffer<[2, 1024], f32>
  tile.store %product, %y[%c1, %c0] : tensor<1x1024xf32>, !tile.buffer<[2, 1024], f32>
  tile.store %t, %y[%c1, %c0] : tensor<1x1024xf32>, !tile.buffer<[2, 1024], f32>
}

// What is read again after it has been written is copied first.
// CHECK-LABEL: plan of @shifted
// CHECK:      {{^ +}}%0 = tile.load
// CHECK-NEXT:   %{{.*}} in scratch memory: vectors of 8 along dimension 0
// CHECK-NEXT: {{^ +}}tile.store
tile.kernel @shifted(inout %x: !tile.buffer<[1024], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %t = tile.load %x[%c0] : !tile.buffer<[1024], f32> -> tensor<1016xf32>
  tile.store %t, %x[%c8] : tensor<1016xf32>, !tile.buffer<[1024], f32>
}

// CHECK-LABEL: plan of @pairs
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   the last dimension is interleaved
// CHECK-NEXT:   vectors of 8 along dimension 0
tile.kernel @pairs(in %x: !tile.buffer<[64], f32>, out %y: !tile.buffer<[64, 2], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.buffer<[64], f32> -> tensor<64xf32>
  %r = tile.reshape %t : tensor<64xf32> -> tensor<64x1xf32>
  %b = tile.broadcast %r : tensor<64x1xf32> -> tensor<64x2xf32>
  tile.store %b, %y[%c0, %c0] : tensor<64x2xf32>, !tile.buffer<[64, 2], f32>
}

// CHECK-LABEL: plan of @large
// CHECK-NEXT: %{{.*}} is written with non-temporal stores
tile.kernel @large(in %x: !tile.buffer<[8192, 1024], f32>, out %y: !tile.buffer<[8192, 1024], f32>) grid [8192] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[8192, 1024], f32> -> tensor<1x1024xf32>
  tile.store %t, %y[%p, %c0] : tensor<1x1024xf32>, !tile.buffer<[8192, 1024], f32>
}
