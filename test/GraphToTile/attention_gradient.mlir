// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s

#q = affine_map<(b, h, g, l, s, e, f) -> (b, h, g, l, e)>
#k = affine_map<(b, h, g, l, s, e, f) -> (b, h, s, e)>
#v = affine_map<(b, h, g, l, s, e, f) -> (b, h, s, f)>
#o = affine_map<(b, h, g, l, s, e, f) -> (b, h, g, l, f)>
#r = affine_map<(b, h, g, l, s, e, f) -> (b, h, g, l)>

// A kernel whose programs have queries and walk over keys, and one whose programs have keys and walk
// over groups and queries: whole blocks, and those of which some keys are later than a query.
// CHECK-LABEL: func.func @main
// CHECK: tw.dispatch @k0_0(
// CHECK: tw.dispatch @k0_1(
// CHECK: tile.kernel @k0_0(in %[[Q:[a-z0-9]+]]: !tile.buffer<[8, 2, 300, 64], f32>,
// CHECK-SAME: "attention_gradient" {keys =
// CHECK: tile.transpose
// CHECK: tile.for
// CHECK-COUNT-3: tile.dot
// CHECK-NOT: arith.cmpi sle
// CHECK: tile.for
// CHECK: arith.cmpi sle
// CHECK: tile.store
// CHECK: tile.kernel @k0_1(
// CHECK: tile.for
// CHECK: tile.for
// CHECK: arith.cmpi sle
// CHECK-COUNT-3: tile.dot
// CHECK: tile.for
// CHECK-NOT: arith.cmpi sle
// CHECK: tile.store
// CHECK: tile.store
// CHECK-NOT: tile.kernel
func.func @main(%q: tensor<2x4x2x300x64xf32>, %k: tensor<2x4x300x64xf32>, %l: tensor<2x4x2x300xf32>)
    -> (tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>) {
  %e = tensor.empty() : tensor<2x4x2x300x64xf32>
  %d = tensor.empty() : tensor<2x4x300x64xf32>
  %y:3 = tw.dispatch @k0(%q, %k, %l) outs(%e, %d, %d)
      : (tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x2x300xf32>)
       outs(tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>)
      -> tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>
  return %y#0, %y#1, %y#2 : tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>
}
func.func private @k0(%q: tensor<2x4x2x300x64xf32>, %k: tensor<2x4x300x64xf32>, %l: tensor<2x4x2x300xf32>,
    %dq: tensor<2x4x2x300x64xf32>, %dk: tensor<2x4x300x64xf32>, %dv: tensor<2x4x300x64xf32>)
    -> (tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>) attributes {tw.kernel} {
  %scale = arith.constant 0.125 : f64
  %y:3 = tw.attention_gradient wrt <query|key|value> causal
      ins(%q, %k, %k : tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>)
      output(%q, %l, %l : tensor<2x4x2x300x64xf32>, tensor<2x4x2x300xf32>, tensor<2x4x2x300xf32>)
      scale %scale outs(%dq, %dk, %dv : tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>)
      {indexing_maps = [#q, #k, #v, #o, #r, #r, #q, #k, #v]}
      -> tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>
  return %y#0, %y#1, %y#2 : tensor<2x4x2x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>
}
