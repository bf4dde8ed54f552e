// RUN: tilewright-opt %s -tile-update-in-place -tile-simplify -split-input-file | FileCheck %s

// A step of an optimiser: momentum and parameter are state, and each element is read by the program
// that writes it.
// CHECK-LABEL: tile.kernel @step(
// CHECK-SAME: in %m: {{.*}}, in %p: {{.*}}, in %g: {{.*}}, inout %next_m: {{.*}}, inout %next_p:
// CHECK-SAME: tile.begins = array<i64: 0, 3, 1, 4>
// CHECK-DAG: tile.load %next_m[
// CHECK-DAG: tile.load %next_p[
// CHECK-DAG: tile.load %g[
// CHECK-NOT: tile.load %m[
func.func @main(%m: tensor<4096xf32> {tw.name = "m", tw.role = "state"}, %p: tensor<4096xf32> {tw.name = "p", tw.role = "state"},
    %g: tensor<4096xf32> {tw.name = "g", tw.role = "input"})
    -> (tensor<4096xf32> {tw.name = "m", tw.role = "state", tw.state = "m"}, tensor<4096xf32> {tw.name = "p", tw.role = "state", tw.state = "p"}) {
  %e = tensor.empty() : tensor<4096xf32>
  %y:2 = tw.dispatch @step(%m, %p, %g) outs(%e, %e) : (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>)
       outs(tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>, tensor<4096xf32>
  return %y#0, %y#1 : tensor<4096xf32>, tensor<4096xf32>
}
tile.kernel @step(in %m: !tile.buffer<[4096], f32>, in %p: !tile.buffer<[4096], f32>, in %g: !tile.buffer<[4096], f32>,
    out %next_m: !tile.buffer<[4096], f32>, out %next_p: !tile.buffer<[4096], f32>) grid [4] attributes {tile.destinations} {
  %c1024 = arith.constant 1024 : index
  %i = tile.program_id 0
  %at = arith.muli %i, %c1024 : index
  %0 = tile.load %m[%at] : !tile.buffer<[4096], f32> -> tensor<1024xf32>
  %1 = tile.load %g[%at] : !tile.buffer<[4096], f32> -> tensor<1024xf32>
  %2 = arith.addf %0, %1 : tensor<1024xf32>
  %3 = tile.load %p[%at] : !tile.buffer<[4096], f32> -> tensor<1024xf32>
  %4 = arith.subf %3, %2 : tensor<1024xf32>
  tile.store %2, %next_m[%at] : tensor<1024xf32>, !tile.buffer<[4096], f32>
  tile.store %4, %next_p[%at] : tensor<1024xf32>, !tile.buffer<[4096], f32>
}

// -----

// A row of a cache, an input that is written to, found with a mask of positions: only it is stored.
// CHECK-LABEL: tile.kernel @row(
// CHECK-SAME: inout %next:
// CHECK-NOT: tile.load %cache
// CHECK-NOT: tile.load %next
// CHECK: tile.store %{{.*}}, %next[%{{.*}}] mask %
func.func @main(%cache: tensor<64x8xf32> {tw.name = "cache", tw.role = "input"}, %row: tensor<1x8xf32> {tw.name = "row", tw.role = "input"},
    %at: tensor<i64> {tw.name = "at", tw.role = "input"}) -> (tensor<64x8xf32> {tw.input = "cache", tw.name = "cache", tw.role = "input_mutation"}) {
  %e = tensor.empty() : tensor<64x8xf32>
  %y = tw.dispatch @row(%cache, %row, %at) outs(%e) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i64>) outs(tensor<64x8xf32>) -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
tile.kernel @row(in %cache: !tile.buffer<[64, 8], f32>, in %row: !tile.buffer<[1, 8], f32>, in %at: !tile.buffer<[], i64>,
    out %next: !tile.buffer<[64, 8], f32>) grid [1] attributes {tile.destinations} {
  %c0 = arith.constant 0 : index
  %0 = tile.load %at[] : !tile.buffer<[], i64> -> tensor<i64>
  %1 = tile.reshape %0 : tensor<i64> -> tensor<1x1xi64>
  %2 = tile.broadcast %1 : tensor<1x1xi64> -> tensor<64x8xi64>
  %3 = tile.iota 0 from %c0 : tensor<64x8xi64>
  %4 = arith.cmpi eq, %3, %2 : tensor<64x8xi64>
  %5 = tile.load %row[%c0, %c0] : !tile.buffer<[1, 8], f32> -> tensor<1x8xf32>
  %6 = tile.broadcast %5 : tensor<1x8xf32> -> tensor<64x8xf32>
  %7 = tile.load %cache[%c0, %c0] : !tile.buffer<[64, 8], f32> -> tensor<64x8xf32>
  %8 = arith.select %4, %6, %7 : tensor<64x8xi1>, tensor<64x8xf32>
  tile.store %8, %next[%c0, %c0] : tensor<64x8xf32>, !tile.buffer<[64, 8], f32>
}

// -----

// Elements are read by other programs than those that write them.
// CHECK-LABEL: tile.kernel @moved(
// CHECK-NOT: inout
func.func @main(%s: tensor<4096xf32> {tw.name = "s", tw.role = "state"}) -> (tensor<4096xf32> {tw.name = "s", tw.role = "state", tw.state = "s"}) {
  %e = tensor.empty() : tensor<4096xf32>
  %y = tw.dispatch @moved(%s) outs(%e) : (tensor<4096xf32>) outs(tensor<4096xf32>) -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}
tile.kernel @moved(in %s: !tile.buffer<[4096], f32>, out %next: !tile.buffer<[4096], f32>) grid [4] attributes {tile.destinations} {
  %c1024 = arith.constant 1024 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %at = arith.muli %i, %c1024 : index
  %from = arith.addi %at, %c1 : index
  %0 = tile.load %s[%from] : !tile.buffer<[4096], f32> -> tensor<1024xf32>
  tile.store %0, %next[%at] : tensor<1024xf32>, !tile.buffer<[4096], f32>
}

// -----

// Somebody reads the old value afterwards.
// CHECK-LABEL: tile.kernel @twice(
// CHECK-NOT: inout
func.func @main(%s: tensor<8xf32> {tw.name = "s", tw.role = "state"})
    -> (tensor<8xf32> {tw.name = "old", tw.role = "output"}, tensor<8xf32> {tw.name = "s", tw.role = "state", tw.state = "s"}) {
  %e = tensor.empty() : tensor<8xf32>
  %y = tw.dispatch @twice(%s) outs(%e) : (tensor<8xf32>) outs(tensor<8xf32>) -> tensor<8xf32>
  return %s, %y : tensor<8xf32>, tensor<8xf32>
}
tile.kernel @twice(in %s: !tile.buffer<[8], f32>, out %next: !tile.buffer<[8], f32>) grid [1] attributes {tile.destinations} {
  %c0 = arith.constant 0 : index
  %0 = tile.load %s[%c0] : !tile.buffer<[8], f32> -> tensor<8xf32>
  %1 = arith.addf %0, %0 : tensor<8xf32>
  tile.store %1, %next[%c0] : tensor<8xf32>, !tile.buffer<[8], f32>
}

// -----

// Two updates follow each other; each stores a part, and what only copied the rest goes.
// CHECK-LABEL: tile.kernel @first(
// CHECK-SAME: inout %next:
// CHECK-COUNT-1: tile.store
// CHECK-NOT: tile.store
// CHECK-LABEL: tile.kernel @second(
// CHECK-SAME: in %s: !tile.buffer<[4, 8], f32>, inout %next: !tile.buffer<[4, 8], f32>)
// CHECK-SAME: tile.begins = array<i64: 0, 1>
// CHECK: tile.load %next[{{.*}}] {{.*}} -> tensor<1x2xf32>
// CHECK: tile.store {{.*}}, %next[
// CHECK-NOT: tile.store
func.func @main(%s: tensor<4x8xf32> {tw.name = "s", tw.role = "state"}, %x: tensor<1xf32> {tw.name = "x", tw.role = "input"})
    -> (tensor<4x8xf32> {tw.name = "s", tw.role = "state", tw.state = "s"}) {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = tw.dispatch @first(%s, %x) outs(%e) : (tensor<4x8xf32>, tensor<1xf32>) outs(tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = tw.dispatch @second(%y, %y) outs(%e) : (tensor<4x8xf32>, tensor<4x8xf32>) outs(tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
tile.kernel @first(in %s: !tile.buffer<[4, 8], f32>, in %x: !tile.buffer<[1], f32>, out %next: !tile.buffer<[4, 8], f32>) grid [1] attributes {tile.destinations} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %0 = tile.load %s[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  tile.store %0, %next[%c0, %c0] : tensor<4x8xf32>, !tile.buffer<[4, 8], f32>
  %1 = tile.load %x[%c0] : !tile.buffer<[1], f32> -> tensor<1xf32>
  %2 = tile.reshape %1 : tensor<1xf32> -> tensor<1x1xf32>
  tile.store %2, %next[%c3, %c3] : tensor<1x1xf32>, !tile.buffer<[4, 8], f32>
}
tile.kernel @second(in %s: !tile.buffer<[4, 8], f32>, in %part: !tile.buffer<[4, 8], f32>, out %next: !tile.buffer<[4, 8], f32>) grid [4] attributes {tile.destinations} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %0 = tile.load %s[%i, %c0] : !tile.buffer<[4, 8], f32> -> tensor<1x8xf32>
  tile.store %0, %next[%i, %c0] : tensor<1x8xf32>, !tile.buffer<[4, 8], f32>
  %1 = tile.load %part[%i, %c1] : !tile.buffer<[4, 8], f32> -> tensor<1x2xf32>
  %2 = arith.addf %1, %1 : tensor<1x2xf32>
  tile.store %2, %next[%i, %c1] : tensor<1x2xf32>, !tile.buffer<[4, 8], f32>
}

// -----

// A part that is read after another one of it was written, and one of another program's box.
// CHECK-LABEL: tile.kernel @late(
// CHECK-NOT: inout
// CHECK-LABEL: tile.kernel @neighbour(
// CHECK-NOT: inout
func.func @main(%s: tensor<4x8xf32> {tw.name = "s", tw.role = "state"}, %t: tensor<4x8xf32> {tw.name = "t", tw.role = "state"})
    -> (tensor<4x8xf32> {tw.name = "s", tw.role = "state", tw.state = "s"}, tensor<4x8xf32> {tw.name = "t", tw.role = "state", tw.state = "t"}) {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = tw.dispatch @late(%s) outs(%e) : (tensor<4x8xf32>) outs(tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = tw.dispatch @neighbour(%t) outs(%e) : (tensor<4x8xf32>) outs(tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}
tile.kernel @late(in %s: !tile.buffer<[4, 8], f32>, out %next: !tile.buffer<[4, 8], f32>) grid [1] attributes {tile.destinations} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tile.load %s[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  tile.store %0, %next[%c0, %c0] : tensor<4x8xf32>, !tile.buffer<[4, 8], f32>
  %1 = tile.load %s[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<1x8xf32>
  tile.store %1, %next[%c1, %c0] : tensor<1x8xf32>, !tile.buffer<[4, 8], f32>
  %2 = tile.load %s[%c1, %c0] : !tile.buffer<[4, 8], f32> -> tensor<1x8xf32>
  tile.store %2, %next[%c0, %c0] : tensor<1x8xf32>, !tile.buffer<[4, 8], f32>
}
tile.kernel @neighbour(in %s: !tile.buffer<[4, 8], f32>, out %next: !tile.buffer<[4, 8], f32>) grid [4] attributes {tile.destinations} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %0 = tile.load %s[%i, %c0] : !tile.buffer<[4, 8], f32> -> tensor<1x8xf32>
  tile.store %0, %next[%i, %c0] : tensor<1x8xf32>, !tile.buffer<[4, 8], f32>
  %1 = tile.load %s[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<1x8xf32>
  tile.store %1, %next[%i, %c0] : tensor<1x8xf32>, !tile.buffer<[4, 8], f32>
}
