// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels print as they were written.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @softmax(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>) symbols [M, N] grid [M] {
tile.kernel @softmax(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>)
    symbols [M, N] grid [M] {
  // CHECK: %[[M:.*]] = tile.program_id 0
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  // CHECK: load %x[%[[M]], %{{.*}}] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %row = tile.load %x[%m, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>>
  // CHECK: reduce max %{{.*}} axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
  %max = tile.reduce max %row axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
  // CHECK: reshape %{{.*}} : tensor<1xf32> -> tensor<1x1xf32>
  %column = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32>
  // CHECK: broadcast %{{.*}} : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %d = arith.subf %row, %all : tensor<1x?xf32, #tile.dims<[N]>>
  %e = math.exp %d : tensor<1x?xf32, #tile.dims<[N]>>
  // CHECK: arith.cmpf ogt, %{{.*}} : tensor<1x?xf32, #tile.dims<[N]>>
  %p = arith.cmpf ogt, %e, %d : tensor<1x?xf32, #tile.dims<[N]>>
  // A conversion without rounding mode and fast-math flags.
  %h = arith.truncf %e : tensor<1x?xf32, #tile.dims<[N]>> to tensor<1x?xf16, #tile.dims<[N]>>
  // CHECK: store %{{.*}}, %y[%[[M]], %{{.*}}] mask %{{.*}} : tensor<1x?xi1, #tile.dims<[N]>> drop : tensor<1x?xf32, #tile.dims<[N]>>, !tile.buffer<[M, N], f32>
  tile.store %e, %y[%m, %c0] mask %p : tensor<1x?xi1, #tile.dims<[N]>> drop
    : tensor<1x?xf32, #tile.dims<[N]>>, !tile.buffer<[M, N], f32>
}

// CHECK-LABEL: tile.kernel @weighted(in %x: !tile.buffer<[8], f32>, in %w: !tile.buffer<[8], f32> constant, out %y
tile.kernel @weighted(in %x: !tile.buffer<[8], f32>, in %w: !tile.buffer<[8], f32> constant, out %y: !tile.buffer<[8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0] : !tile.buffer<[8], f32> -> tensor<8xf32>
  %1 = tile.load %w[%c0] : !tile.buffer<[8], f32> -> tensor<8xf32>
  %2 = arith.mulf %0, %1 : tensor<8xf32>
  tile.store %2, %y[%c0] : tensor<8xf32>, !tile.buffer<[8], f32>
}

// CHECK-LABEL: tile.kernel @gemm(
// CHECK-SAME: out %c: !tile.buffer<[M, N], f32> init 0.000000e+00 : f32
// CHECK-SAME: symbols [M {multiple = 8}, N, K {min = 1, max = 4096}] grid [M ceildiv 6, N ceildiv 16] attributes {tile.block = array<i64: 4, 2>} {
tile.kernel @gemm(in %a: !tile.buffer<[M, K], bf16>, in %b: !tile.buffer<[N ceildiv 16, K, 16], bf16>,
                  in %bias: !tile.buffer<[N], f32>, out %c: !tile.buffer<[M, N], f32> init 0.0 : f32)
    symbols [M {multiple = 8}, N, K {min = 1, max = 4096}]
    grid [M ceildiv 6, N ceildiv 16] attributes {tile.block = array<i64: 4, 2>} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c256 = arith.constant 256 : index
  %row = arith.muli %m, %c6 : index
  // CHECK: size K
  %k = tile.size K
  %zero = arith.constant 0.0 : f32
  // CHECK: full %{{.*}} : f32 -> tensor<6x16xf32>
  %init = tile.full %zero : f32 -> tensor<6x16xf32>
  // CHECK: %[[R:.*]] = tile.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} carry (%[[X:.*]] = %{{.*}} : tensor<6x16xf32>) {
  %acc = tile.for %i = %c0 to %k step %c256 carry (%x = %init : tensor<6x16xf32>) {
    %at = tile.load %a[%row, %i] : !tile.buffer<[M, K], bf16> -> tensor<6x256xbf16>
    %panel = tile.load %b[%n, %i, %c0] : !tile.buffer<[N ceildiv 16, K, 16], bf16> -> tensor<1x256x16xbf16>
    %bt = tile.reshape %panel : tensor<1x256x16xbf16> -> tensor<256x16xbf16>
    // CHECK: dot %{{.*}}, %{{.*}}, %[[X]] : tensor<6x256xbf16>, tensor<256x16xbf16>, tensor<6x16xf32>
    %y = tile.dot %at, %bt, %x : tensor<6x256xbf16>, tensor<256x16xbf16>, tensor<6x16xf32>
    tile.yield %y : tensor<6x16xf32>
  // CHECK: } combine (%[[A:.*]]: tensor<6x16xf32>, %[[B:.*]]: tensor<6x16xf32>) {
  } combine (%l: tensor<6x16xf32>, %r: tensor<6x16xf32>) {
    %s = arith.addf %l, %r : tensor<6x16xf32>
    tile.yield %s : tensor<6x16xf32>
  }
  %c16 = arith.constant 16 : index
  %column = arith.muli %n, %c16 : index
  // CHECK: store %[[R]], %c[%{{.*}}, %{{.*}}] atomic add : tensor<6x16xf32>
  tile.store %acc, %c[%row, %column] atomic add : tensor<6x16xf32>, !tile.buffer<[M, N], f32>
}

// CHECK-LABEL: tile.kernel @rows(
// CHECK-SAME: inout %t: !tile.buffer<[N * 2 + 1], ui8>, %n: index as L, %s: f64)
tile.kernel @rows(in %ids: !tile.buffer<[N], i64>, inout %t: !tile.buffer<[N * 2 + 1], ui8>,
                  %n: index as L, %s: f64) symbols [N, L] grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i8
  %pad = arith.constant -1 : i64
  %ids8 = tile.load %ids[%c0] strides [2] pad %pad : i64 : !tile.buffer<[N], i64> -> tensor<8xi64>
  // CHECK: check %{{.*}} in %n, "index %lld of %lld" : tensor<8xi64>
  %safe = tile.check %ids8 in %n, "index %lld of %lld" : tensor<8xi64>
  // CHECK: load %t[%{{.*}} : tensor<8xi64>] pad %{{.*}} : i8 : !tile.buffer<[N * 2 + 1], ui8> -> tensor<8xi8>
  %some = tile.load %t[%safe : tensor<8xi64>] pad %c1 : i8 : !tile.buffer<[N * 2 + 1], ui8> -> tensor<8xi8>
  // CHECK: gather %t[%{{.*}} : tensor<8xi64>] : !tile.buffer<[N * 2 + 1], ui8> -> tensor<8xi8>
  %more = tile.gather %t[%safe : tensor<8xi64>] : !tile.buffer<[N * 2 + 1], ui8> -> tensor<8xi8>
  // CHECK: iota 0 from %{{.*}} : tensor<8xi32>
  %i = tile.iota 0 from %c0 : tensor<8xi32>
  // CHECK: scan sum %{{.*}} axis 0 reverse : tensor<8xi8>
  %scan = tile.scan sum %more axis 0 reverse : tensor<8xi8>
  // CHECK: sort %{{.*}} axis 0 descending unsigned : tensor<8xi8> -> tensor<3xi8>, tensor<3xi64>
  %most, %where = tile.sort %scan axis 0 descending unsigned : tensor<8xi8> -> tensor<3xi8>, tensor<3xi64>
  // CHECK: slice %{{.*}} offsets [7] strides [-2] : tensor<8xi8> -> tensor<4xi8>
  %flip = tile.slice %scan offsets [7] strides [-2] : tensor<8xi8> -> tensor<4xi8>
  // CHECK: transpose %{{.*}} [1, 0] : tensor<2x4xi8> -> tensor<4x2xi8>
  %square = tile.reshape %some : tensor<8xi8> -> tensor<2x4xi8>
  %turned = tile.transpose %square [1, 0] : tensor<2x4xi8> -> tensor<4x2xi8>
  // CHECK: keep %{{.*}} : tensor<8xi8>
  %kept = tile.keep %more : tensor<8xi8>
  // CHECK: scatter %{{.*}}, %t[%{{.*}} : tensor<8xi32>] atomic any : tensor<8xi8>
  tile.scatter %kept, %t[%i : tensor<8xi32>] atomic any : tensor<8xi8>, !tile.buffer<[N * 2 + 1], ui8>
}
