// A result that a reduction loop indexes is another element in every step of the loop: what the loop
// carries from step to step is the other result alone.
// RUN: tilewright run %s --input=2x3xf32=1,2,3,4,5,6 --output=@%t.products.npy --output=@%t.sums.npy \
// RUN:   --expected-output=2x3xf32=11,12,13,14,15,16 --expected-output=2xf32=6,15
// RUN: tilewright run %s --target=reference --input=2x3xf32=1,2,3,4,5,6 \
// RUN:   --expected-output=2x3xf32=11,12,13,14,15,16 --expected-output=2xf32=6,15
#id = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %ten = arith.constant 10.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %s = tensor.empty() : tensor<2xf32>
  %tens = linalg.fill ins(%ten : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%s : tensor<2xf32>) -> tensor<2xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%tens, %zeros : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%v: f32, %old: f32, %sum: f32):
    %new = arith.addf %old, %v : f32
    %total = arith.addf %sum, %v : f32
    linalg.yield %new, %total : f32, f32
  } -> (tensor<2x3xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2xf32>
}
