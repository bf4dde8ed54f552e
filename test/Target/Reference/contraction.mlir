// RUN: tilewright-opt %s -tw-target-reference | FileCheck %s

// A matmul and what follows it are one loop nest after the other. A sum is carried in f64, in parts of 256
// terms; what is multiplied is multiplied in its own type.
// CHECK-LABEL: llvm.func internal @k_loops
// CHECK: llvm.mlir.constant(256 : i64)
// CHECK: %[[PRODUCT:.*]] = llvm.fmul {{.*}} : f32
// CHECK: %[[TERM:.*]] = llvm.fpext %[[PRODUCT]] : f32 to f64
// CHECK: llvm.fadd {{.*}}, %[[TERM]] : f64
// CHECK: llvm.fptrunc {{.*}} : f64 to f32
// CHECK: llvm.intr.maximum
// Nothing is planned in place: what has no out for its destination has a buffer of its own, two of 64 x 64 here.
// CHECK-LABEL: llvm.func @k_info
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(32768 : i64)
// CHECK: llvm.store %[[BYTES]]
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
func.func private @k(%a: tensor<64x300xf32>, %b: tensor<300x64xf32>, %out: tensor<64x64xf32>)
    -> tensor<64x64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x300xf32>, tensor<300x64xf32>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%x: f32, %w: f32, %o: f32):
      %p = arith.mulf %x, %w : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32 } -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%y : tensor<64x64xf32>) {
    ^bb0(%v: f32):
      %m = arith.maximumf %v, %zero : f32
      linalg.yield %m : f32 } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
