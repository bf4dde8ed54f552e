// A thread reads several terms of its sums before it multiplies any: along the sum by accesses of 128 bits, of which a
// reshape's places are computed once. ptxas may take the registers of one block of threads for them.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s --check-prefix=PTX

// CHECK:         scf.for {{.*}} to %c64_i64 step %c8_i64 iter_args
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT:     -> vector
// CHECK:         llvm.load {{.*}} -> f32
// CHECK:         math.fma
// PTX:           .minnctapersm 1
// PTX:           ld.global.nc.v4.b32
tile.kernel @product(in %a: !tile.buffer<[4, 8, 64], f32>, in %b: !tile.buffer<[64, 32], f32>,
    out %c: !tile.buffer<[4, 8, 32], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : f32 -> tensor<8x32xf32>
  %box = tile.load %a[%p, %c0, %c0] : !tile.buffer<[4, 8, 64], f32> -> tensor<1x8x64xf32>
  %x = tile.reshape %box : tensor<1x8x64xf32> -> tensor<8x64xf32>
  %y = tile.load %b[%c0, %c0] : !tile.buffer<[64, 32], f32> -> tensor<64x32xf32>
  %sum = tile.dot %x, %y, %none : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  %out = tile.reshape %sum : tensor<8x32xf32> -> tensor<1x8x32xf32>
  tile.store %out, %c[%p, %c0, %c0] : tensor<1x8x32xf32>, !tile.buffer<[4, 8, 32], f32>
}
