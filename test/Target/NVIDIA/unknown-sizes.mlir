// RUN: tilewright kernel print %s --target=nvidia:sm_90a --as=assembly | FileCheck %s

// How long rows are, and how often the loop runs, only the call brings: a kernel for tensor cores, whose trips are
// counted at run time, and one with the plain lowering for rows that TMA cannot read.

// CHECK: .entry kernel(
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: .entry kernel_plain(
// CHECK-NOT: wgmma
// CHECK: fma.rn.f32
tile.kernel @product(in %a: !tile.buffer<[M, K], f16>, in %b: !tile.buffer<[N, K], f16>,
    out %c: !tile.buffer<[M, N], f16>) symbols [M, N, K] grid [M ceildiv 64, N ceildiv 64] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %trips = tile.size K ceildiv 64
  %zero = arith.constant 0.0 : f32
  %m = tile.program_id 0
  %n = tile.program_id 1
  %row = arith.muli %m, %c64 : index
  %column = arith.muli %n, %c64 : index
  %none = tile.full %zero : f32 -> tensor<64x64xf32>
  %sum = tile.for %k = %c0 to %trips step %c1 carry (%acc = %none : tensor<64x64xf32>) {
    %at = arith.muli %k, %c64 : index
    %x = tile.load %a[%row, %at] : !tile.buffer<[M, K], f16> -> tensor<64x64xf16>
    %y = tile.load %b[%column, %at] : !tile.buffer<[N, K], f16> -> tensor<64x64xf16>
    %t = tile.transpose %y [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %x, %t, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %c[%row, %column] : tensor<64x64xf16>, !tile.buffer<[M, N], f16>
}
