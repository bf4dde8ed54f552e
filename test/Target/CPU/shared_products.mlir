// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that do the same are one function: those of a loop's interior and boundary versions, whose rows are doubled
// into scratch memory before, and that of a kernel without such versions.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 loops})' | FileCheck %s

// CHECK-LABEL: llvm.func internal @doubled_loops(
// CHECK: scf.if
// CHECK: llvm.call @[[DOUBLED:tw.operand.[0-9a-f]+]](
// CHECK-NOT: arith.addf
// CHECK: llvm.call @[[PRODUCT:tw.product.[0-9a-f]+]](
// CHECK: } else {
// CHECK: llvm.call @[[DOUBLED_WITHIN:tw.operand.[0-9a-f]+]](
// CHECK: llvm.call @[[PRODUCT]](
// CHECK-NOT: math.fma

// What fills scratch memory is a function, too; there are two, of which one knows that all rows are inside. Buffers
// are apart from scratch memory there.
// CHECK: llvm.func weak_odr hidden @[[DOUBLED]]({{.*}}: !llvm.ptr {llvm.noalias}, {{.*}} passthrough = ["no-builtin-memcpy"
// CHECK: arith.addf

// CHECK: llvm.func weak_odr hidden @[[PRODUCT]]({{.*}}) attributes {no_inline
// CHECK: scf.for
// CHECK: math.fma
// CHECK: llvm.return

// CHECK-LABEL: llvm.func internal @halved_loops(
// CHECK-NOT: math.fma
// CHECK: llvm.call @[[PRODUCT]](
// CHECK-NOT: math.fma
// CHECK: llvm.func @halved(
// CHECK-NOT: llvm.func {{.*}}@tw.product
tile.kernel @doubled(in %x: !tile.buffer<[M, 512], f32>, in %w: !tile.buffer<[512, 64], f32>,
                     out %y: !tile.buffer<[M, 64], f32>) symbols [M] grid [M ceildiv 64] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %m = arith.muli %p, %c64 : index
  %start = tile.full %zero : f32 -> tensor<64x64xf32>
  %sum = tile.for %k = %c0 to %c512 step %c128 carry (%before = %start : tensor<64x64xf32>) {
    %a = tile.load %x[%m, %k] pad %zero : f32 : !tile.buffer<[M, 512], f32> -> tensor<64x128xf32>
    %b = tile.load %w[%k, %c0] : !tile.buffer<[512, 64], f32> -> tensor<128x64xf32>
    %twice = arith.addf %a, %a : tensor<64x128xf32>
    %next = tile.dot %twice, %b, %before : tensor<64x128xf32>, tensor<128x64xf32>, tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %y[%m, %c0] drop : tensor<64x64xf32>, !tile.buffer<[M, 64], f32>
}
tile.kernel @halved(in %x: !tile.buffer<[256, 512], f32>, in %w: !tile.buffer<[512, 64], f32>,
                    out %y: !tile.buffer<[256, 64], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %m = arith.muli %p, %c64 : index
  %start = tile.full %zero : f32 -> tensor<64x64xf32>
  %halves = tile.full %half : f32 -> tensor<64x128xf32>
  %sum = tile.for %k = %c0 to %c512 step %c128 carry (%before = %start : tensor<64x64xf32>) {
    %a = tile.load %x[%m, %k] : !tile.buffer<[256, 512], f32> -> tensor<64x128xf32>
    %b = tile.load %w[%k, %c0] : !tile.buffer<[512, 64], f32> -> tensor<128x64xf32>
    %half_of_a = arith.mulf %a, %halves : tensor<64x128xf32>
    %next = tile.dot %half_of_a, %b, %before : tensor<64x128xf32>, tensor<128x64xf32>, tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %sum, %y[%m, %c0] : tensor<64x64xf32>, !tile.buffer<[256, 64], f32>
}
