// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s
// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -tile-fuse | FileCheck %s --check-prefix=FUSED

// What is added to a product before a norm is a kernel of its own, which fusion puts where the product is stored: so f16 goes
// to memory, not the product's sums in f32.
// CHECK: tile.kernel @k0_0(
// CHECK-SAME: out %out2: !tile.buffer<[64, 96], f32>)
// CHECK: tile.kernel @k0_1(
// CHECK-SAME: out %out2: !tile.buffer<[64, 96], f16>)
// CHECK-NOT: tile.reduce
// CHECK: tile.kernel @k0_2(
// CHECK-SAME: out %out1: !tile.buffer<[64], f32>)
// CHECK: tile.reduce
// A product that is a result is written anyway: what is added to it is computed where it is summed up.
// CHECK: tile.kernel @k1_0(
// CHECK-SAME: out %out2: !tile.buffer<[64, 96], f32>)
// CHECK: tile.kernel @k1_1(
// CHECK: tile.reduce
// CHECK-NOT: tile.kernel
// FUSED: tile.kernel @{{.*}}out %{{.*}}: !tile.buffer<[64, 96], f16>)
// FUSED: tile.dot
// FUSED: arith.truncf
// FUSED: tile.kernel
// FUSED: tile.reduce
func.func @main(%a: tensor<64x32xf16>, %b: tensor<96x32xf16>, %x: tensor<64x96xf16>) -> (tensor<64xf32>, tensor<64x96xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %y = tw.dispatch @k0(%a, %b, %x) outs(%e) : (tensor<64x32xf16>, tensor<96x32xf16>, tensor<64x96xf16>)
       outs(tensor<64xf32>) -> tensor<64xf32>
  %w = tensor.empty() : tensor<64x96xf32>
  %z:2 = tw.dispatch @k1(%a, %b, %x) outs(%w, %e) : (tensor<64x32xf16>, tensor<96x32xf16>, tensor<64x96xf16>)
         outs(tensor<64x96xf32>, tensor<64xf32>) -> tensor<64x96xf32>, tensor<64xf32>
  return %y, %z#0, %z#1 : tensor<64xf32>, tensor<64x96xf32>, tensor<64xf32>
}
func.func private @k0(%a: tensor<64x32xf16>, %b: tensor<96x32xf16>, %x: tensor<64x96xf16>, %out: tensor<64xf32>)
    -> tensor<64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<64x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%wide : tensor<64x96xf32>) -> tensor<64x96xf32>
  %c = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x32xf16>, tensor<96x32xf16>) outs(%init : tensor<64x96xf32>) {
  ^bb0(%p: f16, %q: f16, %sum: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.extf %q : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x96xf32>
  %narrow = tensor.empty() : tensor<64x96xf16>
  %added = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%c, %x : tensor<64x96xf32>, tensor<64x96xf16>) outs(%narrow : tensor<64x96xf16>) {
  ^bb0(%p: f32, %q: f16, %o: f16):
    %0 = arith.extf %q : f16 to f32
    %1 = arith.addf %p, %0 : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<64x96xf16>
  %nothing = linalg.fill ins(%zero : f32) outs(%out : tensor<64xf32>) -> tensor<64xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%added : tensor<64x96xf16>) outs(%nothing : tensor<64xf32>) {
  ^bb0(%p: f16, %sum: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %sums : tensor<64xf32>
}
func.func private @k1(%a: tensor<64x32xf16>, %b: tensor<96x32xf16>, %x: tensor<64x96xf16>, %whole: tensor<64x96xf32>, %out: tensor<64xf32>)
    -> (tensor<64x96xf32>, tensor<64xf32>) attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%whole : tensor<64x96xf32>) -> tensor<64x96xf32>
  %c = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x32xf16>, tensor<96x32xf16>) outs(%init : tensor<64x96xf32>) {
  ^bb0(%p: f16, %q: f16, %sum: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.extf %q : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x96xf32>
  %narrow = tensor.empty() : tensor<64x96xf16>
  %added = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%c, %x : tensor<64x96xf32>, tensor<64x96xf16>) outs(%narrow : tensor<64x96xf16>) {
  ^bb0(%p: f32, %q: f16, %o: f16):
    %0 = arith.extf %q : f16 to f32
    %1 = arith.addf %p, %0 : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<64x96xf16>
  %nothing = linalg.fill ins(%zero : f32) outs(%out : tensor<64xf32>) -> tensor<64xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%added : tensor<64x96xf16>) outs(%nothing : tensor<64xf32>) {
  ^bb0(%p: f16, %sum: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %c, %sums : tensor<64x96xf32>, tensor<64xf32>
}
