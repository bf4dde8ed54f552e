// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s

#q = affine_map<(b, h, l, s, e, f) -> (b, l, h, e)>
#k = affine_map<(b, h, l, s, e, f) -> (b, s, h, e)>
#v = affine_map<(b, h, l, s, e, f) -> (b, s, h, f)>
#o = affine_map<(b, h, l, s, e, f) -> (b, l, h, f)>

// One pass over the keys: whole blocks, then those of which some are later than a query. Heads are
// read where they lie; the reshape after it is the host's.
// CHECK-LABEL: func.func @main
// CHECK: tw.dispatch @k0(
// CHECK: tile.kernel @k0(in %[[Q:[a-z0-9]+]]: !tile.buffer<[2, 300, 4, 64], f32>,
// CHECK-SAME: "attention" {groups = 1 : i64
// CHECK: %[[QUERIES:.*]] = tile.load %[[Q]]
// CHECK: tile.for
// CHECK: tile.dot
// CHECK: tile.reduce
// CHECK: math.exp
// CHECK: tile.dot
// CHECK-NOT: arith.cmpi
// CHECK: tile.for
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: arith.divf
// CHECK: tile.store
// CHECK-NOT: tile.kernel
func.func @main(%q: tensor<2x300x4x64xf32>, %k: tensor<2x300x4x64xf32>) -> tensor<2x300x4x64xf32> {
  %e = tensor.empty() : tensor<2x300x4x64xf32>
  %y = tw.dispatch @k0(%q, %k) outs(%e) : (tensor<2x300x4x64xf32>, tensor<2x300x4x64xf32>)
       outs(tensor<2x300x4x64xf32>) -> tensor<2x300x4x64xf32>
  return %y : tensor<2x300x4x64xf32>
}
func.func private @k0(%q: tensor<2x300x4x64xf32>, %k: tensor<2x300x4x64xf32>, %out: tensor<2x300x4x64xf32>)
    -> tensor<2x300x4x64xf32> attributes {tw.kernel} {
  %scale = arith.constant 0.125 : f64
  %y = tw.attention causal ins(%q, %k, %k : tensor<2x300x4x64xf32>, tensor<2x300x4x64xf32>, tensor<2x300x4x64xf32>)
      scale %scale outs(%out : tensor<2x300x4x64xf32>) {indexing_maps = [#q, #k, #v, #o]}
      -> tensor<2x300x4x64xf32>
  return %y : tensor<2x300x4x64xf32>
}
