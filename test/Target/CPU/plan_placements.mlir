// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tiles exist as a whole. A softmax keeps its exponentials where the quotients will be stored, and
// the pass that makes them reads the row for the last time, so that it prefetches the next one.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 plan})' | FileCheck %s

// CHECK-LABEL: plan of @softmax
// CHECK:      tile.reduce max
// CHECK-NEXT:   vectors of 16 along dimension 1
// CHECK-NEXT:   the result is in a register
// CHECK:      tile.reduce sum
// CHECK-NEXT:   vectors of 16 along dimension 1
// CHECK-NEXT:   the operand is kept in %y
// CHECK-NEXT:   the result is in a register
// CHECK-NEXT:   prefetches what the next program reads as %1
tile.kernel @softmax(in %x: !tile.buffer<[64, 1000], f32>, out %y: !tile.buffer<[64, 1000], f32>) grid [64] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[64, 1000], f32> -> tensor<1x1000xf32>
  %most = tile.reduce max %t axis 1 : tensor<1x1000xf32> -> tensor<1xf32>
  %m1 = tile.reshape %most : tensor<1xf32> -> tensor<1x1xf32>
  %m = tile.broadcast %m1 : tensor<1x1xf32> -> tensor<1x1000xf32>
  %d = arith.subf %t, %m : tensor<1x1000xf32>
  %e = math.exp %d : tensor<1x1000xf32>
  %sum = tile.reduce sum %e axis 1 : tensor<1x1000xf32> -> tensor<1xf32>
  %s1 = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %s = tile.broadcast %s1 : tensor<1x1xf32> -> tensor<1x1000xf32>
  %q = arith.divf %e, %s : tensor<1x1000xf32>
  tile.store %q, %y[%p, %c0] : tensor<1x1000xf32>, !tile.buffer<[64, 1000], f32>
}

// CHECK-LABEL: plan of @centred
// CHECK:      tile.reduce sum
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   vectors of 16 along dimension 1
// CHECK-NEXT:   prefetches what the next program reads as %1
tile.kernel @centred(in %x: !tile.buffer<[64, 1000], f32>, out %y: !tile.buffer<[64, 1000], f32>) grid [64] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[64, 1000], f32> -> tensor<1x1000xf32>
  %sum = tile.reduce sum %t axis 1 : tensor<1x1000xf32> -> tensor<1xf32>
  %s1 = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %s = tile.broadcast %s1 : tensor<1x1xf32> -> tensor<1x1000xf32>
  %d = arith.subf %t, %s : tensor<1x1000xf32>
  tile.store %d, %y[%p, %c0] : tensor<1x1000xf32>, !tile.buffer<[64, 1000], f32>
}

// What lies along another dimension is transposed in registers first.
// CHECK-LABEL: plan of @transposed
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   %{{[0-9]+}} in scratch memory: vectors of 16 along dimension 0, blocks transposed to vectors of 16 along dimension 1
// CHECK-NEXT:   vectors of 16 along dimension 1
tile.kernel @transposed(in %x: !tile.buffer<[64, 64], f32>, out %y: !tile.buffer<[64, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[64, 64], f32> -> tensor<64x64xf32>
  %u = tile.transpose %t [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %u, %y[%c0, %c0] : tensor<64x64xf32>, !tile.buffer<[64, 64], f32>
}

// Nine taps of a filter are a part of a block: its columns are read and become rows at once, too.
// CHECK-LABEL: plan of @taps
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   %{{[0-9]+}} in scratch memory: vectors of 16 along dimension 0, blocks transposed to vectors of 16 along dimension 2, and a part of a block, of 9
// CHECK-NEXT:   vectors of 16 along dimension 2
tile.kernel @taps(in %x: !tile.buffer<[64, 16, 9], f32>, out %y: !tile.buffer<[9, 16, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0, %c0] : !tile.buffer<[64, 16, 9], f32> -> tensor<64x16x9xf32>
  %u = tile.transpose %t [2, 1, 0] : tensor<64x16x9xf32> -> tensor<9x16x64xf32>
  tile.store %u, %y[%c0, %c0, %c0] : tensor<9x16x64xf32>, !tile.buffer<[9, 16, 64], f32>
}

// So are rows that are left over: parts of vectors are written.
// CHECK-LABEL: plan of @few_rows
// CHECK:      {{^ +}}tile.store
// CHECK-NEXT:   %{{[0-9]+}} in scratch memory: vectors of 16 along dimension 0, blocks transposed to vectors of 16 along dimension 1, and vectors of 11
// CHECK-NEXT:   vectors of 16 along dimension 1
tile.kernel @few_rows(in %x: !tile.buffer<[27, 64], f32>, out %y: !tile.buffer<[64, 27], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[27, 64], f32> -> tensor<27x64xf32>
  %u = tile.transpose %t [1, 0] : tensor<27x64xf32> -> tensor<64x27xf32>
  tile.store %u, %y[%c0, %c0] : tensor<64x27xf32>, !tile.buffer<[64, 27], f32>
}

// Of a tile that is transposed, and sliced several times, the whole is placed once, also where a slice is reshaped.
// CHECK-LABEL: plan of @slices
// CHECK:      {{^ +}}tile.store
// CHECK:        %[[ALL:.*]] in scratch memory: vectors of 16 along dimension 0, blocks transposed to vectors of 16 along dimension 1
// CHECK-NOT:    in scratch memory
tile.kernel @slices(in %x: !tile.buffer<[64, 48], f32>, out %y: !tile.buffer<[3, 16, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[64, 48], f32> -> tensor<64x48xf32>
  %all = tile.transpose %t [1, 0] : tensor<64x48xf32> -> tensor<48x64xf32>
  %first = tile.slice %all offsets [0, 0] strides [3, 1] : tensor<48x64xf32> -> tensor<16x64xf32>
  %a = tile.reshape %first : tensor<16x64xf32> -> tensor<1x16x64xf32>
  tile.store %a, %y[%c0, %c0, %c0] : tensor<1x16x64xf32>, !tile.buffer<[3, 16, 64], f32>
  %second = tile.slice %all offsets [1, 0] strides [3, 1] : tensor<48x64xf32> -> tensor<16x64xf32>
  %b = tile.reshape %second : tensor<16x64xf32> -> tensor<1x16x64xf32>
  tile.store %b, %y[%c1, %c0, %c0] : tensor<1x16x64xf32>, !tile.buffer<[3, 16, 64], f32>
}

// Sums of columns: neighbouring vectors in one loop, and rows of fewer side by side; positions of maxima one by one.
// CHECK-LABEL: plan of @columns
// CHECK:      tile.reduce sum
// CHECK-NEXT:   vectors of 16 along dimension 1
// CHECK-NEXT:   4 vectors of results together, 2 steps side by side
// CHECK:      tile.reduce argmax
// CHECK-NEXT:   vectors of 16 along dimension 1
// CHECK-NEXT:   4 vectors of results together, 1 steps side by side
tile.kernel @columns(in %x: !tile.buffer<[512, 60], f32>, out %y: !tile.buffer<[60], f32>,
                     out %z: !tile.buffer<[60], i64>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[512, 60], f32> -> tensor<512x60xf32>
  %sum = tile.reduce sum %t axis 0 : tensor<512x60xf32> -> tensor<60xf32>
  tile.store %sum, %y[%c0] : tensor<60xf32>, !tile.buffer<[60], f32>
  %at = tile.reduce argmax %t axis 0 : tensor<512x60xf32> -> tensor<60xi64>
  tile.store %at, %z[%c0] : tensor<60xi64>, !tile.buffer<[60], i64>
}
