// RUN: tilewright-opt %s -tile-split="enough-programs=32 wanted-programs=256 least-work=1048576 parts-of-unknown=16" \
// RUN:   -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tilewright-opt %s -tile-split -split-input-file | FileCheck %s --check-prefix=LIMITS
// RUN: tilewright-opt %s -tile-split="most-written-out=3 enough-programs=32" -split-input-file | FileCheck %s --check-prefix=WRITTEN
// RUN: tilewright-opt %s -tile-split="most-written-out=3 enough-programs=64" -tile-simplify -split-input-file | FileCheck %s --check-prefix=ROWS

// Without a target's limits nothing is split but what is configured so.
// LIMITS-NOT: @k_parts

// Four programs with 98 trips: each part is to have some, and 256 programs are enough.
// CHECK-LABEL: func.func @main
// CHECK: %[[ROOM:.*]] = tensor.empty() : tensor<[[N:[0-9]+]]x4x64xf32>
// CHECK: %[[STATES:.*]] = tw.dispatch @k_parts(%{{.*}}) outs(%[[ROOM]])
// CHECK: tw.dispatch @k(%{{.*}}, %[[STATES]]) outs(
// CHECK: tile.kernel @k_parts(in %x: !tile.buffer<[256, 100000], f32>, out %state0: !tile.buffer<[[[N]], 4, 64], f32>) grid [[[N]], 4]
// CHECK: %[[ROW:.*]] = tile.program_id 1
// CHECK: %[[PART:.*]] = tile.program_id 0
// CHECK: %[[SUM:.*]] = tile.for
// CHECK: combine
// CHECK: %[[BOX:.*]] = tile.reshape %[[SUM]] : tensor<64xf32> -> tensor<1x1x64xf32>
// CHECK: tile.store %[[BOX]], %state0[%[[PART]], %{{.*}}, %{{.*}}]
// CHECK: tile.kernel @k(in %x: {{.*}}, in %state0: {{.*}}, out %y: {{.*}}) grid [4]
// CHECK: tile.for {{.*}} carry
// CHECK: tile.load %state0
// CHECK: arith.addf
// CHECK-NOT: combine (
// CHECK: math.sqrt
// CHECK: tile.store %{{.*}}, %y
func.func @main(%x: tensor<256x100000xf32>) -> tensor<256xf32> {
  %e = tensor.empty() : tensor<256xf32>
  %r = tw.dispatch @k(%x) outs(%e) : (tensor<256x100000xf32>) outs(tensor<256xf32>) -> tensor<256xf32>
  return %r : tensor<256xf32>
}
tile.kernel @k(in %x: !tile.buffer<[256, 100000], f32>, out %y: !tile.buffer<[256], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %trips = arith.constant 98 : index
  %c1024 = arith.constant 1024 : index
  %row = arith.muli %p, %c64 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<64xf32>
  %sum = tile.for %i = %c0 to %trips step %c1 carry (%s = %init : tensor<64xf32>) {
    %at = arith.muli %i, %c1024 : index
    %t = tile.load %x[%row, %at] : !tile.buffer<[256, 100000], f32> -> tensor<64x1024xf32>
    %one = tile.reduce sum %t axis 1 : tensor<64x1024xf32> -> tensor<64xf32>
    %next = arith.addf %s, %one : tensor<64xf32>
    tile.yield %next : tensor<64xf32>
  } combine (%a : tensor<64xf32>, %b : tensor<64xf32>) {
    %c = arith.addf %a, %b : tensor<64xf32>
    tile.yield %c : tensor<64xf32>
  }
  %root = math.sqrt %sum : tensor<64xf32>
  tile.store %root, %y[%row] : tensor<64xf32>, !tile.buffer<[256], f32>
}

// -----

// Programs enough, or too little to do: as it was.
// CHECK: tile.kernel @many
// CHECK: combine
// CHECK-NOT: @many_parts
// expected-remark @below {{its loop runs on one worker: there are 32 programs}}
tile.kernel @many(out %y: !tile.buffer<[32], f32>) grid [32] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000000000 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<1xf32>
  %sum = tile.for %i = %c0 to %end step %c1 carry (%s = %init : tensor<1xf32>) {
    tile.yield %s : tensor<1xf32>
  } combine (%a : tensor<1xf32>, %b : tensor<1xf32>) {
    tile.yield %a : tensor<1xf32>
  }
  tile.store %sum, %y[%p] : tensor<1xf32>, !tile.buffer<[32], f32>
}

// CHECK: tile.kernel @short
// CHECK: combine
// CHECK-NOT: @short_parts
// expected-remark @below {{its loop runs on one worker: 1000 iterations are too few to share}}
tile.kernel @short(out %y: !tile.buffer<[4], f32>) grid [4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<1xf32>
  %sum = tile.for %i = %c0 to %end step %c1 carry (%s = %init : tensor<1xf32>) {
    tile.yield %s : tensor<1xf32>
  } combine (%a : tensor<1xf32>, %b : tensor<1xf32>) {
    tile.yield %a : tensor<1xf32>
  }
  tile.store %sum, %y[%p] : tensor<1xf32>, !tile.buffer<[4], f32>
}

// -----

// As many parts as the configuration says, whatever the limits would make; but a target that splits nothing splits nothing.
// LIMITS: tile.kernel @wanted(
// CHECK: tile.kernel @wanted_parts(in %x: !tile.buffer<[256, 100000], f32>, out %state0: !tile.buffer<[5, 4, 64], f32>) grid [5, 4]
func.func @five(%x: tensor<256x100000xf32>) -> tensor<256xf32> {
  %e = tensor.empty() : tensor<256xf32>
  %r = tw.dispatch @wanted(%x) outs(%e) : (tensor<256x100000xf32>) outs(tensor<256xf32>) -> tensor<256xf32>
  return %r : tensor<256xf32>
}
tile.kernel @wanted(in %x: !tile.buffer<[256, 100000], f32>, out %y: !tile.buffer<[256], f32>) grid [4] attributes {
    tile.configuration = #tile.config<"loops" {block = array<i64: 64, 0>, chunk = array<i64: 0, 1024>, parts = 1 : i64,
                                               programs = array<i64: 1, 1>, split_parts = 5 : i64}>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %trips = arith.constant 98 : index
  %c1024 = arith.constant 1024 : index
  %row = arith.muli %p, %c64 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<64xf32>
  %sum = tile.for %i = %c0 to %trips step %c1 carry (%s = %init : tensor<64xf32>) {
    %at = arith.muli %i, %c1024 : index
    %t = tile.load %x[%row, %at] : !tile.buffer<[256, 100000], f32> -> tensor<64x1024xf32>
    %one = tile.reduce sum %t axis 1 : tensor<64x1024xf32> -> tensor<64xf32>
    %next = arith.addf %s, %one : tensor<64xf32>
    tile.yield %next : tensor<64xf32>
  } combine (%a : tensor<64xf32>, %b : tensor<64xf32>) {
    %c = arith.addf %a, %b : tensor<64xf32>
    tile.yield %c : tensor<64xf32>
  }
  %root = math.sqrt %sum : tensor<64xf32>
  tile.store %root, %y[%row] : tensor<64xf32>, !tile.buffer<[256], f32>
}

// -----

// The configuration says in how many parts: 7 trips are 3, 3 and 1, though 32 programs are enough.
// Three states are combined in a loop, unless so few are written out.
// LIMITS: tile.kernel @asked(
// CHECK: tile.kernel @asked_parts({{.*}}) grid [3, 32]
// CHECK: %[[PART:.*]] = tile.program_id 0
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %c3
// CHECK: %[[BEGIN:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c3
// CHECK: %[[END:.*]] = arith.minsi %[[NEXT]], %c7
// CHECK: tile.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: combine commutative
// CHECK: tile.kernel @asked({{.*}}) grid [32]
// CHECK: tile.for
// WRITTEN: tile.kernel @asked(
// WRITTEN-NOT: tile.for
// WRITTEN: %[[A:.*]] = tile.load %state0[%c0
// WRITTEN: %[[B:.*]] = tile.load %state0[%c1
// WRITTEN: %[[AB:.*]] = arith.addf
// WRITTEN: %[[C:.*]] = tile.load %state0[%c2
// WRITTEN: arith.addf %[[AB]],
// WRITTEN: tile.store
tile.kernel @asked(in %x: !tile.buffer<[32, 7], f32>, out %y: !tile.buffer<[32], f32>) grid [32]
    attributes {tile.configuration = #tile.config<"loops" {block = array<i64: 1>, chunk = array<i64: 1>, parts = 1 : i64,
      programs = array<i64: 1>, split_parts = 3 : i64} on <"nvidia" {late_trigger = false, ping_pong = false, stages = 1 : i64,
      warp_groups = 1 : i64}>>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<1xf32>
  %sum = tile.for %i = %c0 to %end step %c1 carry (%s = %init : tensor<1xf32>) {
    %t = tile.load %x[%p, %i] : !tile.buffer<[32, 7], f32> -> tensor<1x1xf32>
    %one = tile.reshape %t : tensor<1x1xf32> -> tensor<1xf32>
    %next = arith.addf %s, %one : tensor<1xf32>
    tile.yield %next : tensor<1xf32>
  } combine commutative (%a : tensor<1xf32>, %b : tensor<1xf32>) {
    %c = arith.addf %a, %b : tensor<1xf32>
    tile.yield %c : tensor<1xf32>
  }
  tile.store %sum, %y[%p] : tensor<1xf32>, !tile.buffer<[32], f32>
}

// Where they come out even, each part's trips are as many for all to see.
// LIMITS: tile.kernel @even(
// CHECK: tile.kernel @even_parts({{.*}}) grid [3, 32]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN:.*]], %c2
// CHECK: tile.for %{{.*}} = %[[BEGIN]] to %[[NEXT]]
tile.kernel @even(in %x: !tile.buffer<[32, 6], f32>, out %y: !tile.buffer<[32], f32>) grid [32]
    attributes {tile.configuration = #tile.config<"loops" {block = array<i64: 1>, chunk = array<i64: 1>, parts = 1 : i64,
      programs = array<i64: 1>, split_parts = 3 : i64} on <"nvidia" {late_trigger = false, ping_pong = false, stages = 1 : i64,
      warp_groups = 1 : i64}>>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<1xf32>
  %sum = tile.for %i = %c0 to %end step %c1 carry (%s = %init : tensor<1xf32>) {
    %t = tile.load %x[%p, %i] : !tile.buffer<[32, 6], f32> -> tensor<1x1xf32>
    %one = tile.reshape %t : tensor<1x1xf32> -> tensor<1xf32>
    %next = arith.addf %s, %one : tensor<1xf32>
    tile.yield %next : tensor<1xf32>
  } combine commutative (%a : tensor<1xf32>, %b : tensor<1xf32>) {
    %c = arith.addf %a, %b : tensor<1xf32>
    tile.yield %c : tensor<1xf32>
  }
  tile.store %sum, %y[%p] : tensor<1xf32>, !tile.buffer<[32], f32>
}

// -----

// Rows that are combined one by one are programs of their own where there would be too few.
// ROWS: tile.kernel @rows({{.*}}) grid [2, 16]
// ROWS: %[[ROW:.*]] = tile.program_id 1
// ROWS: %[[BLOCK:.*]] = tile.program_id 0
// ROWS: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c16
// ROWS: tile.load %state0[%c0, %[[BLOCK]], %[[ROW]], %c0] {{.*}} -> tensor<1x1x1x8xf32>
// ROWS: tile.load %bias[%c0] {{.*}} -> tensor<8xf32>
// ROWS: %[[AT:.*]] = arith.addi %[[FIRST]], %[[ROW]]
// ROWS: tile.store %{{.*}}, %y[%[[AT]], %c0] drop : tensor<1x8xf32>
tile.kernel @rows(in %x: !tile.buffer<[32, 48], f32>, in %bias: !tile.buffer<[8], f32>, out %y: !tile.buffer<[32, 8], f32>) grid [2]
    attributes {tile.block = array<i64: 1>, tile.configuration = #tile.config<"loops" {block = array<i64: 16>,
      chunk = array<i64: 8>, parts = 1 : i64, programs = array<i64: 1>, split_parts = 2 : i64} on <"nvidia" {late_trigger = false, ping_pong = false, stages = 1 : i64, warp_groups = 1 : i64}>>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %p, %c16 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<16x8xf32>
  %sum = tile.for %i = %c0 to %c6 step %c1 carry (%s = %init : tensor<16x8xf32>) {
    %at = arith.muli %i, %c8 : index
    %t = tile.load %x[%row, %at] : !tile.buffer<[32, 48], f32> -> tensor<16x8xf32>
    %next = arith.addf %s, %t : tensor<16x8xf32>
    tile.yield %next : tensor<16x8xf32>
  } combine commutative (%a : tensor<16x8xf32>, %b : tensor<16x8xf32>) {
    %c = arith.addf %a, %b : tensor<16x8xf32>
    tile.yield %c : tensor<16x8xf32>
  }
  %v = tile.load %bias[%c0] : !tile.buffer<[8], f32> -> tensor<8xf32>
  %v1 = tile.reshape %v : tensor<8xf32> -> tensor<1x8xf32>
  %all = tile.broadcast %v1 : tensor<1x8xf32> -> tensor<16x8xf32>
  %r = arith.addf %sum, %all : tensor<16x8xf32>
  tile.store %r, %y[%row, %c0] : tensor<16x8xf32>, !tile.buffer<[32, 8], f32>
}

// What adds rows up is left as it is.
// ROWS: tile.kernel @columns({{.*}}) grid [2]
// ROWS: tile.reduce
tile.kernel @columns(in %x: !tile.buffer<[32, 6], f32>, out %y: !tile.buffer<[2], f32>) grid [2]
    attributes {tile.configuration = #tile.config<"loops" {block = array<i64: 16>, chunk = array<i64: 8>,
      parts = 1 : i64, programs = array<i64: 1>, split_parts = 2 : i64} on <"nvidia" {late_trigger = false, ping_pong = false,
      stages = 1 : i64, warp_groups = 1 : i64}>>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c16 = arith.constant 16 : index
  %row = arith.muli %p, %c16 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<16x1xf32>
  %sum = tile.for %i = %c0 to %c6 step %c1 carry (%s = %init : tensor<16x1xf32>) {
    %t = tile.load %x[%row, %i] : !tile.buffer<[32, 6], f32> -> tensor<16x1xf32>
    %next = arith.addf %s, %t : tensor<16x1xf32>
    tile.yield %next : tensor<16x1xf32>
  } combine commutative (%a : tensor<16x1xf32>, %b : tensor<16x1xf32>) {
    %c = arith.addf %a, %b : tensor<16x1xf32>
    tile.yield %c : tensor<16x1xf32>
  }
  %r = tile.reduce sum %sum axis 0 : tensor<16x1xf32> -> tensor<1xf32>
  tile.store %r, %y[%p] : tensor<1xf32>, !tile.buffer<[2], f32>
}
