// RUN: tilewright-opt %s -tw-resolve-dims -canonicalize -split-input-file | FileCheck %s

// The size of a result is the size its destination was made with.

// CHECK-LABEL: func.func @of_result
// CHECK-SAME: (%{{.*}}: tensor<?xf32>, %[[N:.*]]: index)
// CHECK: return %[[N]]
func.func @of_result(%x: tensor<?xf32>, %n: index) -> index {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// -----

// Of a reshape: a product or quotient of the source's sizes.

// CHECK-LABEL: func.func @of_reshape
// CHECK: %[[D:.*]] = tensor.dim %arg0
// CHECK: %[[P:.*]] = arith.muli %[[D]]
// CHECK: return %[[P]]
func.func @of_reshape(%x: tensor<?x4xf32>) -> index {
  %f = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %f, %c0 : tensor<?xf32>
  return %d : index
}
