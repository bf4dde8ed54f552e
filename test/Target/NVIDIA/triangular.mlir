// RUN: tilewright kernel print %s --target=nvidia:sm_90a --as=assembly | FileCheck %s

// Block m of rows sums up the first m + 1 blocks of terms: more programs than multiprocessors, which follow a table.

// CHECK: .global .align 4 .b8 kernel_work[
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
tile.kernel @lower(in %a: !tile.buffer<[1280, 1280], f16>, in %b: !tile.buffer<[1280, 512], f16>,
    out %c: !tile.buffer<[1280, 512], f16>) grid [20, 8] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %m = tile.program_id 0
  %n = tile.program_id 1
  %row = arith.muli %m, %c64 : index
  %column = arith.muli %n, %c64 : index
  %trips = arith.addi %m, %c1 : index
  %none = tile.full %zero : f32 -> tensor<64x64xf32>
  %sum = tile.for %k = %c0 to %trips step %c1 carry (%acc = %none : tensor<64x64xf32>) {
    %at = arith.muli %k, %c64 : index
    %x = tile.load %a[%row, %at] : !tile.buffer<[1280, 1280], f16> -> tensor<64x64xf16>
    %y = tile.load %b[%at, %column] : !tile.buffer<[1280, 512], f16> -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %c[%row, %column] : tensor<64x64xf16>, !tile.buffer<[1280, 512], f16>
}
