// RUN: tilewright-opt %s -tw-to-destination-style | FileCheck %s

// An init of which nothing is read is replaced by a fresh one, not copied.

// CHECK-LABEL: func.func @main
// CHECK-NOT: linalg.copy
// CHECK: %[[E:.*]] = tensor.empty() : tensor<6xf32>
// CHECK: linalg.fill {{.*}} outs(%[[E]]
func.func @main(%x: f32) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %c = tensor.collapse_shape %e [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %f = linalg.fill ins(%x : f32) outs(%c : tensor<6xf32>) -> tensor<6xf32>
  return %f : tensor<6xf32>
}

// A constant that the program returns is copied by a kernel: programs hold no constant tensors.

// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = arith.constant dense
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[C]]
// CHECK: return %[[COPY]]
func.func @constant() -> tensor<3xi64> {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
  return %c : tensor<3xi64>
}
