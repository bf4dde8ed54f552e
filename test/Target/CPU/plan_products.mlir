// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form of a product follows from where its operands lie and from what the CPU has.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v3 plan})' | FileCheck %s --check-prefixes=ALL,V3
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 plan})' | FileCheck %s --check-prefixes=ALL,V4
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=amx plan})' | FileCheck %s --check-prefixes=ALL,AMX

// ALL-LABEL: plan of @block
// ALL:       tile.dot
// ALL-NEXT:    a is read in place
// ALL-NEXT:    b is read in place
// V3-NEXT:     outer products: vectors of 8 along dimension 1
// V3-NEXT:     the result is in scratch memory
// V4-NEXT:     outer products: vectors of 16 along dimension 1, unrolled
// V4-NEXT:     the result is in registers
// AMX-NEXT:    outer products: vectors of 16 along dimension 1, unrolled
tile.kernel @block(in %x: !tile.buffer<[6, 64], f32>, in %w: !tile.buffer<[64, 64], f32>,
                   out %y: !tile.buffer<[6, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[6, 64], f32> -> tensor<6x64xf32>
  %b = tile.load %w[%c0, %c0] : !tile.buffer<[64, 64], f32> -> tensor<64x64xf32>
  %s = tile.full %zero : f32 -> tensor<6x64xf32>
  %d = tile.dot %a, %b, %s : tensor<6x64xf32>, tensor<64x64xf32>, tensor<6x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<6x64xf32>, !tile.buffer<[6, 64], f32>
}

// ALL-LABEL: plan of @row
// ALL:       tile.dot
// ALL:         rows of a by columns of b
tile.kernel @row(in %x: !tile.buffer<[1, 64], f32>, in %w: !tile.buffer<[64, 64], f32>,
                 out %y: !tile.buffer<[1, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[1, 64], f32> -> tensor<1x64xf32>
  %b = tile.load %w[%c0, %c0] : !tile.buffer<[64, 64], f32> -> tensor<64x64xf32>
  %t = tile.transpose %b [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %s = tile.full %zero : f32 -> tensor<1x64xf32>
  %d = tile.dot %a, %t, %s : tensor<1x64xf32>, tensor<64x64xf32>, tensor<1x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<1x64xf32>, !tile.buffer<[1, 64], f32>
}

// ALL-LABEL: plan of @pairs
// V3:          outer products
// V4:          outer products
// AMX:         a is read in its buffer
// AMX-NEXT:    b is read in its buffer
// AMX-NEXT:    pairs of bf16 in tile registers
tile.kernel @pairs(in %x: !tile.buffer<[16, 64], bf16>, in %w: !tile.buffer<[32, 16, 2], bf16>,
                   out %y: !tile.buffer<[16, 16], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[16, 64], bf16> -> tensor<16x64xbf16>
  %q = tile.load %w[%c0, %c0, %c0] : !tile.buffer<[32, 16, 2], bf16> -> tensor<32x16x2xbf16>
  %t = tile.transpose %q [0, 2, 1] : tensor<32x16x2xbf16> -> tensor<32x2x16xbf16>
  %b = tile.reshape %t : tensor<32x2x16xbf16> -> tensor<64x16xbf16>
  %s = tile.full %zero : f32 -> tensor<16x16xf32>
  %d = tile.dot %a, %b, %s : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
  tile.store %d, %y[%c0, %c0] : tensor<16x16xf32>, !tile.buffer<[16, 16], f32>
}

// Registers cannot hold three blocks of 16 vectors until their sum is stored: each leaves them for
// scratch memory. That is gone through in loops, where LLVM does not put it in registers again.
// V4-LABEL: plan of @three
// V4-COUNT-3:   in scratch memory: vectors of 16 along dimension 1, unrolled
// V4:       tile.store
// V4-NEXT:    vectors of 16 along dimension 1{{$}}
tile.kernel @three(in %x: !tile.buffer<[8, 64], f32>, in %w: !tile.buffer<[3, 64, 32], f32>,
                   out %y: !tile.buffer<[8, 32], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[8, 64], f32> -> tensor<8x64xf32>
  %w0 = tile.load %w[%c0, %c0, %c0] : !tile.buffer<[3, 64, 32], f32> -> tensor<1x64x32xf32>
  %w1 = tile.load %w[%c1, %c0, %c0] : !tile.buffer<[3, 64, 32], f32> -> tensor<1x64x32xf32>
  %w2 = tile.load %w[%c2, %c0, %c0] : !tile.buffer<[3, 64, 32], f32> -> tensor<1x64x32xf32>
  %b0 = tile.reshape %w0 : tensor<1x64x32xf32> -> tensor<64x32xf32>
  %b1 = tile.reshape %w1 : tensor<1x64x32xf32> -> tensor<64x32xf32>
  %b2 = tile.reshape %w2 : tensor<1x64x32xf32> -> tensor<64x32xf32>
  %s = tile.full %zero : f32 -> tensor<8x32xf32>
  %d0 = tile.dot %a, %b0, %s : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  %d1 = tile.dot %a, %b1, %s : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  %d2 = tile.dot %a, %b2, %s : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  %m = arith.addf %d0, %d1 : tensor<8x32xf32>
  %r = arith.addf %m, %d2 : tensor<8x32xf32>
  tile.store %r, %y[%c0, %c0] : tensor<8x32xf32>, !tile.buffer<[8, 32], f32>
}

// Slices of what has to be transposed are parts of one tile, which is transposed as a whole.
// V4-LABEL: plan of @taps
// V4-COUNT-1: blocks transposed to vectors of 16
// V4-NOT:     blocks transposed
// V4:         tile.store
tile.kernel @taps(in %x: !tile.buffer<[16, 32], f32>, in %w: !tile.buffer<[32, 64], f32>,
                  out %y: !tile.buffer<[16, 32], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[16, 32], f32> -> tensor<16x32xf32>
  %w0 = tile.load %w[%c0, %c0] : !tile.buffer<[32, 64], f32> -> tensor<32x64xf32>
  %t = tile.transpose %w0 [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  %b0 = tile.slice %t offsets [0, 0] strides [2, 1] : tensor<64x32xf32> -> tensor<32x32xf32>
  %b1 = tile.slice %t offsets [1, 0] strides [2, 1] : tensor<64x32xf32> -> tensor<32x32xf32>
  %s = tile.full %zero : f32 -> tensor<16x32xf32>
  %d0 = tile.dot %a, %b0, %s : tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>
  %d1 = tile.dot %a, %b1, %d0 : tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>
  tile.store %d1, %y[%c0, %c0] : tensor<16x32xf32>, !tile.buffer<[16, 32], f32>
}

// Beside the products of a block in memory, lines of b that the next trip transposes are prefetched, and
// after the last one those of the next program.
// V4-LABEL: plan of @next
// V4:         outer products
// V4:         prefetches what comes next as %{{.*}}, part 0 of 1
tile.kernel @next(in %x: !tile.buffer<[48, 512], f32>, in %w: !tile.buffer<[256, 512], f32>,
                  out %y: !tile.buffer<[48, 256], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<48x64xf32>
  %o = arith.muli %p, %c64 : index
  %r = tile.for %k = %c0 to %c2 step %c1 carry (%sum = %s : tensor<48x64xf32>) {
    %c = arith.muli %k, %c256 : index
    %a = tile.load %x[%c0, %c] : !tile.buffer<[48, 512], f32> -> tensor<48x256xf32>
    %b = tile.load %w[%o, %c] : !tile.buffer<[256, 512], f32> -> tensor<64x256xf32>
    %t = tile.transpose %b [1, 0] : tensor<64x256xf32> -> tensor<256x64xf32>
    %d = tile.dot %a, %t, %sum : tensor<48x256xf32>, tensor<256x64xf32>, tensor<48x64xf32>
    tile.yield %d : tensor<48x64xf32>
  }
  tile.store %r, %y[%c0, %o] : tensor<48x64xf32>, !tile.buffer<[48, 256], f32>
}

// So are the smallest blocks of a packed panel: without that, 16 rows wait for each line of it.
// V4-LABEL: plan of @panels
// V4:         outer products
// V4:         prefetches what comes next as %{{.*}}, part 0 of 1
tile.kernel @panels(in %x: !tile.buffer<[16, 256], f32>, in %w: !tile.buffer<[16, 256, 48], f32>,
                  out %y: !tile.buffer<[16, 768], f32>) grid [16] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c48 = arith.constant 48 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<16x48xf32>
  %r = tile.for %k = %c0 to %c2 step %c1 carry (%sum = %s : tensor<16x48xf32>) {
    %c = arith.muli %k, %c128 : index
    %a = tile.load %x[%c0, %c] : !tile.buffer<[16, 256], f32> -> tensor<16x128xf32>
    %wb = tile.load %w[%p, %c, %c0] : !tile.buffer<[16, 256, 48], f32> -> tensor<1x128x48xf32>
    %b = tile.reshape %wb : tensor<1x128x48xf32> -> tensor<128x48xf32>
    %d = tile.dot %a, %b, %sum : tensor<16x128xf32>, tensor<128x48xf32>, tensor<16x48xf32>
    tile.yield %d : tensor<16x48xf32>
  }
  %o = arith.muli %p, %c48 : index
  tile.store %r, %y[%c0, %o] : tensor<16x48xf32>, !tile.buffer<[16, 768], f32>
}

// Of loops in loops, after the last trip of one the next trip of the one around it.
// V4-LABEL: plan of @windows
// V4:         outer products
// V4:         prefetches what comes next as %{{.*}}, part 0 of 1
tile.kernel @windows(in %x: !tile.buffer<[3, 48, 256], f32>, in %w: !tile.buffer<[4, 3, 256, 64], f32>,
                  out %y: !tile.buffer<[48, 256], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<48x64xf32>
  %r = tile.for %tap = %c0 to %c3 step %c1 carry (%outer = %s : tensor<48x64xf32>) {
    %q = tile.for %k = %c0 to %c2 step %c1 carry (%sum = %outer : tensor<48x64xf32>) {
      %c = arith.muli %k, %c128 : index
      %xa = tile.load %x[%tap, %c0, %c] : !tile.buffer<[3, 48, 256], f32> -> tensor<1x48x128xf32>
      %a = tile.reshape %xa : tensor<1x48x128xf32> -> tensor<48x128xf32>
      %wb = tile.load %w[%p, %tap, %c, %c0] : !tile.buffer<[4, 3, 256, 64], f32> -> tensor<1x1x128x64xf32>
      %b = tile.reshape %wb : tensor<1x1x128x64xf32> -> tensor<128x64xf32>
      %d = tile.dot %a, %b, %sum : tensor<48x128xf32>, tensor<128x64xf32>, tensor<48x64xf32>
      tile.yield %d : tensor<48x64xf32>
    }
    tile.yield %q : tensor<48x64xf32>
  }
  %o = arith.muli %p, %c64 : index
  tile.store %r, %y[%c0, %o] : tensor<48x64xf32>, !tile.buffer<[48, 256], f32>
}

// Pairs in tile registers go through a strip of b that stays in the first cache; beside its products
// the strip of the next trip is prefetched. Nothing fills their sums with zeros before.
// AMX-LABEL: plan of @strips
// AMX-NOT:     is copied
// AMX:         tile registers
// AMX-NEXT:    the accumulator is updated in its memory
// AMX-NEXT:    the first trip begins with zero
// AMX:         prefetches what comes next as %{{.*}}, part 0 of 1
tile.kernel @strips(in %x: !tile.buffer<[32, 1024], bf16>, in %w: !tile.buffer<[4, 512, 32, 2], bf16>,
                  out %y: !tile.buffer<[32, 128], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<32x32xf32>
  %r = tile.for %k = %c0 to %c2 step %c1 carry (%sum = %s : tensor<32x32xf32>) {
    %c = arith.muli %k, %c512 : index
    %q = arith.muli %k, %c256 : index
    %a = tile.load %x[%c0, %c] : !tile.buffer<[32, 1024], bf16> -> tensor<32x512xbf16>
    %b0 = tile.load %w[%p, %q, %c0, %c0] : !tile.buffer<[4, 512, 32, 2], bf16> -> tensor<1x256x32x2xbf16>
    %b1 = tile.reshape %b0 : tensor<1x256x32x2xbf16> -> tensor<256x32x2xbf16>
    %b2 = tile.transpose %b1 [0, 2, 1] : tensor<256x32x2xbf16> -> tensor<256x2x32xbf16>
    %b = tile.reshape %b2 : tensor<256x2x32xbf16> -> tensor<512x32xbf16>
    %d = tile.dot %a, %b, %sum : tensor<32x512xbf16>, tensor<512x32xbf16>, tensor<32x32xf32>
    tile.yield %d : tensor<32x32xf32>
  }
  %o = arith.muli %p, %c32 : index
  tile.store %r, %y[%c0, %o] : tensor<32x32xf32>, !tile.buffer<[32, 128], f32>
}

// As many rows as a buffer has, if they are no more than tile registers hold: nothing is copied where they are fewer.
// AMX-LABEL: plan of @at_most_16
// AMX:         boundary version
// AMX:           a is read in its buffer
// AMX:           tile registers have M rows
tile.kernel @at_most_16(in %x: !tile.buffer<[M, 64], bf16>, in %w: !tile.buffer<[4, 32, 32, 2], bf16>,
                  out %y: !tile.buffer<[M, 128], f32>) symbols [M {max = 16}] grid [M ceildiv 16, 4] {
  %i = tile.program_id 0
  %p = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<16x32xf32>
  %m = arith.muli %i, %c16 : index
  %o = arith.muli %p, %c32 : index
  %a = tile.load %x[%m, %c0] : !tile.buffer<[M, 64], bf16> -> tensor<16x64xbf16>
  %b0 = tile.load %w[%p, %c0, %c0, %c0] : !tile.buffer<[4, 32, 32, 2], bf16> -> tensor<1x32x32x2xbf16>
  %b1 = tile.reshape %b0 : tensor<1x32x32x2xbf16> -> tensor<32x32x2xbf16>
  %b2 = tile.transpose %b1 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
  %b = tile.reshape %b2 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %s : tensor<16x64xbf16>, tensor<64x32xbf16>, tensor<16x32xf32>
  tile.store %d, %y[%m, %o] : tensor<16x32xf32>, !tile.buffer<[M, 128], f32>
}

// With more rows, the last program copies what there is.
// AMX-LABEL: plan of @at_most_32
// AMX-NOT:     tile registers have
// AMX:         boundary version
// AMX:           in scratch memory
tile.kernel @at_most_32(in %x: !tile.buffer<[M, 64], bf16>, in %w: !tile.buffer<[4, 32, 32, 2], bf16>,
                  out %y: !tile.buffer<[M, 128], f32>) symbols [M {max = 32}] grid [M ceildiv 16, 4] {
  %i = tile.program_id 0
  %p = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<16x32xf32>
  %m = arith.muli %i, %c16 : index
  %o = arith.muli %p, %c32 : index
  %a = tile.load %x[%m, %c0] : !tile.buffer<[M, 64], bf16> -> tensor<16x64xbf16>
  %b0 = tile.load %w[%p, %c0, %c0, %c0] : !tile.buffer<[4, 32, 32, 2], bf16> -> tensor<1x32x32x2xbf16>
  %b1 = tile.reshape %b0 : tensor<1x32x32x2xbf16> -> tensor<32x32x2xbf16>
  %b2 = tile.transpose %b1 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
  %b = tile.reshape %b2 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %s : tensor<16x64xbf16>, tensor<64x32xbf16>, tensor<16x32xf32>
  tile.store %d, %y[%m, %o] : tensor<16x32xf32>, !tile.buffer<[M, 128], f32>
}

// Of a few rows each program reads its panel once, as streams from memory.
// V4-LABEL: plan of @few
// V4-NOT:     prefetches
// V4:         tile.store
// AMX-LABEL: plan of @few
// AMX:         the result is in registers
// AMX:         prefetches %{{.*}} 2048 bytes ahead
// AMX:         4 parts of the steps along K side by side
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

// Few rows of pairs are as many rows of tile registers, whose loads wait for requests by the way: none are made.
// AMX-LABEL: plan of @few_pairs
// AMX:         pairs of bf16 in tile registers
// AMX-NOT:     prefetches
// AMX:         4 parts of the steps along K side by side
tile.kernel @few_pairs(in %x: !tile.buffer<[5, 1024], bf16>, in %w: !tile.buffer<[4, 512, 32, 2], bf16>,
                       out %y: !tile.buffer<[5, 128], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<5x32xf32>
  %o = arith.muli %p, %c32 : index
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[5, 1024], bf16> -> tensor<5x1024xbf16>
  %b0 = tile.load %w[%p, %c0, %c0, %c0] : !tile.buffer<[4, 512, 32, 2], bf16> -> tensor<1x512x32x2xbf16>
  %b1 = tile.reshape %b0 : tensor<1x512x32x2xbf16> -> tensor<512x32x2xbf16>
  %b2 = tile.transpose %b1 [0, 2, 1] : tensor<512x32x2xbf16> -> tensor<512x2x32xbf16>
  %b = tile.reshape %b2 : tensor<512x2x32xbf16> -> tensor<1024x32xbf16>
  %d = tile.dot %a, %b, %s : tensor<5x1024xbf16>, tensor<1024x32xbf16>, tensor<5x32xf32>
  tile.store %d, %y[%c0, %o] : tensor<5x32xf32>, !tile.buffer<[5, 128], f32>
}

// The programs of a block that follow each other share a panel: it is in a cache.
// AMX-LABEL: plan of @shared
// AMX:         the result is in registers
// AMX-NOT:     prefetches
// AMX:         tile.store
tile.kernel @shared(in %x: !tile.buffer<[64, 768], f32>, in %w: !tile.buffer<[12, 768, 64], f32>,
                    out %y: !tile.buffer<[64, 768], f32>) grid [16, 12]
    attributes {tile.block = array<i64: 16, 1>} {
  %m = tile.program_id 0
  %p = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<4x64xf32>
  %i = arith.muli %m, %c4 : index
  %o = arith.muli %p, %c64 : index
  %a = tile.load %x[%i, %c0] : !tile.buffer<[64, 768], f32> -> tensor<4x768xf32>
  %q = tile.load %w[%p, %c0, %c0] : !tile.buffer<[12, 768, 64], f32> -> tensor<1x768x64xf32>
  %b = tile.reshape %q : tensor<1x768x64xf32> -> tensor<768x64xf32>
  %d = tile.dot %a, %b, %s : tensor<4x768xf32>, tensor<768x64xf32>, tensor<4x64xf32>
  tile.store %d, %y[%i, %o] : tensor<4x64xf32>, !tile.buffer<[64, 768], f32>
}

// Sums of many trips, which registers could hold, are in memory: each trip has a sum of its own, so that no chain of
// additions is long. Those of two trips are none.
// V4-LABEL: plan of @long
// V4:         the accumulator is updated in its memory
// V4:         value 0 in registers
// V4:         the result is in registers
tile.kernel @long(in %x: !tile.buffer<[8, 3072], f32>, in %w: !tile.buffer<[3072, 48], f32>,
                  out %y: !tile.buffer<[8, 48], f32>, out %z: !tile.buffer<[8, 48], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c3072 = arith.constant 3072 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<8x48xf32>
  %r = tile.for %k = %c0 to %c3072 step %c128 carry (%sum = %s : tensor<8x48xf32>) {
    %a = tile.load %x[%c0, %k] : !tile.buffer<[8, 3072], f32> -> tensor<8x128xf32>
    %b = tile.load %w[%k, %c0] : !tile.buffer<[3072, 48], f32> -> tensor<128x48xf32>
    %d = tile.dot %a, %b, %sum : tensor<8x128xf32>, tensor<128x48xf32>, tensor<8x48xf32>
    tile.yield %d : tensor<8x48xf32>
  }
  tile.store %r, %y[%c0, %c0] : tensor<8x48xf32>, !tile.buffer<[8, 48], f32>
  %q = tile.for %k = %c0 to %c256 step %c128 carry (%sum = %s : tensor<8x48xf32>) {
    %a = tile.load %x[%c0, %k] : !tile.buffer<[8, 3072], f32> -> tensor<8x128xf32>
    %b = tile.load %w[%k, %c0] : !tile.buffer<[3072, 48], f32> -> tensor<128x48xf32>
    %d = tile.dot %a, %b, %sum : tensor<8x128xf32>, tensor<128x48xf32>, tensor<8x48xf32>
    tile.yield %d : tensor<8x48xf32>
  }
  tile.store %q, %z[%c0, %c0] : tensor<8x48xf32>, !tile.buffer<[8, 48], f32>
}

// Rows of a that lie along K are copied as they lie where what the second-level cache forgets comes
// slowly.
// ALL-LABEL: plan of @rows_along_depth
// ALL:       tile.dot
// V3-NEXT:     a is read in place
// V4-NEXT:     a is read in place
// AMX-NEXT:    a in scratch memory: vectors of 16 along dimension 1
// AMX-NEXT:    a is a transposed view
// ALL-NEXT:    b is read in place
tile.kernel @rows_along_depth(in %x: !tile.buffer<[64, 1024], f32>,
                              in %w: !tile.buffer<[64, 64], f32>,
                              out %y: !tile.buffer<[128, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x0 = tile.load %x[%c0, %c0] : !tile.buffer<[64, 1024], f32> -> tensor<64x128xf32>
  %a = tile.transpose %x0 [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
  %b = tile.load %w[%c0, %c0] : !tile.buffer<[64, 64], f32> -> tensor<64x64xf32>
  %s = tile.full %zero : f32 -> tensor<128x64xf32>
  %d = tile.dot %a, %b, %s : tensor<128x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<128x64xf32>, !tile.buffer<[128, 64], f32>
}

// So are rows of b that do not follow each other, in whole vectors by the rows of the result that need them first.
// ALL-LABEL: plan of @rows_apart
// ALL:       tile.dot
// ALL-NEXT:    a is read in place
// V3-NEXT:     b is read in place by the first rows, which copy it
// V4-NEXT:     b is read in place{{$}}
// AMX-NEXT:    b is read in place by the first rows, which copy it
// ALL:       tile.dot
// ALL-NEXT:    a is read in place
// V3-NEXT:     %{{.*}} in scratch memory: vectors of 8 along dimension 1
// V4-NEXT:     b is read in place{{$}}
// AMX-NEXT:    %{{.*}} in scratch memory: vectors of 16 along dimension 1
tile.kernel @rows_apart(in %x: !tile.buffer<[128, 64], f32>, in %w: !tile.buffer<[64, 1024], f32>,
                        in %v: !tile.buffer<[64, 400], f32>, out %y: !tile.buffer<[128, 64], f32>,
                        out %z: !tile.buffer<[128, 60], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[128, 64], f32> -> tensor<128x64xf32>
  %b = tile.load %w[%c0, %c0] : !tile.buffer<[64, 1024], f32> -> tensor<64x64xf32>
  %s = tile.full %zero : f32 -> tensor<128x64xf32>
  %d = tile.dot %a, %b, %s : tensor<128x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<128x64xf32>, !tile.buffer<[128, 64], f32>
  %b1 = tile.load %v[%c0, %c0] : !tile.buffer<[64, 400], f32> -> tensor<64x60xf32>
  %s1 = tile.full %zero : f32 -> tensor<128x60xf32>
  %d1 = tile.dot %a, %b1, %s1 : tensor<128x64xf32>, tensor<64x60xf32>, tensor<128x60xf32>
  tile.store %d1, %z[%c0, %c0] : tensor<128x60xf32>, !tile.buffer<[128, 60], f32>
}

// Steps along K that are several dimensions of a box: the boxes are copied as they lie, and are
// matrices then. Those of bf16 are converted meanwhile; turning them pair by pair would take longer.
// ALL-LABEL: plan of @boxes
// ALL:       tile.dot %2, %4
// ALL-NEXT:    %0 in scratch memory: vectors of {{.*}} along dimension 2
// ALL-NEXT:    %1 is its operand's memory, reshaped
// ALL-NEXT:    a is a transposed view
// ALL-NEXT:    %3 in scratch memory: vectors of {{.*}} along dimension 2
// ALL-NEXT:    %4 is its operand's memory, reshaped
// ALL-NEXT:    outer products
tile.kernel @boxes(in %x: !tile.buffer<[10, 10, 64], f32>, in %w: !tile.buffer<[8, 8, 64], f32>,
                   out %y: !tile.buffer<[64, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %p = tile.load %x[%c1, %c1, %c0] : !tile.buffer<[10, 10, 64], f32> -> tensor<8x8x64xf32>
  %q = tile.reshape %p : tensor<8x8x64xf32> -> tensor<64x64xf32>
  %a = tile.transpose %q [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %r = tile.load %w[%c0, %c0, %c0] : !tile.buffer<[8, 8, 64], f32> -> tensor<8x8x64xf32>
  %b = tile.reshape %r : tensor<8x8x64xf32> -> tensor<64x64xf32>
  %s = tile.full %zero : f32 -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %s : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x64xf32>, !tile.buffer<[64, 64], f32>
}

// ALL-LABEL: plan of @boxes_of_bf16
// ALL-NOT:   pairs of bf16
// ALL:       outer products
tile.kernel @boxes_of_bf16(in %x: !tile.buffer<[10, 10, 64], bf16>, in %w: !tile.buffer<[8, 8, 64], bf16>,
                           out %y: !tile.buffer<[64, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %p = tile.load %x[%c1, %c1, %c0] : !tile.buffer<[10, 10, 64], bf16> -> tensor<8x8x64xbf16>
  %q = tile.reshape %p : tensor<8x8x64xbf16> -> tensor<64x64xbf16>
  %a = tile.transpose %q [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  %r = tile.load %w[%c0, %c0, %c0] : !tile.buffer<[8, 8, 64], bf16> -> tensor<8x8x64xbf16>
  %b = tile.reshape %r : tensor<8x8x64xbf16> -> tensor<64x64xbf16>
  %s = tile.full %zero : f32 -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %s : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x64xf32>, !tile.buffer<[64, 64], f32>
}
