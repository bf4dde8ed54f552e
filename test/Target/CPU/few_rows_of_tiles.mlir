// What lies behind the rows of a buffer that tile registers hold as many of (plan_products.mlir) is as in any other
// product: rows of zeros add nothing to what the sums begin with, and rows of another padding are copied.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=amx plan})' | FileCheck %s
// RUN: tilewright kernel check %s --kernel=sums --input=5x64xbf16=random:1 --input=4x32x32x2xbf16=random:2
// RUN: tilewright kernel check %s --kernel=padded --input=5x64xbf16=random:1 --input=4x32x32x2xbf16=random:2

// CHECK-LABEL: plan of @sums
// CHECK:         tile registers have M rows
// CHECK-NEXT:    the accumulator in scratch memory
// CHECK-LABEL: plan of @padded
// CHECK-NOT:     tile registers have
tile.kernel @sums(in %x: !tile.buffer<[M, 64], bf16>, in %w: !tile.buffer<[4, 32, 32, 2], bf16>,
                  out %y: !tile.buffer<[1, 128], f32>) symbols [M {min = 1, max = 16}] grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<16x32xf32>
  %o = arith.muli %p, %c32 : index
  %a = tile.load %x[%c0, %c0] : !tile.buffer<[M, 64], bf16> -> tensor<16x64xbf16>
  %b0 = tile.load %w[%p, %c0, %c0, %c0] : !tile.buffer<[4, 32, 32, 2], bf16> -> tensor<1x32x32x2xbf16>
  %b1 = tile.reshape %b0 : tensor<1x32x32x2xbf16> -> tensor<32x32x2xbf16>
  %b2 = tile.transpose %b1 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
  %b = tile.reshape %b2 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %s : tensor<16x64xbf16>, tensor<64x32xbf16>, tensor<16x32xf32>
  %r = tile.reduce sum %d axis 0 : tensor<16x32xf32> -> tensor<32xf32>
  %t = tile.reshape %r : tensor<32xf32> -> tensor<1x32xf32>
  tile.store %t, %y[%c0, %o] : tensor<1x32xf32>, !tile.buffer<[1, 128], f32>
}
tile.kernel @padded(in %x: !tile.buffer<[M, 64], bf16>, in %w: !tile.buffer<[4, 32, 32, 2], bf16>,
                  out %y: !tile.buffer<[1, 128], f32>) symbols [M {min = 1, max = 16}] grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %s = tile.full %zero : f32 -> tensor<16x32xf32>
  %o = arith.muli %p, %c32 : index
  %one = arith.constant 1.0 : bf16
  %a = tile.load %x[%c0, %c0] pad %one : bf16 : !tile.buffer<[M, 64], bf16> -> tensor<16x64xbf16>
  %b0 = tile.load %w[%p, %c0, %c0, %c0] : !tile.buffer<[4, 32, 32, 2], bf16> -> tensor<1x32x32x2xbf16>
  %b1 = tile.reshape %b0 : tensor<1x32x32x2xbf16> -> tensor<32x32x2xbf16>
  %b2 = tile.transpose %b1 [0, 2, 1] : tensor<32x32x2xbf16> -> tensor<32x2x32xbf16>
  %b = tile.reshape %b2 : tensor<32x2x32xbf16> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %s : tensor<16x64xbf16>, tensor<64x32xbf16>, tensor<16x32xf32>
  %r = tile.reduce sum %d axis 0 : tensor<16x32xf32> -> tensor<32xf32>
  %t = tile.reshape %r : tensor<32xf32> -> tensor<1x32xf32>
  tile.store %t, %y[%c0, %o] : tensor<1x32xf32>, !tile.buffer<[1, 128], f32>
}
