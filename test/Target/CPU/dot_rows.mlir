// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few rows by columns that lie along memory: a column is read once, for all rows.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 loops})' | FileCheck %s

// CHECK-LABEL: llvm.func internal @few_loops(
// CHECK:         scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-3:   math.fma
// CHECK:           scf.yield {{.*}} : vector<16xf32>, vector<16xf32>, vector<16xf32>
// CHECK-NOT:     math.fma
tile.kernel @few(in %x: !tile.buffer<[3, 512], f32>, in %w: !tile.buffer<[32, 512], f32>,
                 out %y: !tile.buffer<[3, 32], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[3, 512], f32> -> tensor<3x512xf32>
  %w0 = tile.load %w[%c0, %c0] : !tile.buffer<[32, 512], f32> -> tensor<32x512xf32>
  %b = tile.transpose %w0 [1, 0] : tensor<32x512xf32> -> tensor<512x32xf32>
  %s = tile.full %zero : f32 -> tensor<3x32xf32>
  %d = tile.dot %a, %b, %s : tensor<3x512xf32>, tensor<512x32xf32>, tensor<3x32xf32>
  tile.store %d, %y[%c0, %c0] : tensor<3x32xf32>, !tile.buffer<[3, 32], f32>
}
