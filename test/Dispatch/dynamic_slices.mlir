// RUN: tilewright-opt %s -tw-form-dispatches | FileCheck %s

// Slices of columns, which have all rows, however many there are: their readers share the rows of
// what computes the whole tensor.
// CHECK-LABEL: func.func @main
// CHECK: tw.dispatch @k0
// CHECK-NOT: tw.dispatch
func.func @main(%x: tensor<?x24xf32>) -> tensor<?x12xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x24xf32>
  %e = tensor.empty(%n) : tensor<?x24xf32>
  %y = linalg.exp ins(%x : tensor<?x24xf32>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %a = tensor.extract_slice %y[0, 0] [%n, 12] [1, 1] : tensor<?x24xf32> to tensor<?x12xf32>
  %b = tensor.extract_slice %y[0, 12] [%n, 12] [1, 1] : tensor<?x24xf32> to tensor<?x12xf32>
  %f = tensor.empty(%n) : tensor<?x12xf32>
  %z = linalg.mul ins(%a, %b : tensor<?x12xf32>, tensor<?x12xf32>) outs(%f : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %z : tensor<?x12xf32>
}

// One row less is another number of rows.
// CHECK-LABEL: func.func @fewer
// CHECK-COUNT-2: tw.dispatch
func.func @fewer(%x: tensor<?x24xf32>, %m: index) -> tensor<?x12xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x24xf32>
  %e = tensor.empty(%n) : tensor<?x24xf32>
  %y = linalg.exp ins(%x : tensor<?x24xf32>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %a = tensor.extract_slice %y[0, 0] [%m, 12] [1, 1] : tensor<?x24xf32> to tensor<?x12xf32>
  %f = tensor.empty(%m) : tensor<?x12xf32>
  %z = linalg.exp ins(%a : tensor<?x12xf32>) outs(%f : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %z : tensor<?x12xf32>
}
