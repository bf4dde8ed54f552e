// A loop of one iteration along which only what is read in windows is walked, such as over the batch
// of a single image in a gradient of filters, is dropped when the windows become look-ups.

// RUN: tilewright-opt %s -tw-configure | FileCheck %s
// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s --check-prefix=TILE

// CHECK: #[[$CHANNELS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
// CHECK: #[[$TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// TILE: tile.kernel
func.func @main(%grad: tensor<12x12x4xf32>, %x: tensor<1x14x14x4xf32>) -> tensor<3x3x4xf32> {
  %e = tensor.empty() : tensor<3x3x4xf32>
  %y = tw.dispatch @k0(%grad, %x) outs(%e) : (tensor<12x12x4xf32>, tensor<1x14x14x4xf32>)
       outs(tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  return %y : tensor<3x3x4xf32>
}

// CHECK-LABEL: func.func private @k0
// CHECK: linalg.generic {indexing_maps = [#[[$CHANNELS]], #[[$TAPS]]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%{{.*}} : tensor<12x12x4xf32>)
// CHECK: tensor.extract %arg1[%c0{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
func.func private @k0(%grad: tensor<12x12x4xf32>, %x: tensor<1x14x14x4xf32>, %out: tensor<3x3x4xf32>)
    -> tensor<3x3x4xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j, c, n, h, w) -> (h, w, c)>, affine_map<(i, j, c, n, h, w) -> (n, h + i, w + j, c)>,
                       affine_map<(i, j, c, n, h, w) -> (i, j, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%grad, %x : tensor<12x12x4xf32>, tensor<1x14x14x4xf32>) outs(%f : tensor<3x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x3x4xf32>
  return %y : tensor<3x3x4xf32>
}
