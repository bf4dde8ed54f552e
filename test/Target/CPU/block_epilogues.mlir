// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is stored of sums in tile registers is stored block by block, beside the products of the next block, in the last trip
// of the loop over K; where it cannot be, the plan says why.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=amx plan})' | FileCheck %s --check-prefix=PLAN
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=amx})' | FileCheck %s --check-prefix=CODE
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4+avx512bf16 plan})' | FileCheck %s --check-prefix=VECTORS
// RUN: tilewright kernel check %s --kernel=with_bias --input=64x1024xbf16=random:1 --input=4x512x32x2xbf16=random:2 --input=128xf32=random:3

// VECTORS-NOT: stores each block

// PLAN-LABEL: plan of @with_bias
// PLAN:         tile.dot
// PLAN:           the accumulator is updated in its memory
// PLAN-NEXT:      the first trip begins with zero
// PLAN:           stores each block in the last trip, beside the steps of the next one
// PLAN-NEXT:        tile.store
// PLAN-NEXT:          vectors of 16 along dimension 1
// PLAN-NOT:     tile.store

// The first trip begins with zero. 32 rows beside 16 steps are two in each, of two vectors; those of the last block come
// behind all products, in a loop.
// CODE-LABEL: llvm.func internal @with_bias_loops
// CODE-COUNT-4: "llvm.x86.tilezero"
// CODE-COUNT-4: "llvm.x86.tdpbf16ps"
// CODE:         llvm.cond_br
// CODE-COUNT-4: "llvm.x86.avx512bf16.cvtneps2bf16.512"
// CODE-NOT:     cvtneps2bf16
// CODE-COUNT-4: "llvm.x86.tilestored64"
// CODE-NOT:     tdpbf16ps
// CODE-COUNT-2: "llvm.x86.avx512bf16.cvtneps2bf16.512"
// CODE-NOT:     cvtneps2bf16
// CODE:         "llvm.x86.tilerelease"
tile.kernel @with_bias(in %x: !tile.buffer<[64, 1024], bf16>, in %w: !tile.buffer<[4, 512, 32, 2], bf16>,
                       in %bias: !tile.buffer<[128], f32>, out %y: !tile.buffer<[64, 128], bf16>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<64x32xf32>
  %r = tile.for %k = %c0 to %c2 step %c1 carry (%sum = %s : tensor<64x32xf32>) {
    %c = arith.muli %k, %c512 : index
    %q = arith.muli %k, %c256 : index
    %a = tile.load %x[%c0, %c] : !tile.buffer<[64, 1024], bf16> -> tensor<64x512xbf16>
    %b0 = tile.load %w[%p, %q, %c0, %c0] : !tile.buffer<[4, 512, 32, 2], bf16> -> tensor<1x256x32x2xbf16>
    %b1 = tile.reshape %b0 : tensor<1x256x32x2xbf16> -> tensor<256x32x2xbf16>
    %b2 = tile.transpose %b1 [0, 2, 1] : tensor<256x32x2xbf16> -> tensor<256x2x32xbf16>
    %b = tile.reshape %b2 : tensor<256x2x32xbf16> -> tensor<512x32xbf16>
    %d = tile.dot %a, %b, %sum : tensor<64x512xbf16>, tensor<512x32xbf16>, tensor<64x32xf32>
    tile.yield %d : tensor<64x32xf32>
  }
  %o = arith.muli %p, %c32 : index
  %e0 = tile.load %bias[%o] : !tile.buffer<[128], f32> -> tensor<32xf32>
  %e1 = tile.reshape %e0 : tensor<32xf32> -> tensor<1x32xf32>
  %e = tile.broadcast %e1 : tensor<1x32xf32> -> tensor<64x32xf32>
  %t = arith.addf %r, %e : tensor<64x32xf32>
  %n = arith.truncf %t : tensor<64x32xf32> to tensor<64x32xbf16>
  tile.store %n, %y[%c0, %o] : tensor<64x32xbf16>, !tile.buffer<[64, 128], bf16>
}

// Without a loop there is one trip.
// PLAN-LABEL: plan of @whole
// PLAN:           stores each block, beside the steps of the next one
tile.kernel @whole(in %x: !tile.buffer<[64, 64], bf16>, in %w: !tile.buffer<[32, 32, 2], bf16>,
                   out %y: !tile.buffer<[64, 32], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<64x32xf32>
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[64, 64], bf16> -> tensor<64x64xbf16>
  %b0 = tile.load %w[%c0, %c0, %c0] : !tile.buffer<[32, 32, 2], bf16> -> tensor<32x32x2xbf16>
  %b1 = tile.transpose %b0 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
  %b = tile.reshape %b1 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %s : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
  tile.store %d, %y[%c0, %c0] : tensor<64x32xf32>, !tile.buffer<[64, 32], f32>
}

// PLAN-LABEL: plan of @one_block
// PLAN:           blocks are not stored one by one: all rows are one
tile.kernel @one_block(in %x: !tile.buffer<[32, 64], bf16>, in %w: !tile.buffer<[32, 32, 2], bf16>,
                       out %y: !tile.buffer<[32, 32], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<32x32xf32>
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[32, 64], bf16> -> tensor<32x64xbf16>
  %b0 = tile.load %w[%c0, %c0, %c0] : !tile.buffer<[32, 32, 2], bf16> -> tensor<32x32x2xbf16>
  %b1 = tile.transpose %b0 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
  %b = tile.reshape %b1 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %s : tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32x32xf32>
  tile.store %d, %y[%c0, %c0] : tensor<32x32xf32>, !tile.buffer<[32, 32], f32>
}

// PLAN-LABEL: plan of @transposed
// PLAN:           blocks are not stored one by one: an element that is stored needs another one's sum
tile.kernel @transposed(in %x: !tile.buffer<[64, 64], bf16>, in %w: !tile.buffer<[32, 64, 2], bf16>,
                        out %y: !tile.buffer<[64, 64], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<64x64xf32>
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[64, 64], bf16> -> tensor<64x64xbf16>
  %b0 = tile.load %w[%c0, %c0, %c0] : !tile.buffer<[32, 64, 2], bf16> -> tensor<32x64x2xbf16>
  %b1 = tile.transpose %b0 [0, 2, 1] : tensor<32x64x2xbf16> -> tensor<32x2x64xbf16>
  %b = tile.reshape %b1 : tensor<32x2x64xbf16> -> tensor<64x64xbf16>
  %d = tile.dot %a, %b, %s : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %t = tile.transpose %d [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %t, %y[%c0, %c0] : tensor<64x64xf32>, !tile.buffer<[64, 64], f32>
}

// PLAN-LABEL: plan of @both_sums
// PLAN:           blocks are not stored one by one: what is stored needs more than these sums
tile.kernel @both_sums(in %x: !tile.buffer<[64, 128], bf16>, in %w: !tile.buffer<[64, 32, 2], bf16>,
                       in %v: !tile.buffer<[64, 32, 2], bf16>, out %y: !tile.buffer<[64, 32], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<64x32xf32>
  %r:2 = tile.for %k = %c0 to %c2 step %c1 carry (%one = %s : tensor<64x32xf32>, %two = %s : tensor<64x32xf32>) {
    %c = arith.muli %k, %c64 : index
    %q = arith.muli %k, %c32 : index
    %a = tile.load %x[%c0, %c] : !tile.buffer<[64, 128], bf16> -> tensor<64x64xbf16>
    %b0 = tile.load %w[%q, %c0, %c0] : !tile.buffer<[64, 32, 2], bf16> -> tensor<32x32x2xbf16>
    %b1 = tile.transpose %b0 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
    %b = tile.reshape %b1 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
    %d = tile.dot %a, %b, %one : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    %e0 = tile.load %v[%q, %c0, %c0] : !tile.buffer<[64, 32, 2], bf16> -> tensor<32x32x2xbf16>
    %e1 = tile.transpose %e0 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
    %e = tile.reshape %e1 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
    %f = tile.dot %a, %e, %two : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    tile.yield %d, %f : tensor<64x32xf32>, tensor<64x32xf32>
  }
  %t = arith.mulf %r#0, %r#1 : tensor<64x32xf32>
  tile.store %t, %y[%c0, %c0] : tensor<64x32xf32>, !tile.buffer<[64, 32], f32>
}

// The loop reads what the store would have changed.
// PLAN-LABEL: plan of @in_place
// PLAN:           blocks are not stored one by one: the loop accesses what is stored to
tile.kernel @in_place(inout %x: !tile.buffer<[64, 128], bf16>, in %w: !tile.buffer<[64, 128, 2], bf16>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<64x128xf32>
  %r = tile.for %k = %c0 to %c2 step %c1 carry (%one = %s : tensor<64x128xf32>) {
    %c = arith.muli %k, %c64 : index
    %q = arith.muli %k, %c32 : index
    %a = tile.load %x[%c0, %c] : !tile.buffer<[64, 128], bf16> -> tensor<64x64xbf16>
    %b0 = tile.load %w[%q, %c0, %c0] : !tile.buffer<[64, 128, 2], bf16> -> tensor<32x128x2xbf16>
    %b1 = tile.transpose %b0 [0, 2, 1] : tensor<32x128x2xbf16> -> tensor<32x2x128xbf16>
    %b = tile.reshape %b1 : tensor<32x2x128xbf16> -> tensor<64x128xbf16>
    %d = tile.dot %a, %b, %one : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
    tile.yield %d : tensor<64x128xf32>
  }
  %t = arith.truncf %r : tensor<64x128xf32> to tensor<64x128xbf16>
  tile.store %t, %x[%c0, %c0] : tensor<64x128xbf16>, !tile.buffer<[64, 128], bf16>
}
