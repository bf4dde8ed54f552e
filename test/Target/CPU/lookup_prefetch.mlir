// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a table that no cache near by holds are asked for ahead: in a loop sixteen trips before they are added, all
// four lines at once; of a block of rows those that the next program looks up, beside the ones that are copied. Tables
// of 256 KB stay in a cache.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=amx})' | FileCheck %s

// CHECK-LABEL: @bag
// CHECK-COUNT-4: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
// CHECK-NOT:     llvm.intr.prefetch
// CHECK-LABEL: @block
// CHECK:         "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-LABEL: @near
// CHECK-NOT:     llvm.intr.prefetch
tile.kernel @bag(in %i: !tile.buffer<[64, 32], i64>, in %t: !tile.buffer<[100000, 64], f32>,
                 out %y: !tile.buffer<[64, 64], f32>) grid [64] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %rows = arith.constant 100000 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<1x64xf32>
  %r = tile.for %n = %c0 to %c32 step %c1 carry (%sum = %s : tensor<1x64xf32>) {
    %index = tile.load %i[%p, %n] : !tile.buffer<[64, 32], i64> -> tensor<1x1xi64>
    %good = tile.check %index in %rows, "index %lld is not below %lld" : tensor<1x1xi64>
    %one = tile.extract %good : tensor<1x1xi64> -> i64
    %at = arith.index_cast %one : i64 to index
    %row = tile.load %t[%at, %c0] : !tile.buffer<[100000, 64], f32> -> tensor<1x64xf32>
    %next = arith.addf %sum, %row : tensor<1x64xf32>
    tile.yield %next : tensor<1x64xf32>
  }
  tile.store %r, %y[%p, %c0] : tensor<1x64xf32>, !tile.buffer<[64, 64], f32>
}

tile.kernel @block(in %i: !tile.buffer<[64, 26], i64>, in %t: !tile.buffer<[100000, 64], f32>,
                   out %y: !tile.buffer<[64, 64], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 100000 : index
  %zero = arith.constant 0.0 : f32
  %o = arith.muli %p, %c16 : index
  %indices = tile.load %i[%o, %c3] : !tile.buffer<[64, 26], i64> -> tensor<16x1xi64>
  %good = tile.check %indices in %rows, "index %lld is not below %lld" : tensor<16x1xi64>
  %at = tile.reshape %good : tensor<16x1xi64> -> tensor<16xi64>
  %block = tile.load %t[%at : tensor<16xi64>, %c0] pad %zero : f32 : !tile.buffer<[100000, 64], f32> -> tensor<16x64xf32>
  tile.store %block, %y[%o, %c0] : tensor<16x64xf32>, !tile.buffer<[64, 64], f32>
}

tile.kernel @near(in %i: !tile.buffer<[64], i64>, in %t: !tile.buffer<[1000, 64], f32>,
                  out %y: !tile.buffer<[64, 64], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %rows = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %o = arith.muli %p, %c16 : index
  %indices = tile.load %i[%o] : !tile.buffer<[64], i64> -> tensor<16xi64>
  %good = tile.check %indices in %rows, "index %lld is not below %lld" : tensor<16xi64>
  %block = tile.load %t[%good : tensor<16xi64>, %c0] pad %zero : f32 : !tile.buffer<[1000, 64], f32> -> tensor<16x64xf32>
  tile.store %block, %y[%o, %c0] : tensor<16x64xf32>, !tile.buffer<[64, 64], f32>
}
