// Operators that became one expression are all named, in the order they are computed.
// RUN: tilewright compile %s -o %t.so --report --dump-to=%t.dump | FileCheck %s
// RUN: FileCheck --check-prefix=SOURCE --input-file=%t.dump/kernels/exp_tanh_sin.cpp %s
// CHECK: dispatches 1, kernels 1
// CHECK-NEXT: exp, tanh, sin{{$}}
// SOURCE: exp
// SOURCE: tanh
// SOURCE: sin
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %a = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %b = linalg.tanh ins(%a : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = math.sin %v : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32> loc("sin")
  return %c : tensor<8x16xf32>
}
