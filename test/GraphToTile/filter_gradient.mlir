// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -split-input-file | FileCheck %s

// The gradient of a filter is a product for each tap, a dimension of the grid each, whose programs
// follow each other. A trip of the loop along K has 14 of 28 lines of an image,
// 196 terms, as a box of each operand.
// CHECK-LABEL: tile.kernel @gradient(in %in0: !tile.buffer<[2, 28, 14, 16], f32>, in %in1: !tile.buffer<[2, 57, 29, 24], f32>,
// CHECK-SAME: grid [3, 3] attributes {tile.block = array<i64: 3, 3>
// CHECK: %[[KH:.*]] = tile.program_id 0
// CHECK: %[[KW:.*]] = tile.program_id 1
// CHECK: tile.for %[[T:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[BLOCK:.*]] = arith.remsi %[[T]], %{{.*}} : index
// CHECK: %[[N:.*]] = arith.divsi %[[T]], %{{.*}} : index
// CHECK: tile.load %in0[%[[N]], %{{.*}}, %{{.*}}, %{{.*}}] : !tile.buffer<[2, 28, 14, 16], f32> -> tensor<1x14x14x16xf32>
// CHECK: tile.reshape {{.*}} -> tensor<196x16xf32>
// CHECK: tile.transpose {{.*}} -> tensor<16x196xf32>
// CHECK: arith.addi %{{.*}}, %[[KH]] : index
// CHECK: tile.load %in1[%[[N]], %{{.*}}, %[[KW]], %{{.*}}] strides [1, 2, 2, 1] : !tile.buffer<[2, 57, 29, 24], f32> -> tensor<1x14x14x24xf32>
// CHECK: tile.dot {{.*}} tensor<16x196xf32>, tensor<196x24xf32>, tensor<16x24xf32>
func.func private @gradient(%dy: tensor<2x28x14x16xf32>, %x: tensor<2x57x29x24xf32>, %out: tensor<3x3x16x24xf32>)
    -> tensor<3x3x16x24xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<3x3x16x24xf32>) -> tensor<3x3x16x24xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, c, n, y, x) -> (n, y, x, o)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (n, y * 2 + kh, x * 2 + kw, c)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (kh, kw, o, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %x : tensor<2x28x14x16xf32>, tensor<2x57x29x24xf32>) outs(%f : tensor<3x3x16x24xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<3x3x16x24xf32>
  return %g : tensor<3x3x16x24xf32>
}

// -----

// Of any number of images, of which both operands have as many, with taps at a distance. The longer one
// of the innermost dimensions has vectors: outputs here, though they lie apart in the result.
// CHECK-LABEL: tile.kernel @any_batch{{.*}}(in %in0: !tile.buffer<[d0, 30, 7, 96], f32>, in %in1: !tile.buffer<[d0, 34, 11, 8], f32>,
// CHECK: %[[IMAGES:.*]] = tile.size d0
// CHECK: tile.for %[[N:.*]] = %{{.*}} to %[[IMAGES]] step
// CHECK: tile.load %in1[%[[N]], {{.*}} : !tile.buffer<[d0, 34, 11, 8], f32> -> tensor<1x30x7x8xf32>
// CHECK: tile.transpose {{.*}} -> tensor<8x210xf32>
// CHECK: tile.load %in0[%[[N]], {{.*}} : !tile.buffer<[d0, 30, 7, 96], f32> -> tensor<1x30x7x96xf32>
// CHECK: tile.dot {{.*}} tensor<8x210xf32>, tensor<210x96xf32>
func.func private @any_batch(%dy: tensor<?x30x7x96xf32>, %x: tensor<?x34x11x8xf32>, %out: tensor<3x3x96x8xf32>)
    -> tensor<3x3x96x8xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<3x3x96x8xf32>) -> tensor<3x3x96x8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, c, n, y, x) -> (n, y, x, o)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (n, y + kh * 2, x + kw * 2, c)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (kh, kw, o, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %x : tensor<?x30x7x96xf32>, tensor<?x34x11x8xf32>) outs(%f : tensor<3x3x96x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<3x3x96x8xf32>
  return %g : tensor<3x3x96x8xf32>
}

// -----

// Few channels: a fold takes all taps at once.
// CHECK-LABEL: tile.kernel @few_channels
// CHECK-NOT: tile.dot
// CHECK: tile.store
func.func private @few_channels(%dy: tensor<2x14x14x16xf32>, %x: tensor<2x16x16x3xf32>, %out: tensor<3x3x16x3xf32>)
    -> tensor<3x3x16x3xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<3x3x16x3xf32>) -> tensor<3x3x16x3xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, c, n, y, x) -> (n, y, x, o)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (n, y + kh, x + kw, c)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (kh, kw, o, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %x : tensor<2x14x14x16xf32>, tensor<2x16x16x3xf32>) outs(%f : tensor<3x3x16x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<3x3x16x3xf32>
  return %g : tensor<3x3x16x3xf32>
}

// -----

// A convolution as loops has many places and few taps: what moves the window are no taps.
// CHECK-LABEL: tile.kernel @forward
// CHECK-NOT: tile.dot
// CHECK: tile.store
func.func private @forward(%x: tensor<8x16x16x32xf32>, %w: tensor<3x3x32x64xf32>, %out: tensor<8x14x14x64xf32>)
    -> tensor<8x14x14x64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<8x14x14x64xf32>) -> tensor<8x14x14x64xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(n, y, x, o, kh, kw, c) -> (n, y + kh, x + kw, c)>,
                                        affine_map<(n, y, x, o, kh, kw, c) -> (kh, kw, c, o)>,
                                        affine_map<(n, y, x, o, kh, kw, c) -> (n, y, x, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<8x16x16x32xf32>, tensor<3x3x32x64xf32>) outs(%f : tensor<8x14x14x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x14x14x64xf32>
  return %g : tensor<8x14x14x64xf32>
}
