// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes inside a buffer are counted in 32 bits where the first is at 0 or later. One that may be before the buffer is
// compared with both ends, in 64 bits.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 loops})' | FileCheck %s

// CHECK-LABEL: llvm.func internal @from_start_loops(
// CHECK-NOT: vector<16xi64>
// CHECK: %[[REST:.*]] = arith.subi
// CHECK: %[[SOME:.*]] = arith.maxsi %[[REST]]
// CHECK: %[[MOST:.*]] = arith.minsi %[[SOME]]
// CHECK: arith.trunci %[[MOST]] : i64 to i32
// CHECK: arith.cmpi sgt, {{.*}} : vector<16xi32>
// CHECK-NOT: vector<16xi64>
// CHECK-LABEL: llvm.func {{.*}}@from_start_info(
tile.kernel @from_start(in %x: !tile.buffer<[N], f32>, out %y: !tile.buffer<[N], f32>) symbols [N]
    grid [N ceildiv 64] {
  %p = tile.program_id 0
  %c64 = arith.constant 64 : index
  %i = arith.muli %p, %c64 : index
  %a = tile.load %x[%i] : !tile.buffer<[N], f32> -> tensor<64xf32>
  tile.store %a, %y[%i] : tensor<64xf32>, !tile.buffer<[N], f32>
}

// CHECK-LABEL: llvm.func internal @from_before_loops(
// CHECK: arith.cmpi ult, {{.*}} : vector<16xi64>
// CHECK-LABEL: llvm.func {{.*}}@from_before_info(
tile.kernel @from_before(in %x: !tile.buffer<[N], f32>, out %y: !tile.buffer<[N], f32>) symbols [N]
    grid [N ceildiv 64] {
  %p = tile.program_id 0
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %i = arith.muli %p, %c64 : index
  %j = arith.subi %i, %c1 : index
  %a = tile.load %x[%j] pad %zero : f32 : !tile.buffer<[N], f32> -> tensor<64xf32>
  tile.store %a, %y[%i] : tensor<64xf32>, !tile.buffer<[N], f32>
}
