// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is inside whatever the sizes are needs no test; what a program may exceed is tested once, and has two versions,
// of which the boundary version has no further ones.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 plan})' | FileCheck %s

// CHECK-LABEL: plan of @rows
// CHECK-NEXT:   inside along 0: {{.*}} tile.load
// CHECK-NEXT:   inside along 0: tile.store
// CHECK-NEXT:   tested along 1: {{.*}} tile.load
// CHECK-NEXT:   tested along 1: tile.store
// CHECK-NEXT:   interior version
// CHECK-NEXT:     tile.store
// CHECK-NEXT:       vectors of 16 along dimension 1, unrolled
// CHECK-NEXT:   boundary version
// CHECK-NEXT:     tile.store
// CHECK-NEXT:       vectors of 16 along dimension 1, unrolled
// CHECK-NOT:    version
tile.kernel @rows(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>)
    symbols [M, N] grid [M, N ceildiv 64] {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %c64 = arith.constant 64 : index
  %at = arith.muli %n, %c64 : index
  %t = tile.load %x[%m, %at] : !tile.buffer<[M, N], f32> -> tensor<1x64xf32>
  %u = arith.addf %t, %t : tensor<1x64xf32>
  tile.store %u, %y[%m, %at] : tensor<1x64xf32>, !tile.buffer<[M, N], f32>
}

// Where loops go through what is stored, those of the boundary version end with the buffer: what lies beyond is not
// computed. A dimension that is inside needs no end of its own.
// CHECK-LABEL: plan of @few
// CHECK:        interior version
// CHECK-NEXT:     tile.store
// CHECK-NEXT:       vectors of 16 along dimension 1{{$}}
// CHECK-NEXT:   boundary version
// CHECK-NEXT:     tile.store
// CHECK-NEXT:       vectors of 16 along dimension 1{{$}}
// CHECK-NEXT:       up to the end of the buffer along 0{{$}}
tile.kernel @few(in %x: !tile.buffer<[M, 64], f32>, out %y: !tile.buffer<[M, 64], f32>)
    symbols [M] grid [M ceildiv 64] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %at = arith.muli %m, %c64 : index
  %t = tile.load %x[%at, %c0] : !tile.buffer<[M, 64], f32> -> tensor<64x64xf32>
  %u = arith.addf %t, %t : tensor<64x64xf32>
  tile.store %u, %y[%at, %c0] : tensor<64x64xf32>, !tile.buffer<[M, 64], f32>
}

// A loop that may run past the end has versions of its own in the interior version of the program alone.
// CHECK-LABEL: plan of @loop
// CHECK:   interior version
// CHECK:     tile.for
// CHECK:       tested along 1: {{.*}} tile.load
// CHECK:       interior version
// CHECK:       boundary version
// CHECK:   boundary version
// CHECK:     tile.for
// CHECK-NOT: version
tile.kernel @loop(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M], f32>)
    symbols [M, N] grid [M ceildiv 4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %p, %c4 : index
  %n = tile.size N
  %zero = arith.constant 0.0 : f32
  %start = tile.full %zero : f32 -> tensor<4xf32>
  %sum = tile.for %i = %c0 to %n step %c64 carry (%before = %start : tensor<4xf32>) {
    %t = tile.load %x[%m, %i] : !tile.buffer<[M, N], f32> -> tensor<4x64xf32>
    %part = tile.reduce sum %t axis 1 : tensor<4x64xf32> -> tensor<4xf32>
    %next = arith.addf %before, %part : tensor<4xf32>
    tile.yield %next : tensor<4xf32>
  }
  tile.store %sum, %y[%m] : tensor<4xf32>, !tile.buffer<[M], f32>
}

// Programs of a grid of constant size: a row that begins outside in every program is not tested.
// CHECK-LABEL: plan of @padded
// CHECK-NOT:  tested
// CHECK-NOT:  version
// CHECK: vectors of 16 along dimension 1, loops end at 16, 1008
tile.kernel @padded(in %x: !tile.buffer<[8, 1022], f32>, out %y: !tile.buffer<[8, 1024], f32>) grid [8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %before = arith.constant -1 : index
  %t = tile.load %x[%p, %before] : !tile.buffer<[8, 1022], f32> -> tensor<1x1024xf32>
  tile.store %t, %y[%p, %c0] : tensor<1x1024xf32>, !tile.buffer<[8, 1024], f32>
}

// Rows of pixels are padded, but not the channels along which vectors lie: their loop is not cut.
// CHECK-LABEL: plan of @padded_pixels
// CHECK-NOT:  loops end at
// CHECK: {{^ *}}tile.store
// CHECK-NEXT: vectors of 16 along dimension 2{{$}}
tile.kernel @padded_pixels(in %x: !tile.buffer<[8, 30, 128], f32>, out %y: !tile.buffer<[8, 32, 128], f32>) grid [8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %before = arith.constant -1 : index
  %t = tile.load %x[%p, %before, %c0] : !tile.buffer<[8, 30, 128], f32> -> tensor<1x32x128xf32>
  tile.store %t, %y[%p, %c0, %c0] : tensor<1x32x128xf32>, !tile.buffer<[8, 32, 128], f32>
}

// Of many products in a loop's loops there is no second version for what is stored behind them: rows of the result are
// tested, and the inner loops have their own versions.
// CHECK-LABEL: plan of @many_products
// CHECK-NOT:  tested along 0: tile.store
// CHECK-NOT:  version
// CHECK:      tile.for
// CHECK:        tile.for
// CHECK:          tested along 0: {{.*}} tile.load %x
// CHECK:          interior version
// CHECK:          boundary version
// CHECK:        tile.for
tile.kernel @many_products(in %x: !tile.buffer<[M, 64], f32>, in %w: !tile.buffer<[4, 64, 16], f32>,
                           out %y: !tile.buffer<[M, 16], f32>) symbols [M] grid [M ceildiv 8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %p, %c8 : index
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : f32 -> tensor<8x16xf32>
  %s = tile.for %i = %c0 to %c4 step %c1 carry (%before = %none : tensor<8x16xf32>) {
    %p0 = tile.for %k0 = %c0 to %c64 step %c16 carry (%b0 = %none : tensor<8x16xf32>) {
      %t0 = tile.load %x[%m, %k0] : !tile.buffer<[M, 64], f32> -> tensor<8x16xf32>
      %w0 = tile.load %w[%i, %k0, %c0] : !tile.buffer<[4, 64, 16], f32> -> tensor<1x16x16xf32>
      %v0 = tile.reshape %w0 : tensor<1x16x16xf32> -> tensor<16x16xf32>
      %d0 = tile.dot %t0, %v0, %b0 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
      tile.yield %d0 : tensor<8x16xf32>
    }
    %p1 = tile.for %k1 = %c0 to %c64 step %c16 carry (%b1 = %none : tensor<8x16xf32>) {
      %t1 = tile.load %x[%m, %k1] : !tile.buffer<[M, 64], f32> -> tensor<8x16xf32>
      %w1 = tile.load %w[%i, %k1, %c0] : !tile.buffer<[4, 64, 16], f32> -> tensor<1x16x16xf32>
      %v1 = tile.reshape %w1 : tensor<1x16x16xf32> -> tensor<16x16xf32>
      %d1 = tile.dot %t1, %v1, %b1 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
      tile.yield %d1 : tensor<8x16xf32>
    }
    %p2 = tile.for %k2 = %c0 to %c64 step %c16 carry (%b2 = %none : tensor<8x16xf32>) {
      %t2 = tile.load %x[%m, %k2] : !tile.buffer<[M, 64], f32> -> tensor<8x16xf32>
      %w2 = tile.load %w[%i, %k2, %c0] : !tile.buffer<[4, 64, 16], f32> -> tensor<1x16x16xf32>
      %v2 = tile.reshape %w2 : tensor<1x16x16xf32> -> tensor<16x16xf32>
      %d2 = tile.dot %t2, %v2, %b2 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
      tile.yield %d2 : tensor<8x16xf32>
    }
    %p3 = tile.for %k3 = %c0 to %c64 step %c16 carry (%b3 = %none : tensor<8x16xf32>) {
      %t3 = tile.load %x[%m, %k3] : !tile.buffer<[M, 64], f32> -> tensor<8x16xf32>
      %w3 = tile.load %w[%i, %k3, %c0] : !tile.buffer<[4, 64, 16], f32> -> tensor<1x16x16xf32>
      %v3 = tile.reshape %w3 : tensor<1x16x16xf32> -> tensor<16x16xf32>
      %d3 = tile.dot %t3, %v3, %b3 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
      tile.yield %d3 : tensor<8x16xf32>
    }
    %ab = arith.addf %p0, %p1 : tensor<8x16xf32>
    %cd = arith.mulf %p2, %p3 : tensor<8x16xf32>
    %all = arith.addf %ab, %cd : tensor<8x16xf32>
    %next = arith.addf %before, %all : tensor<8x16xf32>
    tile.yield %next : tensor<8x16xf32>
  }
  tile.store %s, %y[%m, %c0] : tensor<8x16xf32>, !tile.buffer<[M, 16], f32>
}
