// RUN: tilewright-opt %s -tile-allow-tf32 | FileCheck %s

// Products of f32 say that their operands may be rounded, others stay.
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} tf32 : tensor<8x4xf32>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x4xf16>
tile.kernel @products(in %a: !tile.buffer<[8, 4], f32>, in %b: !tile.buffer<[4, 8], f32>,
    in %x: !tile.buffer<[8, 4], f16>, in %y: !tile.buffer<[4, 8], f16>,
    out %c: !tile.buffer<[8, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : f32 -> tensor<8x8xf32>
  %0 = tile.load %a[%c0, %c0] : !tile.buffer<[8, 4], f32> -> tensor<8x4xf32>
  %1 = tile.load %b[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  %2 = tile.dot %0, %1, %none : tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>
  %3 = tile.load %x[%c0, %c0] : !tile.buffer<[8, 4], f16> -> tensor<8x4xf16>
  %4 = tile.load %y[%c0, %c0] : !tile.buffer<[4, 8], f16> -> tensor<4x8xf16>
  %5 = tile.dot %3, %4, %2 : tensor<8x4xf16>, tensor<4x8xf16>, tensor<8x8xf32>
  tile.store %5, %c[%c0, %c0] : tensor<8x8xf32>, !tile.buffer<[8, 8], f32>
}
