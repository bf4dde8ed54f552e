// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbols become numbers.
// RUN: tilewright-opt %s -tile-specialize=symbols=N=8,L=3 | FileCheck %s
// RUN: not tilewright-opt %s -tile-specialize=symbols=N=12 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not tilewright-opt %s -tile-specialize=symbols=Q=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tilewright-opt %s -tile-specialize=symbols=N=0 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tilewright-opt %s -tile-specialize=symbols=N=x 2>&1 | FileCheck %s --check-prefix=VALUE

// MULTIPLE: error: [TW-TILE-0001] symbol N cannot be 12: min = 0, max = 9223372036854775807, multiple = 8
// UNKNOWN: error: [TW-TILE-0001] the kernel k has no symbol Q
// NEGATIVE: error: [TW-TILE-0001] the size N - 4 would be -4
// VALUE: error: [TW-TILE-0001] "N=x" does not say NAME=VALUE of a symbol

// CHECK: tile.kernel @k(in %x: !tile.buffer<[M, 8], f32>, out %y: !tile.buffer<[M, 4], f32>, %l: index)
// CHECK-SAME: symbols [M] grid [M ceildiv 4, 8] {
tile.kernel @k(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N - 4], f32>, %l: index as L)
    symbols [M, N {multiple = 8}, L] grid [M ceildiv 4, N] {
  // CHECK: %[[L:.*]] = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  // CHECK: tile.size 16
  %size = tile.size N * 2
  // CHECK: tile.load %x[%[[L]], %{{.*}}] : !tile.buffer<[M, 8], f32> -> tensor<?x8xf32, #tile.dims<[M]>>
  %t = tile.load %x[%l, %c0] : !tile.buffer<[M, N], f32> -> tensor<?x?xf32, #tile.dims<[M, N]>>
  // CHECK: tile.reduce sum %{{.*}} axis 0 : tensor<?x8xf32, #tile.dims<[M]>> -> tensor<8xf32>
  %s = tile.reduce sum %t axis 0 : tensor<?x?xf32, #tile.dims<[M, N]>> -> tensor<?xf32, #tile.dims<[N]>>
}
