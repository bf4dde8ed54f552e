// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s

// A linear layer: the weight is stored in panels of a block's columns (2 vectors of 8 with 16
// registers), a program is a block over the whole sum.
// CHECK-LABEL: func.func @main
// CHECK: tw.weight <"w" in "w.bin"[0, 65536] start 0 strides[2048, 1, 128]> : tensor<8x128x16xf32>
// CHECK: tw.dispatch @k0
func.func @main(%x: tensor<2x3x128xf32>) -> tensor<2x3x128xf32> {
  %w = tw.weight <"w" in "w.bin"[0, 65536] start 0 strides[1, 128]> : tensor<128x128xf32>
  %e = tensor.empty() : tensor<2x3x128xf32>
  %y = tw.dispatch @k0(%x, %w) outs(%e) : (tensor<2x3x128xf32>, tensor<128x128xf32>)
       outs(tensor<2x3x128xf32>) -> tensor<2x3x128xf32>
  return %y : tensor<2x3x128xf32>
}

// CHECK: tile.kernel @k0(in %in0: !tile.buffer<[6, 128], f32>, in %in1: !tile.buffer<[8, 128, 16], f32>,
// CHECK-SAME: out %out2: !tile.buffer<[6, 128], f32>) grid [8]
// CHECK: tile.dot
// CHECK: tile.store
func.func private @k0(%a: tensor<2x3x128xf32>, %b: tensor<128x128xf32>, %out: tensor<2x3x128xf32>)
    -> tensor<2x3x128xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<2x3x128xf32>) -> tensor<2x3x128xf32>
  %c = linalg.generic {
      indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>,
                       affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x128xf32>, tensor<128x128xf32>) outs(%init : tensor<2x3x128xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3x128xf32>
  return %c : tensor<2x3x128xf32>
}

// What is no weight and has its columns apart is transposed beside the products: a program has many
// rows that use it.
// CHECK-LABEL: tile.kernel @scores(in %in0: !tile.buffer<[400, 64], f32>, in %in1: !tile.buffer<[d2, 64], f32>,
// CHECK-SAME: out %out2: !tile.buffer<[400, d2], f32>) symbols [d2] grid [2, d2 ceildiv 64]
// CHECK: tile.transpose
// CHECK: tile.dot {{.*}} : tensor<200x64xf32>, tensor<64x64xf32>
func.func @transposed(%q: tensor<400x64xf32>, %k: tensor<?x64xf32>, %e: tensor<400x?xf32>) -> tensor<400x?xf32> {
  %y = tw.dispatch @scores(%q, %k) outs(%e) : (tensor<400x64xf32>, tensor<?x64xf32>)
       outs(tensor<400x?xf32>) -> tensor<400x?xf32>
  return %y : tensor<400x?xf32>
}
func.func private @scores(%q: tensor<400x64xf32>, %k: tensor<?x64xf32>, %out: tensor<400x?xf32>)
    -> tensor<400x?xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<400x?xf32>) -> tensor<400x?xf32>
  %c = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<400x64xf32>, tensor<?x64xf32>) outs(%init : tensor<400x?xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<400x?xf32>
  return %c : tensor<400x?xf32>
}

// Of unknown rows it is transposed once, by a kernel of its own, for all blocks of rows. The size that
// both have is that of the tensors.
// CHECK-LABEL: tile.kernel @any_scores_0(in %in1: !tile.buffer<[d2, 64], f32>,
// CHECK-SAME: out %transposed: !tile.buffer<[64, d2], f32>)
// CHECK-NOT: tile.dot
// CHECK-LABEL: tile.kernel @any_scores_1(in %in0: !tile.buffer<[d0, 64], f32>, in %transposed: !tile.buffer<[64, d2], f32>,
// CHECK-NOT: tile.transpose
// CHECK: tile.dot
func.func @any_transposed(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = tw.dispatch @any_scores(%q, %k) outs(%e) : (tensor<?x64xf32>, tensor<?x64xf32>)
       outs(tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func private @any_scores(%q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %out: tensor<?x?xf32>)
    -> tensor<?x?xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x64xf32>, tensor<?x64xf32>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
