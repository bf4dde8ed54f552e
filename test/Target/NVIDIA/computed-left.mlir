// RUN: tilewright kernel print %s --target=nvidia:sm_90a --as=assembly | FileCheck %s

// The left operand is rounded to f16 and scaled on its way: TMA brings f32, threads read pairs of them from shared
// memory, and wgmma takes four registers of pairs of f16. Rows of what is stored are divided by their sums, which the
// four threads of a row exchange.

// CHECK: ld.shared.v2.{{.}}32
// CHECK: cvt.rn.f16
// CHECK: wgmma.fence
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{[{].*[}], [{](%r[0-9]+, ){3}%r[0-9]+[}], %rd}}
// CHECK: wgmma.wait_group.sync.aligned 	0
// CHECK: shfl.sync.bfly.b32
// CHECK: stmatrix.sync.aligned.m8n8.x4
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global
tile.kernel @scaled_product(in %a: !tile.buffer<[M, 200], f32>, in %scale: !tile.buffer<[M], f32>,
    in %b: !tile.buffer<[200, 192], f16>, out %c: !tile.buffer<[M, 192], f16>) symbols [M] grid [M ceildiv 128, 3] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = tile.program_id 0
  %n = tile.program_id 1
  %row = arith.muli %m, %c128 : index
  %column = arith.muli %n, %c64 : index
  %none = tile.full %zero : f32 -> tensor<128x64xf32>
  %s = tile.load %scale[%row] : !tile.buffer<[M], f32> -> tensor<128xf32>
  %s1 = tile.reshape %s : tensor<128xf32> -> tensor<128x1xf32>
  %s2 = tile.broadcast %s1 : tensor<128x1xf32> -> tensor<128x64xf32>
  %sum = tile.for %k = %c0 to %c4 step %c1 carry (%acc = %none : tensor<128x64xf32>) {
    %at = arith.muli %k, %c64 : index
    %x = tile.load %a[%row, %at] : !tile.buffer<[M, 200], f32> -> tensor<128x64xf32>
    %scaled = arith.mulf %x, %s2 : tensor<128x64xf32>
    %left = arith.truncf %scaled : tensor<128x64xf32> to tensor<128x64xf16>
    %y = tile.load %b[%at, %column] : !tile.buffer<[200, 192], f16> -> tensor<64x64xf16>
    %d = tile.dot %left, %y, %acc : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    tile.yield %d : tensor<128x64xf32>
  }
  %size = math.absf %sum : tensor<128x64xf32>
  %one = arith.constant 1.0 : f32
  %ones = tile.full %one : f32 -> tensor<128x1xf32>
  %total = tile.reduce sum %size axis 1 : tensor<128x64xf32> -> tensor<128xf32>
  %total1 = tile.reshape %total : tensor<128xf32> -> tensor<128x1xf32>
  %total2 = arith.addf %total1, %ones : tensor<128x1xf32>
  %total3 = tile.broadcast %total2 : tensor<128x1xf32> -> tensor<128x64xf32>
  %share = arith.divf %sum, %total3 : tensor<128x64xf32>
  %h = arith.truncf %share : tensor<128x64xf32> to tensor<128x64xf16>
  tile.store %h, %c[%row, %column] : tensor<128x64xf16>, !tile.buffer<[M, 192], f16>
}
