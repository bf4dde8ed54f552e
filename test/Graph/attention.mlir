// RUN: tilewright-opt %s -tw-fold-attention-transposes | FileCheck %s --check-prefix=FOLD

#q = affine_map<(b, h, l, s, e, f) -> (b, h, l, e)>
#k = affine_map<(b, h, l, s, e, f) -> (b, h, s, e)>
#v = affine_map<(b, h, l, s, e, f) -> (b, h, s, f)>
#m = affine_map<(b, h, l, s, e, f) -> (b, 0, 0, s)>
#o = affine_map<(b, h, l, s, e, f) -> (b, h, l, f)>

// What is transposed before and after is read, and written, as it lies.
// FOLD-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d4)>
// FOLD-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d4)>
// FOLD-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>
// FOLD-DAG: #[[O:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d5)>
// FOLD-LABEL: func.func @transposed(
// FOLD-SAME: %[[X:.*]]: tensor<2x7x4x8xbf16>
// FOLD: %[[R:.*]] = tw.attention causal ins(%[[X]],
// FOLD-SAME: indexing_maps = [#[[Q]], #[[K]], #[[V]], #[[O]]]
// FOLD-SAME: -> tensor<2x7x4x8xbf16>
// FOLD: return %[[R]]

func.func @transposed(%x: tensor<2x7x4x8xbf16>, %k: tensor<2x4x7x8xbf16>) -> tensor<2x7x4x8xbf16> {
  %scale = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<2x4x7x8xbf16>
  %q = linalg.transpose ins(%x : tensor<2x7x4x8xbf16>) outs(%e : tensor<2x4x7x8xbf16>) permutation = [0, 2, 1, 3]
  %r = tw.attention causal ins(%q, %k, %k : tensor<2x4x7x8xbf16>, tensor<2x4x7x8xbf16>, tensor<2x4x7x8xbf16>)
      scale %scale outs(%e : tensor<2x4x7x8xbf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x4x7x8xbf16>
  %e1 = tensor.empty() : tensor<2x7x4x8xbf16>
  %t = linalg.transpose ins(%r : tensor<2x4x7x8xbf16>) outs(%e1 : tensor<2x7x4x8xbf16>) permutation = [0, 2, 1, 3]
  return %t : tensor<2x7x4x8xbf16>
}

// Two readers: the output stays as it is.
// FOLD-LABEL: func.func @twice
// FOLD: tw.attention
// FOLD: linalg.transpose

func.func @twice(%q: tensor<2x4x?x8xf32>, %k: tensor<2x4x7x8xf32>, %m: tensor<2x1x1x7xi1>, %l: index)
    -> (tensor<2x4x?x8xf32>, tensor<2x?x4x8xf32>, tensor<2x4x?xf32>) {
  %scale = arith.constant 0.5 : f64
  %e = tensor.empty(%l) : tensor<2x4x?x8xf32>
  %s = tensor.empty(%l) : tensor<2x4x?xf32>
  %r, %sums = tw.attention ins(%q, %k, %k : tensor<2x4x?x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x8xf32>)
      mask(%m : tensor<2x1x1x7xi1>) scale %scale outs(%e, %s : tensor<2x4x?x8xf32>, tensor<2x4x?xf32>)
      {indexing_maps = [#q, #k, #v, #m, #o, affine_map<(b, h, l, s, e, f) -> (b, h, l)>]}
      -> tensor<2x4x?x8xf32>, tensor<2x4x?xf32>
  %e1 = tensor.empty(%l) : tensor<2x?x4x8xf32>
  %t = linalg.transpose ins(%r : tensor<2x4x?x8xf32>) outs(%e1 : tensor<2x?x4x8xf32>) permutation = [0, 2, 1, 3]
  return %r, %t, %sums : tensor<2x4x?x8xf32>, tensor<2x?x4x8xf32>, tensor<2x4x?xf32>
}
