// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is loaded takes as long as the target says: 64 trips that load 65,536 elements each are four parts of a million
// where an element counts once, and 64 where it counts 16 times. What products read is loaded beside them.
// RUN: tilewright-opt %s -tile-split="enough-programs=32 wanted-programs=256 least-work=1048576" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ONCE
// RUN: tilewright-opt %s -tile-split="enough-programs=32 wanted-programs=256 least-work=1048576 load-work=16" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,OFTEN

// ONCE: tile.kernel @sums_parts({{.*}}) grid [4, 1]
// OFTEN: tile.kernel @sums_parts({{.*}}) grid [64, 1]
tile.kernel @sums(in %x: !tile.buffer<[65536, 64], f32>, out %y: !tile.buffer<[64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %end = arith.constant 65536 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<64xf32>
  %sum = tile.for %i = %c0 to %end step %c1024 carry (%s = %init : tensor<64xf32>) {
    %t = tile.load %x[%i, %c0] : !tile.buffer<[65536, 64], f32> -> tensor<1024x64xf32>
    %one = tile.reduce sum %t axis 0 : tensor<1024x64xf32> -> tensor<64xf32>
    %next = arith.addf %s, %one : tensor<64xf32>
    tile.yield %next : tensor<64xf32>
  } combine (%a : tensor<64xf32>, %b : tensor<64xf32>) {
    %c = arith.addf %a, %b : tensor<64xf32>
    tile.yield %c : tensor<64xf32>
  }
  tile.store %sum, %y[%c0] : tensor<64xf32>, !tile.buffer<[64], f32>
}

// CHECK: tile.kernel @products_parts({{.*}}) grid [128, 1]
tile.kernel @products(in %a: !tile.buffer<[64, 8192], f32>, in %b: !tile.buffer<[8192, 256], f32>,
                      out %y: !tile.buffer<[64, 256], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 8192 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<64x256xf32>
  %sum = tile.for %k = %c0 to %end step %c64 carry (%s = %init : tensor<64x256xf32>) {
    %ta = tile.load %a[%c0, %k] : !tile.buffer<[64, 8192], f32> -> tensor<64x64xf32>
    %tb = tile.load %b[%k, %c0] : !tile.buffer<[8192, 256], f32> -> tensor<64x256xf32>
    %next = tile.dot %ta, %tb, %s : tensor<64x64xf32>, tensor<64x256xf32>, tensor<64x256xf32>
    tile.yield %next : tensor<64x256xf32>
  } combine (%p : tensor<64x256xf32>, %q : tensor<64x256xf32>) {
    %c = arith.addf %p, %q : tensor<64x256xf32>
    tile.yield %c : tensor<64x256xf32>
  }
  tile.store %sum, %y[%c0, %c0] : tensor<64x256xf32>, !tile.buffer<[64, 256], f32>
}
