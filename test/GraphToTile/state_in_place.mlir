// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -split-input-file | FileCheck %s

// A row of a cache is written where the cache lies: its next value begins as the old one, which nobody
// reads afterwards.
// CHECK-LABEL: func.func @main
// CHECK: tile.kernel @k0(
// CHECK-SAME: inout %[[OUT:[a-z0-9]+]]: !tile.buffer<[64, 8], f32>
// CHECK-SAME: tile.begins = array<i64: 0, 3>
// CHECK-COUNT-1: tile.store
// CHECK-NOT: tile.store
func.func @main(%cache: tensor<64x8xf32> {tw.name = "cache", tw.role = "state"}, %row: tensor<1x8xf32> {tw.name = "row", tw.role = "input"},
    %at: tensor<1xi64> {tw.name = "at", tw.role = "input"}) -> (tensor<64x8xf32> {tw.name = "out", tw.role = "output", tw.state = "cache"}) {
  %e = tensor.empty() : tensor<64x8xf32>
  %y = tw.dispatch @k0(%cache, %row, %at) outs(%e) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<1xi64>)
       outs(tensor<64x8xf32>) -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
func.func private @k0(%cache: tensor<64x8xf32>, %row: tensor<1x8xf32>, %at: tensor<1xi64>, %out: tensor<64x8xf32>)
    -> tensor<64x8xf32> attributes {tw.kernel} {
  %c64 = arith.constant 64 : index
  %c = linalg.copy ins(%cache : tensor<64x8xf32>) outs(%out : tensor<64x8xf32>) -> tensor<64x8xf32>
  %y = tw.scatter set ins(%row, %at : tensor<1x8xf32>, tensor<1xi64>) outs(%c : tensor<64x8xf32>)
      attributes {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>]} {
  ^bb0(%a: f32, %n: i64):
    %p = arith.index_cast %n : i64 to index
    %s = tw.check_index %p in %c64, "row %lld of %lld"
    %j = tw.index 1
    tw.yield %s, %j, %a : index, index, f32
  } -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// -----

// The old value is an output, too: it is copied.
// CHECK-LABEL: func.func @main
// CHECK: tile.kernel @k0(
// CHECK-NOT: inout
// CHECK-COUNT-2: tile.store
func.func @main(%cache: tensor<64x8xf32> {tw.name = "cache", tw.role = "state"}, %row: tensor<1x8xf32> {tw.name = "row", tw.role = "input"},
    %at: tensor<1xi64> {tw.name = "at", tw.role = "input"})
    -> (tensor<64x8xf32> {tw.name = "old", tw.role = "output"}, tensor<64x8xf32> {tw.name = "out", tw.role = "output", tw.state = "cache"}) {
  %e = tensor.empty() : tensor<64x8xf32>
  %y = tw.dispatch @k0(%cache, %row, %at) outs(%e) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<1xi64>)
       outs(tensor<64x8xf32>) -> tensor<64x8xf32>
  return %cache, %y : tensor<64x8xf32>, tensor<64x8xf32>
}
func.func private @k0(%cache: tensor<64x8xf32>, %row: tensor<1x8xf32>, %at: tensor<1xi64>, %out: tensor<64x8xf32>)
    -> tensor<64x8xf32> attributes {tw.kernel} {
  %c64 = arith.constant 64 : index
  %c = linalg.copy ins(%cache : tensor<64x8xf32>) outs(%out : tensor<64x8xf32>) -> tensor<64x8xf32>
  %y = tw.scatter set ins(%row, %at : tensor<1x8xf32>, tensor<1xi64>) outs(%c : tensor<64x8xf32>)
      attributes {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>]} {
  ^bb0(%a: f32, %n: i64):
    %p = arith.index_cast %n : i64 to index
    %s = tw.check_index %p in %c64, "row %lld of %lld"
    %j = tw.index 1
    tw.yield %s, %j, %a : index, index, f32
  } -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// -----

// Rows that move: each would be read after it was written.
// CHECK-LABEL: func.func @main
// CHECK: tile.kernel @k0(
// CHECK-NOT: inout
func.func @main(%cache: tensor<64x8xf32> {tw.name = "cache", tw.role = "state"})
    -> (tensor<64x8xf32> {tw.name = "out", tw.role = "output", tw.state = "cache"}) {
  %e = tensor.empty() : tensor<64x8xf32>
  %y = tw.dispatch @k0(%cache) outs(%e) : (tensor<64x8xf32>) outs(tensor<64x8xf32>) -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
func.func private @k0(%cache: tensor<64x8xf32>, %out: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {tw.kernel} {
  %s = tensor.extract_slice %cache[0, 0] [63, 8] [1, 1] : tensor<64x8xf32> to tensor<63x8xf32>
  %c = linalg.copy ins(%cache : tensor<64x8xf32>) outs(%out : tensor<64x8xf32>) -> tensor<64x8xf32>
  %y = tensor.insert_slice %s into %c[1, 0] [63, 8] [1, 1] : tensor<63x8xf32> into tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// -----

// A slice that is set.
// CHECK-LABEL: func.func @main
// CHECK: tile.kernel @k0(
// CHECK-SAME: inout
// CHECK-COUNT-1: tile.store
// CHECK-NOT: tile.store
func.func @main(%cache: tensor<64x8xf32> {tw.name = "cache", tw.role = "state"}, %rows: tensor<4x8xf32> {tw.name = "rows", tw.role = "input"})
    -> (tensor<64x8xf32> {tw.name = "out", tw.role = "output", tw.state = "cache"}) {
  %e = tensor.empty() : tensor<64x8xf32>
  %y = tw.dispatch @k0(%cache, %rows) outs(%e) : (tensor<64x8xf32>, tensor<4x8xf32>) outs(tensor<64x8xf32>) -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
func.func private @k0(%cache: tensor<64x8xf32>, %rows: tensor<4x8xf32>, %out: tensor<64x8xf32>)
    -> tensor<64x8xf32> attributes {tw.kernel} {
  %c = linalg.copy ins(%cache : tensor<64x8xf32>) outs(%out : tensor<64x8xf32>) -> tensor<64x8xf32>
  %y = tensor.insert_slice %rows into %c[10, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}
