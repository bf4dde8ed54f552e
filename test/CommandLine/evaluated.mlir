// What depends on constants alone is computed when the model is compiled: by tile programs, whatever the
// target is. (The second "tile" is the model's own.)
// RUN: tilewright compile %s -o %t.so --time-report 2>&1 | FileCheck %s
// RUN: tilewright compile %s -o %t.so --target=cpu:x86-64-v3 --time-report 2>&1 | FileCheck %s
// RUN: tilewright run %t.so --input=3xf32=10,20,30 --expected-output=3xf32=13,27,41
// RUN: tilewright compile %s -o %t.so --target=reference --time-report 2>&1 | FileCheck %s --check-prefix=PLAIN
// CHECK: constants
// CHECK: configure
// CHECK-NEXT: tile
// CHECK-NEXT: kernels
// CHECK: configure
// CHECK-NEXT: tile
// The reference target is the truth for that too: it evaluates nothing.
// PLAIN-NOT: constants
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %pairs = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %sums = linalg.reduce {arith.addf} ins(%pairs : tensor<3x2xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  %y = linalg.add ins(%x, %sums : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
