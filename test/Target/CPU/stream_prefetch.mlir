// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What streams is asked for into the first-level cache (hint 3): weights that lie in the second level would be read from
// it twice otherwise, for nothing. Four parts of the panel are read side by side.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=amx})' | FileCheck %s

// CHECK-COUNT-16: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK-NOT:     hint = 2
tile.kernel @few(in %x: !tile.buffer<[2, 768], f32>, in %w: !tile.buffer<[12, 768, 64], f32>,
                 out %y: !tile.buffer<[2, 768], f32>) grid [12] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<2x64xf32>
  %o = arith.muli %p, %c64 : index
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[2, 768], f32> -> tensor<2x768xf32>
  %q = tile.load %w[%p, %c0, %c0] : !tile.buffer<[12, 768, 64], f32> -> tensor<1x768x64xf32>
  %b = tile.reshape %q : tensor<1x768x64xf32> -> tensor<768x64xf32>
  %d = tile.dot %a, %b, %s : tensor<2x768xf32>, tensor<768x64xf32>, tensor<2x64xf32>
  tile.store %d, %y[%c0, %o] : tensor<2x64xf32>, !tile.buffer<[2, 768], f32>
}
