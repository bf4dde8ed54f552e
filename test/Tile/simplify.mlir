// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels become simpler, and stay kernels.
// RUN: tilewright-opt %s -tile-simplify | FileCheck %s

// Index arithmetic is folded; equal operations are merged; dead ones go.
// CHECK-LABEL: tile.kernel @index
tile.kernel @index(in %x: !tile.buffer<[M], f32>, out %y: !tile.buffer<[M], f32>) symbols [M] grid [M] {
  // CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
  // CHECK-DAG: %[[P:.*]] = tile.program_id 0
  // CHECK: %[[I:.*]] = arith.muli %[[P]], %[[C6]] : index
  // CHECK: %[[T:.*]] = tile.load %x[%[[I]]]
  // CHECK-NEXT: tile.store %[[T]], %y[%[[I]]]
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.muli %c2, %c3 : index
  %size = tile.size 2 * 3
  %p = tile.program_id 0
  %q = tile.program_id 0
  %i = arith.muli %p, %c6 : index
  %j = arith.muli %q, %size : index
  %unused = tile.load %x[%p] : !tile.buffer<[M], f32> -> tensor<2xf32>
  %t = tile.load %x[%i] : !tile.buffer<[M], f32> -> tensor<6xf32>
  tile.store %t, %y[%j] : tensor<6xf32>, !tile.buffer<[M], f32>
}

// One value needs no place; elements that differ keep theirs, once.
// CHECK-LABEL: tile.kernel @kept
tile.kernel @kept(in %x: !tile.buffer<[8], f32>, out %y: !tile.buffer<[8], f32>) grid [1] {
  // CHECK: %[[X:.*]] = tile.load %x
  // CHECK-NEXT: %[[K:.*]] = tile.keep %[[X]] : tensor<8xf32>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[K]], %[[K]]
  // CHECK-NEXT: %[[F:.*]] = tile.full
  // CHECK-NEXT: arith.mulf %[[S]], %[[F]]
  %c0 = arith.constant 0 : index
  %c = arith.constant 3.0 : f32
  %t = tile.load %x[%c0] : !tile.buffer<[8], f32> -> tensor<8xf32>
  %a = tile.keep %t : tensor<8xf32>
  %b = tile.keep %t : tensor<8xf32>
  %s = arith.addf %a, %b : tensor<8xf32>
  %f = tile.full %c : f32 -> tensor<8xf32>
  %g = tile.keep %f : tensor<8xf32>
  %m = arith.mulf %s, %g : tensor<8xf32>
  tile.store %m, %y[%c0] : tensor<8xf32>, !tile.buffer<[8], f32>
}

// What is known of all elements is known of a tile; no constant tile is left, whatever its extent.
// CHECK-LABEL: tile.kernel @elements
tile.kernel @elements(in %x: !tile.buffer<[N], i32>, out %y: !tile.buffer<[N], i32>) symbols [N] grid [1] {
  // CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[X:.*]] = tile.load
  // CHECK-NEXT: %[[S:.*]] = tile.full %[[C7]] : i32 -> tensor<?xi32, #tile.dims<[N]>>
  // CHECK-NEXT: %[[R:.*]] = arith.addi %[[X]], %[[S]]
  // CHECK-NEXT: tile.store %[[R]]
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %four = arith.constant 4 : i32
  %v = tile.load %x[%c0] : !tile.buffer<[N], i32> -> tensor<?xi32, #tile.dims<[N]>>
  %z1 = tile.full %zero : i32 -> tensor<1xi32>
  %z = tile.broadcast %z1 : tensor<1xi32> -> tensor<?xi32, #tile.dims<[N]>>
  %a = arith.addi %v, %z : tensor<?xi32, #tile.dims<[N]>>
  %none = arith.subi %v, %v : tensor<?xi32, #tile.dims<[N]>>
  %t3 = tile.full %three : i32 -> tensor<?xi32, #tile.dims<[N]>>
  %t4 = tile.full %four : i32 -> tensor<?xi32, #tile.dims<[N]>>
  %t7 = arith.addi %t3, %t4 : tensor<?xi32, #tile.dims<[N]>>
  %s = arith.addi %t7, %none : tensor<?xi32, #tile.dims<[N]>>
  %r = arith.addi %a, %s : tensor<?xi32, #tile.dims<[N]>>
  tile.store %r, %y[%c0] : tensor<?xi32, #tile.dims<[N]>>, !tile.buffer<[N], i32>
}

// NaN and -0 forbid what would be fine for integers.
// CHECK-LABEL: tile.kernel @floats
tile.kernel @floats(inout %x: !tile.buffer<[4], f32>) grid [1] {
  // CHECK: arith.subf
  // CHECK: arith.addf
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %z = tile.full %zero : f32 -> tensor<4xf32>
  %a = arith.subf %v, %v : tensor<4xf32>
  %b = arith.addf %a, %z : tensor<4xf32>
  tile.store %b, %x[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}

// CHECK-LABEL: tile.kernel @loops
tile.kernel @loops(in %x: !tile.buffer<[4], f32>, out %y: !tile.buffer<[4], f32>) grid [1] {
  // CHECK-NOT: tile.for
  // CHECK: %[[T:.*]] = tile.load %x
  // CHECK-NEXT: tile.store %[[T]], %y
  // CHECK-NOT: tile.for
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %z = tile.full %zero : f32 -> tensor<4xf32>
  %once = tile.for %i = %c0 to %c4 step %c4 carry (%a = %z : tensor<4xf32>) {
    %t = tile.load %x[%i] : !tile.buffer<[4], f32> -> tensor<4xf32>
    tile.yield %t : tensor<4xf32>
  }
  %never = tile.for %i = %c4 to %c0 step %c4 carry (%a = %once : tensor<4xf32>) {
    tile.yield %z : tensor<4xf32>
  }
  tile.store %never, %y[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}

// A check stays, even if nobody needs what it gives.
// CHECK-LABEL: tile.kernel @checks
tile.kernel @checks(%i: i64, %n: index) grid [1] {
  // CHECK: tile.check
  %s = tile.check %i in %n, "index %lld of %lld" : i64
}
