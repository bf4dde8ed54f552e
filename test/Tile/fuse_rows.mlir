// RUN: tilewright-opt %s -tile-fuse-rows='most-operations=1000000 most-bytes=16384 most-shared-bytes=65536 least-programs=4' -split-input-file | FileCheck %s
// RUN: tilewright-opt %s -tile-fuse-rows -split-input-file | FileCheck %s --check-prefix=NEVER
// RUN: tilewright-opt %s -tile-fuse-rows='most-operations=1000000 most-bytes=2047 most-shared-bytes=65536 least-programs=4' -split-input-file 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: tilewright-opt %s -tile-fuse-rows='most-operations=1000000 most-bytes=16384 most-shared-bytes=65536 least-programs=4' -split-input-file 2>&1 | FileCheck %s --check-prefix=VARIANT
// RUN: tilewright-opt %s -tile-fuse-rows='most-operations=1000000 most-bytes=16384 most-shared-bytes=12287 least-programs=4' -split-input-file 2>&1 | FileCheck %s --check-prefix=SHARED

// Programs of 8 and of 4 rows become programs of 16: each runs two by eight of the first kernel, then four of the second,
// which reads what the first ones have stored. The hidden layer is a result that nothing reads.
// CHECK-LABEL: func.func @layers
// CHECK: %[[ALL:.*]]:2 = tw.dispatch @hidden_0(%arg0, %arg1, %arg2) outs(
// CHECK-NOT: tw.dispatch
// CHECK: return %[[ALL]]#1
// NEVER-LABEL: func.func @layers
// NEVER: tw.dispatch @hidden(
// NEVER: tw.dispatch @output(
// SHARED: remark: not in one kernel with its producer, block of rows by block of rows: each program reads 12288 bytes that all others read, more than 12287
// FEW: remark: not in one kernel with its producer, block of rows by block of rows: 8 rows at a time pass 2048 bytes on, more than 2047
func.func @layers(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>, %v: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %f = tensor.empty() : tensor<64x16xf32>
  %h = tw.dispatch @hidden(%x, %w) outs(%e) : (tensor<64x32xf32>, tensor<32x64xf32>) outs(tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = tw.dispatch @output(%h, %v) outs(%f) : (tensor<64x64xf32>, tensor<64x16xf32>) outs(tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
// CHECK: tile.kernel @hidden_0(in %in0: !tile.buffer<[64, 32], f32>, in %in1: !tile.buffer<[32, 64], f32>,
// CHECK-SAME: in %in2: !tile.buffer<[64, 16], f32>, out %out3: !tile.buffer<[64, 64], f32>,
// CHECK-SAME: out %out4: !tile.buffer<[64, 16], f32>) grid [4]
// CHECK: %[[PROGRAM:.*]] = tile.program_id 0
// CHECK: tile.for %[[J:.*]] = %{{.*}} to %[[EIGHT:.*]] step
// CHECK: %[[BEGIN:.*]] = arith.muli %[[PROGRAM]], %{{.*}} : index
// CHECK: tile.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[BLOCK:.*]] = arith.addi %[[BEGIN]], %[[I]] : index
// CHECK: tile.load %in0[
// CHECK: tile.store %{{.*}}, %out3[
// CHECK: tile.load %out3[
// CHECK: tile.store %{{.*}}, %out4[
tile.kernel @hidden(in %a: !tile.buffer<[64, 32], f32>, in %b: !tile.buffer<[32, 64], f32>,
                    out %c: !tile.buffer<[64, 64], f32>) grid [8, 8] attributes {tile.block = array<i64: 8, 1>} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %m = arith.muli %i, %c8 : index
  %n = arith.muli %j, %c8 : index
  %acc = tile.full %zero : f32 -> tensor<8x8xf32>
  %x = tile.load %a[%m, %c0] : !tile.buffer<[64, 32], f32> -> tensor<8x32xf32>
  %w = tile.load %b[%c0, %n] : !tile.buffer<[32, 64], f32> -> tensor<32x8xf32>
  %r = tile.dot %x, %w, %acc : tensor<8x32xf32>, tensor<32x8xf32>, tensor<8x8xf32>
  tile.store %r, %c[%m, %n] : tensor<8x8xf32>, !tile.buffer<[64, 64], f32>
}
tile.kernel @output(in %a: !tile.buffer<[64, 64], f32>, in %b: !tile.buffer<[64, 16], f32>,
                    out %c: !tile.buffer<[64, 16], f32>) grid [16] {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %i = tile.program_id 0
  %m = arith.muli %i, %c4 : index
  %acc = tile.full %zero : f32 -> tensor<4x16xf32>
  %x = tile.load %a[%m, %c0] : !tile.buffer<[64, 64], f32> -> tensor<4x64xf32>
  %w = tile.load %b[%c0, %c0] : !tile.buffer<[64, 16], f32> -> tensor<64x16xf32>
  %r = tile.dot %x, %w, %acc : tensor<4x64xf32>, tensor<64x16xf32>, tensor<4x16xf32>
  tile.store %r, %c[%m, %c0] : tensor<4x16xf32>, !tile.buffer<[64, 16], f32>
}

// -----

// Programs of 8 rows, of which 40 are five: the last one of two blocks has one. The kernel behind them has whole columns,
// so it is the end of the chain. What another dispatch reads is stored as before.
// CHECK-LABEL: func.func @uneven
// CHECK: %[[ALL:.*]]:2 = tw.dispatch @square_0(%arg0, %arg1, %arg1) outs(
// CHECK: %[[SUMS:.*]] = tw.dispatch @columns(%[[ALL]]#1)
// CHECK: return %[[ALL]]#0, %[[SUMS]]
func.func @uneven(%x: tensor<40x8xf32>, %w: tensor<8x8xf32>) -> (tensor<40x8xf32>, tensor<1x8xf32>) {
  %e = tensor.empty() : tensor<40x8xf32>
  %f = tensor.empty() : tensor<1x8xf32>
  %a = tw.dispatch @square(%x, %w) outs(%e) : (tensor<40x8xf32>, tensor<8x8xf32>) outs(tensor<40x8xf32>) -> tensor<40x8xf32>
  %b = tw.dispatch @square(%a, %w) outs(%e) : (tensor<40x8xf32>, tensor<8x8xf32>) outs(tensor<40x8xf32>) -> tensor<40x8xf32>
  %s = tw.dispatch @columns(%b) outs(%f) : (tensor<40x8xf32>) outs(tensor<1x8xf32>) -> tensor<1x8xf32>
  return %a, %s : tensor<40x8xf32>, tensor<1x8xf32>
}
// CHECK: tile.kernel @square_0({{.*}}) grid [3]
// CHECK: %[[BEGIN:.*]] = arith.muli %{{.*}}, %c2{{.*}} : index
// CHECK: %[[LEFT:.*]] = arith.subi %c5{{.*}}, %[[BEGIN]] : index
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %[[LEFT]] : index
// CHECK: tile.for %{{.*}} = %{{.*}} to %[[END]] step
tile.kernel @square(in %x: !tile.buffer<[40, 8], f32>, in %w: !tile.buffer<[8, 8], f32>, out %y: !tile.buffer<[40, 8], f32>) grid [5] {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %i = tile.program_id 0
  %m = arith.muli %i, %c8 : index
  %acc = tile.full %zero : f32 -> tensor<8x8xf32>
  %0 = tile.load %x[%m, %c0] : !tile.buffer<[40, 8], f32> -> tensor<8x8xf32>
  %1 = tile.load %w[%c0, %c0] : !tile.buffer<[8, 8], f32> -> tensor<8x8xf32>
  %2 = tile.dot %0, %1, %acc : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  tile.store %2, %y[%m, %c0] : tensor<8x8xf32>, !tile.buffer<[40, 8], f32>
}
tile.kernel @columns(in %x: !tile.buffer<[40, 8], f32>, out %y: !tile.buffer<[1, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0, %c0] : !tile.buffer<[40, 8], f32> -> tensor<40x8xf32>
  %1 = tile.reduce sum %0 axis 0 : tensor<40x8xf32> -> tensor<8xf32>
  %2 = tile.reshape %1 : tensor<8xf32> -> tensor<1x8xf32>
  tile.store %2, %y[%c0, %c0] : tensor<1x8xf32>, !tile.buffer<[1, 8], f32>
}

// -----

// Kernels without products stay apart, unless the configuration asks for it.
// CHECK-LABEL: func.func @sums
// CHECK: %[[ALL:.*]]:3 = tw.dispatch @row_0(%arg0) outs(
// CHECK-NOT: tw.dispatch
// A target without limits does not.
// NEVER: tw.decisions = [#tw.decision<fuse["a", "b"] false because "the target runs no kernels one after the other in one">,
// NEVER-LABEL: func.func @sums
// NEVER-COUNT-3: tw.dispatch @row(
module attributes {tw.wanted_decisions = [#tw.decision<fuse["a", "b"] true>, #tw.decision<fuse["b", "c"] true>]} {
func.func @sums(%x: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %e = tensor.empty() : tensor<16x4xf32>
  %a = tw.dispatch @row(%x) outs(%e) : (tensor<16x4xf32>) outs(tensor<16x4xf32>) -> tensor<16x4xf32> loc("a")
  %b = tw.dispatch @row(%a) outs(%e) : (tensor<16x4xf32>) outs(tensor<16x4xf32>) -> tensor<16x4xf32> loc("b")
  %c = tw.dispatch @row(%b) outs(%e) : (tensor<16x4xf32>) outs(tensor<16x4xf32>) -> tensor<16x4xf32> loc("c")
  return %c : tensor<16x4xf32>
}
tile.kernel @row(in %x: !tile.buffer<[16, 4], f32>, out %y: !tile.buffer<[16, 4], f32>) grid [16] {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %0 = tile.load %x[%i, %c0] : !tile.buffer<[16, 4], f32> -> tensor<1x4xf32>
  %1 = tile.scan sum %0 axis 1 : tensor<1x4xf32>
  tile.store %1, %y[%i, %c0] : tensor<1x4xf32>, !tile.buffer<[16, 4], f32>
}
}

// -----

// And not where it forbids it.
// CHECK-LABEL: func.func @forbidden
// CHECK-COUNT-2: tw.dispatch @square(
module attributes {tw.wanted_decisions = [#tw.decision<fuse["a", "b"] false>]} {
func.func @forbidden(%x: tensor<40x8xf32>, %w: tensor<8x8xf32>) -> tensor<40x8xf32> {
  %e = tensor.empty() : tensor<40x8xf32>
  %a = tw.dispatch @square(%x, %w) outs(%e) : (tensor<40x8xf32>, tensor<8x8xf32>) outs(tensor<40x8xf32>) -> tensor<40x8xf32> loc("a")
  %b = tw.dispatch @square(%a, %w) outs(%e) : (tensor<40x8xf32>, tensor<8x8xf32>) outs(tensor<40x8xf32>) -> tensor<40x8xf32> loc("b")
  return %b : tensor<40x8xf32>
}
tile.kernel @square(in %x: !tile.buffer<[40, 8], f32>, in %w: !tile.buffer<[8, 8], f32>, out %y: !tile.buffer<[40, 8], f32>) grid [5] {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %i = tile.program_id 0
  %m = arith.muli %i, %c8 : index
  %acc = tile.full %zero : f32 -> tensor<8x8xf32>
  %0 = tile.load %x[%m, %c0] : !tile.buffer<[40, 8], f32> -> tensor<8x8xf32>
  %1 = tile.load %w[%c0, %c0] : !tile.buffer<[8, 8], f32> -> tensor<8x8xf32>
  %2 = tile.dot %0, %1, %acc : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  tile.store %2, %y[%m, %c0] : tensor<8x8xf32>, !tile.buffer<[40, 8], f32>
}
}

// -----

// What it asks for and cannot have, with the reason.
// CHECK: tw.decisions = [#tw.decision<fuse["a", "b"] false because "its programs do not store blocks of rows">]
// CHECK-LABEL: func.func @impossible
module attributes {tw.wanted_decisions = [#tw.decision<fuse["a", "b"] true>]} {
func.func @impossible(%x: tensor<16x4xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16x4xf32>
  %f = tensor.empty() : tensor<16xf32>
  %a = tw.dispatch @row(%x) outs(%e) : (tensor<16x4xf32>) outs(tensor<16x4xf32>) -> tensor<16x4xf32> loc("a")
  %b = tw.dispatch @sums(%a) outs(%f) : (tensor<16x4xf32>) outs(tensor<16xf32>) -> tensor<16xf32> loc("b")
  return %b : tensor<16xf32>
}
tile.kernel @row(in %x: !tile.buffer<[16, 4], f32>, out %y: !tile.buffer<[16, 4], f32>) grid [16] {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %0 = tile.load %x[%i, %c0] : !tile.buffer<[16, 4], f32> -> tensor<1x4xf32>
  %1 = tile.scan sum %0 axis 1 : tensor<1x4xf32>
  tile.store %1, %y[%i, %c0] : tensor<1x4xf32>, !tile.buffer<[16, 4], f32>
}
tile.kernel @sums(in %x: !tile.buffer<[16, 4], f32>, out %y: !tile.buffer<[16], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%c0, %c0] : !tile.buffer<[16, 4], f32> -> tensor<16x4xf32>
  %1 = tile.reduce sum %0 axis 1 : tensor<16x4xf32> -> tensor<16xf32>
  tile.store %1, %y[%c0] : tensor<16xf32>, !tile.buffer<[16], f32>
}
}

// -----

// A variant for many workers is not fused, for blocks of rows keep these busy.
// VARIANT: remark: variant product_many is left out: blocks of rows keep many workers busy
// CHECK-LABEL: func.func @variant
// CHECK: tw.dispatch @product_0(
// CHECK-NOT: tile.variants
// CHECK-NOT: @product_many
func.func @variant(%x: tensor<64x16xf32>, %w: tensor<16x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<64x16xf32>
  %a = tw.dispatch @product(%x, %w) outs(%e) : (tensor<64x16xf32>, tensor<16x16xf32>) outs(tensor<64x16xf32>) -> tensor<64x16xf32>
  %b = tw.dispatch @product(%a, %w) outs(%e) : (tensor<64x16xf32>, tensor<16x16xf32>) outs(tensor<64x16xf32>) -> tensor<64x16xf32>
  return %b : tensor<64x16xf32>
}
tile.kernel @product(in %a: !tile.buffer<[64, 16], f32>, in %b: !tile.buffer<[16, 16], f32>, out %c: !tile.buffer<[64, 16], f32>)
    grid [8] attributes {tile.variants = [@product_many]} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = arith.constant 8 : index
  %i = tile.program_id 0
  %m = arith.muli %i, %rows : index
  %acc = tile.full %zero : f32 -> tensor<8x16xf32>
  %x = tile.load %a[%m, %c0] : !tile.buffer<[64, 16], f32> -> tensor<8x16xf32>
  %w = tile.load %b[%c0, %c0] : !tile.buffer<[16, 16], f32> -> tensor<16x16xf32>
  %r = tile.dot %x, %w, %acc : tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
  tile.store %r, %c[%m, %c0] : tensor<8x16xf32>, !tile.buffer<[64, 16], f32>
}
tile.kernel @product_many(in %a: !tile.buffer<[64, 16], f32>, in %b: !tile.buffer<[16, 16], f32>, out %c: !tile.buffer<[64, 16], f32>)
    grid [16] attributes {tile.workers = 8} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = arith.constant 4 : index
  %i = tile.program_id 0
  %m = arith.muli %i, %rows : index
  %acc = tile.full %zero : f32 -> tensor<4x16xf32>
  %x = tile.load %a[%m, %c0] : !tile.buffer<[64, 16], f32> -> tensor<4x16xf32>
  %w = tile.load %b[%c0, %c0] : !tile.buffer<[16, 16], f32> -> tensor<16x16xf32>
  %r = tile.dot %x, %w, %acc : tensor<4x16xf32>, tensor<16x16xf32>, tensor<4x16xf32>
  tile.store %r, %c[%m, %c0] : tensor<4x16xf32>, !tile.buffer<[64, 16], f32>
}
