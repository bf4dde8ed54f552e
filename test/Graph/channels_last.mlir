// RUN: tilewright-opt %s -tw-channels-last | FileCheck %s
// RUN: tilewright-opt %s -tw-channels-last -mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL

// Two convolutions and what stands between them run with channels last; few channels are read as they
// are, padded before, and weights in another order. What leaves the function is transposed back.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[X:.*]]: tensor<1x3x8x8xf32>
// CHECK: tw.weight <"w" {{.*}} strides[3, 1, 9, 27]> : tensor<3x3x3x16xf32>
// CHECK: tw.weight <"v" {{.*}} strides[3, 1, 9, 144]> : tensor<3x3x16x8xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK: tw.conv layout to_channels_last ins(%[[PADDED]], %{{.*}}) outs({{.*}} : tensor<1x8x8x16xf32>)
// CHECK-SAME: padding_low = array<i64: 0, 0>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x8x8x16xf32>, tensor<16xf32>)
// CHECK: tw.conv layout channels_last {{.*}} outs({{.*}} : tensor<1x8x8x8xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x8xf32>)
// LOCAL-LABEL: func.func @chain
// LOCAL: affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>
// LOCAL: affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @chain(%x: tensor<1x3x8x8xf32>, %bias: tensor<16xf32>) -> tensor<1x8x8x8xf32> {
  %w = tw.weight <"w" in "m"[0, 1728] start 0 strides[27, 9, 3, 1]> : tensor<16x3x3x3xf32>
  %v = tw.weight <"v" in "m"[1728, 4608] start 0 strides[144, 9, 3, 1]> : tensor<8x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %y = tw.conv ins(%x, %w : tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>)
      outs(%f : tensor<1x16x8x8xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x16x8x8xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>,
                       affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %bias : tensor<1x16x8x8xf32>, tensor<16xf32>) outs(%e : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x16x8x8xf32>
  %e2 = tensor.empty() : tensor<1x8x8x8xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %u = tw.conv ins(%z, %v : tensor<1x16x8x8xf32>, tensor<8x16x3x3xf32>)
      outs(%f2 : tensor<1x8x8x8xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x8x8x8xf32>
  return %u : tensor<1x8x8x8xf32>
}

// A product of many places that are read and returned with channels first stays as it is; one of few does not.
// CHECK-LABEL: func.func @alone
// CHECK-SAME: %[[X:.*]]: tensor<2x32x32x32xf32>, %[[FEW:.*]]: tensor<2x32x14x14xf32>
// CHECK-NOT: ins(%[[X]]
// CHECK: linalg.generic {{.*}} ins(%[[FEW]] : tensor<2x32x14x14xf32>) outs({{.*}} : tensor<2x14x14x32xf32>)
// CHECK: %[[W:.*]] = tw.weight <"w" {{.*}} strides[32, 1]> : tensor<12x32xf32>
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK-SAME: ins(%[[W]], %[[X]] : tensor<12x32xf32>, tensor<2x32x32x32xf32>) outs({{.*}} : tensor<2x12x32x32xf32>)
func.func @alone(%x: tensor<2x32x32x32xf32>, %few: tensor<2x32x14x14xf32>)
    -> (tensor<2x12x32x32xf32>, tensor<2x12x14x14xf32>) {
  %w = tw.weight <"w" in "m"[0, 1536] start 0 strides[32, 1, 1, 1]> : tensor<12x32x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x12x32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x12x32x32xf32>) -> tensor<2x12x32x32xf32>
  %y = tw.conv ins(%x, %w : tensor<2x32x32x32xf32>, tensor<12x32x1x1xf32>)
      outs(%f : tensor<2x12x32x32xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<2x12x32x32xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<2x12x32x32xf32>) outs(%e : tensor<2x12x32x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x12x32x32xf32>
  %e2 = tensor.empty() : tensor<2x12x14x14xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x12x14x14xf32>) -> tensor<2x12x14x14xf32>
  %u = tw.conv ins(%few, %w : tensor<2x32x14x14xf32>, tensor<12x32x1x1xf32>)
      outs(%f2 : tensor<2x12x14x14xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<2x12x14x14xf32>
  return %z, %u : tensor<2x12x32x32xf32>, tensor<2x12x14x14xf32>
}

// A window of one element is a product of all places; the mean over them, a padded and a joined tensor
// follow, and a reshape that cuts the channels.
// CHECK-LABEL: func.func @around
// CHECK-NOT: tw.conv
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<2x?x5x32xf32>, tensor<32x12xf32>)
// CHECK: tensor.pad {{.*}} low[0, 1, 0, 0] high[0, 2, 0, 0]
// CHECK: : tensor<2x?x5x12xf32> to tensor<2x?x5x12xf32>
// CHECK: tensor.concat dim(3) {{.*}} -> tensor<2x?x5x24xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2], [3, 4]] {{.*}} into tensor<2x?x5x4x6xf32>
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK-SAME: ins(%{{.*}} : tensor<2x?x5x4x6xf32>) outs(%{{.*}} : tensor<2x4x6xf32>)
func.func @around(%x: tensor<2x32x?x5xf32>, %w: tensor<12x32x1x1xf32>, %n: index, %m: index) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<2x12x?x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x12x?x5xf32>) -> tensor<2x12x?x5xf32>
  %y = tw.conv ins(%x, %w : tensor<2x32x?x5xf32>, tensor<12x32x1x1xf32>)
      outs(%f : tensor<2x12x?x5xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<2x12x?x5xf32>
  %p = tensor.pad %y low[0, 0, 1, 0] high[0, 0, 2, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<2x12x?x5xf32> to tensor<2x12x?x5xf32>
  %j = tensor.concat dim(1) %p, %p : (tensor<2x12x?x5xf32>, tensor<2x12x?x5xf32>) -> tensor<2x24x?x5xf32>
  %g = tensor.expand_shape %j [[0], [1, 2], [3], [4]] output_shape [2, 4, 6, %m, 5]
      : tensor<2x24x?x5xf32> into tensor<2x4x6x?x5xf32>
  %i = tensor.empty() : tensor<2x4x6xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(n, g, c, h, w) -> (n, g, c, h, w)>, affine_map<(n, g, c, h, w) -> (n, g, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%g : tensor<2x4x6x?x5xf32>) outs(%i : tensor<2x4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  return %s : tensor<2x4x6xf32>
}

// The weight of a transposed convolution in groups: input channels of a group, then outputs of all.
// CHECK-LABEL: func.func @transposed
// CHECK: tensor.expand_shape %{{.*}} into tensor<2x3x4x5xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : tensor<5x3x2x4xf32> into tensor<5x3x8xf32>
// CHECK: tw.conv transposed layout channels_last {{.*}} -> tensor<1x9x8xf32>
func.func @transposed(%x: tensor<1x6x4xf32>, %w: tensor<6x4x5xf32>, %o: tensor<1x8x9xf32>) -> tensor<1x8x9xf32> {
  %y = tw.conv transposed ins(%x, %w : tensor<1x6x4xf32>, tensor<6x4x5xf32>)
      outs(%o : tensor<1x8x9xf32>) {strides = array<i64: 2>, padding_low = array<i64: 1>,
      dilations = array<i64: 1>, groups = 2 : i64} -> tensor<1x8x9xf32>
  return %y : tensor<1x8x9xf32>
}

// The gradient of a filter, a matrix for each tap: both operands are read with channels last, and so is
// it written. Few channels are read as they are.
// CHECK-LABEL: func.func @filter_gradient
// CHECK-DAG: linalg.generic {{.*}} ins(%arg0 : tensor<2x16x8x8xf32>) outs(%{{.*}} : tensor<2x8x8x16xf32>)
// CHECK-DAG: linalg.generic {{.*}} ins(%arg1 : tensor<2x12x10x10xf32>) outs(%{{.*}} : tensor<2x10x10x12xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x8x8x16xf32>, tensor<2x10x10x12xf32>) outs(%{{.*}} : tensor<3x3x16x12xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg2 : tensor<2x8x8x16xf32>, tensor<2x3x10x10xf32>)
func.func @filter_gradient(%dy: tensor<2x16x8x8xf32>, %x: tensor<2x12x10x10xf32>, %image: tensor<2x3x10x10xf32>)
    -> (tensor<3x3x16x12xf32>, tensor<3x3x16x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x16x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x16x12xf32>) -> tensor<3x3x16x12xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, c, n, y, x) -> (n, o, y, x)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (n, c, y + kh, x + kw)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (kh, kw, o, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %x : tensor<2x16x8x8xf32>, tensor<2x12x10x10xf32>) outs(%f : tensor<3x3x16x12xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<3x3x16x12xf32>
  %e2 = tensor.empty() : tensor<3x3x16x3xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x3x16x3xf32>) -> tensor<3x3x16x3xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(kh, kw, o, c, n, y, x) -> (n, o, y, x)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (n, c, y + kh, x + kw)>,
                                        affine_map<(kh, kw, o, c, n, y, x) -> (kh, kw, o, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%dy, %image : tensor<2x16x8x8xf32>, tensor<2x3x10x10xf32>) outs(%f2 : tensor<3x3x16x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<3x3x16x3xf32>
  return %g, %h : tensor<3x3x16x12xf32>, tensor<3x3x16x3xf32>
}

// The last window ends within the image: there is one column less than its padding says. Of a size
// that only the call knows, windows are looked at instead.
// CHECK-LABEL: func.func @images
// CHECK: tensor.pad %{{.*}} low[0, 0, 1, 1] high[0, 0, 0, 0]
// CHECK: tw.conv layout to_channels_last {{.*}} padding_low = array<i64: 0, 0>
// CHECK-NOT: tensor.pad
// CHECK: tw.conv layout to_channels_last {{.*}} padding_low = array<i64: 1, 1>
func.func @images(%x: tensor<1x3x8x8xf32>, %y: tensor<1x3x?x8xf32>, %w: tensor<16x3x3x3xf32>,
                  %known: tensor<1x16x4x4xf32>, %n: index)
    -> (tensor<1x16x4x4xf32>, tensor<1x16x?x4xf32>) {
  %0 = tw.conv ins(%x, %w : tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>)
      outs(%known : tensor<1x16x4x4xf32>)
      {strides = array<i64: 2, 2>, padding_low = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
       groups = 1 : i64} -> tensor<1x16x4x4xf32>
  %e = tensor.empty(%n) : tensor<1x16x?x4xf32>
  %1 = tw.conv ins(%y, %w : tensor<1x3x?x8xf32>, tensor<16x3x3x3xf32>)
      outs(%e : tensor<1x16x?x4xf32>)
      {strides = array<i64: 2, 2>, padding_low = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
       groups = 1 : i64} -> tensor<1x16x?x4xf32>
  return %0, %1 : tensor<1x16x4x4xf32>, tensor<1x16x?x4xf32>
}
