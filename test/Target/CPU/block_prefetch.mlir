// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 128 rows pass by four parts of a block of 256 columns. Meanwhile the next block, 128 KB, is asked for once: a line
// every other step in each of the three loops along K (of the first rows, and of blocks of six and of five).
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=amx})' | FileCheck %s

// CHECK-COUNT-3: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-NOT:     llvm.intr.prefetch
tile.kernel @wide(in %x: !tile.buffer<[128, 1024], f32>, in %w: !tile.buffer<[1024, 1024], f32>,
                  out %y: !tile.buffer<[128, 1024], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %o = arith.muli %p, %c256 : index
  %s = tile.full %zero : f32 -> tensor<128x256xf32>
  %r = tile.for %i = %c0 to %c8 step %c1 carry (%t = %s : tensor<128x256xf32>) {
    %k = arith.muli %i, %c128 : index
    %a = tile.load %x[%c0, %k] : !tile.buffer<[128, 1024], f32> -> tensor<128x128xf32>
    %b = tile.load %w[%k, %o] : !tile.buffer<[1024, 1024], f32> -> tensor<128x256xf32>
    %d = tile.dot %a, %b, %t : tensor<128x128xf32>, tensor<128x256xf32>, tensor<128x256xf32>
    tile.yield %d : tensor<128x256xf32>
  }
  tile.store %r, %y[%c0, %o] : tensor<128x256xf32>, !tile.buffer<[128, 1024], f32>
}
