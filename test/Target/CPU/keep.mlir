// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is to be kept is computed once, where it stands: before the loop that uses it, or what is made of
// it. Without `keep`, each trip of a loop computes it.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 plan})' | FileCheck %s

// CHECK-LABEL: plan of @anew
// CHECK-NEXT:   inside
// CHECK-NEXT:   inside
// CHECK-NEXT:   %{{[0-9]+}} = tile.for
// CHECK:          tile.dot %[[SCALED:[0-9]+]],
// CHECK-NEXT:       %[[SCALED]] in scratch memory
tile.kernel @anew(in %q: !tile.buffer<[32, 64], f32>, in %k: !tile.buffer<[8, 64, 64], f32>,
                  out %o: !tile.buffer<[32, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %t = tile.load %q[%c0, %c0] : !tile.buffer<[32, 64], f32> -> tensor<32x64xf32>
  %s = tile.full %half : f32 -> tensor<32x64xf32>
  %scaled = arith.mulf %t, %s : tensor<32x64xf32>
  %none = tile.full %zero : f32 -> tensor<32x64xf32>
  %sum = tile.for %i = %c0 to %c8 step %c1 carry (%a = %none : tensor<32x64xf32>) {
    %l = tile.load %k[%i, %c0, %c0] : !tile.buffer<[8, 64, 64], f32> -> tensor<1x64x64xf32>
    %b = tile.reshape %l : tensor<1x64x64xf32> -> tensor<64x64xf32>
    %d = tile.dot %scaled, %b, %a : tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>
    tile.yield %d : tensor<32x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<32x64xf32>, !tile.buffer<[32, 64], f32>
}

// CHECK-LABEL: plan of @kept
// CHECK:        {{^ *}}%[[KEPT:[0-9]+]] = tile.keep
// CHECK-NEXT:     %[[KEPT]] in scratch memory: vectors of 16 along dimension 1
// CHECK-NEXT:   %{{[0-9]+}} = tile.for
// CHECK:          tile.dot %[[KEPT]],
// CHECK-NOT:        %[[KEPT]] in
tile.kernel @kept(in %q: !tile.buffer<[32, 64], f32>, in %k: !tile.buffer<[8, 64, 64], f32>,
                  out %o: !tile.buffer<[32, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %t = tile.load %q[%c0, %c0] : !tile.buffer<[32, 64], f32> -> tensor<32x64xf32>
  %s = tile.full %half : f32 -> tensor<32x64xf32>
  %scaled = arith.mulf %t, %s : tensor<32x64xf32>
  %kept = tile.keep %scaled : tensor<32x64xf32>
  %none = tile.full %zero : f32 -> tensor<32x64xf32>
  %sum = tile.for %i = %c0 to %c8 step %c1 carry (%a = %none : tensor<32x64xf32>) {
    %l = tile.load %k[%i, %c0, %c0] : !tile.buffer<[8, 64, 64], f32> -> tensor<1x64x64xf32>
    %b = tile.reshape %l : tensor<1x64x64xf32> -> tensor<64x64xf32>
    %d = tile.dot %kept, %b, %a : tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>
    tile.yield %d : tensor<32x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<32x64xf32>, !tile.buffer<[32, 64], f32>
}

// CHECK-LABEL: plan of @made_of
// CHECK:        {{^ *}}%[[KEPT:[0-9]+]] = tile.keep
// CHECK-NEXT:     %[[KEPT]] in scratch memory
// CHECK-NEXT:   %{{[0-9]+}} = tile.for
// CHECK:          tile.dot %[[MADE:[0-9]+]],
// CHECK-NEXT:       %[[MADE]] in scratch memory
// CHECK-NOT:        %[[KEPT]] in
tile.kernel @made_of(in %q: !tile.buffer<[32, 64], f32>, in %k: !tile.buffer<[8, 64, 64], f32>,
                  out %o: !tile.buffer<[32, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %t = tile.load %q[%c0, %c0] : !tile.buffer<[32, 64], f32> -> tensor<32x64xf32>
  %s = tile.full %half : f32 -> tensor<32x64xf32>
  %scaled = arith.mulf %t, %s : tensor<32x64xf32>
  %kept = tile.keep %scaled : tensor<32x64xf32>
  %other = arith.subf %kept, %s : tensor<32x64xf32>
  %none = tile.full %zero : f32 -> tensor<32x64xf32>
  %sum = tile.for %i = %c0 to %c8 step %c1 carry (%a = %none : tensor<32x64xf32>) {
    %l = tile.load %k[%i, %c0, %c0] : !tile.buffer<[8, 64, 64], f32> -> tensor<1x64x64xf32>
    %b = tile.reshape %l : tensor<1x64x64xf32> -> tensor<64x64xf32>
    %d = tile.dot %other, %b, %a : tensor<32x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>
    tile.yield %d : tensor<32x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<32x64xf32>, !tile.buffer<[32, 64], f32>
}
