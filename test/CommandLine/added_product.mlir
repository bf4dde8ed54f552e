// RUN: tilewright compile %s -o %t.so --report | FileCheck %s --check-prefix=REPORT
// RUN: tilewright run %t.so --input=2x3xf32=1,2,3,4,5,6 --input=3x2xf32=1,0,0,1,1,1 --input=2x2xf32=10,20,30,40 --input=2xf32=100,200 | FileCheck %s
// RUN: tilewright run %t.so --input=0x3xf32=0 --input=3x2xf32=1,0,0,1,1,1 --input=0x2xf32=0 --input=2xf32=100,200

// Products that are added to a tensor, to one number and to a row that repeats: where they are stored.
// REPORT: on the reference target 0
// REPORT: fused into its producer, which stores the result of both
func.func @main(%a: tensor<?x3xf32>, %b: tensor<3x2xf32>, %c: tensor<?x2xf32>, %row: tensor<2xf32>)
    -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %i0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %m = tensor.dim %a, %i0 : tensor<?x3xf32>
  %e = tensor.empty(%m) : tensor<?x2xf32>
  // CHECK: {{\[\[}}14, 25],
  // CHECK-NEXT: [40, 51]]
  %x = linalg.matmul ins(%a, %b : tensor<?x3xf32>, tensor<3x2xf32>) outs(%c : tensor<?x2xf32>) -> tensor<?x2xf32>
  // CHECK: {{\[\[}}4.5, 5.5],
  // CHECK-NEXT: [10.5, 11.5]]
  %halves = linalg.fill ins(%half : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %y = linalg.matmul ins(%a, %b : tensor<?x3xf32>, tensor<3x2xf32>) outs(%halves : tensor<?x2xf32>) -> tensor<?x2xf32>
  // CHECK: {{\[\[}}104, 205],
  // CHECK-NEXT: [110, 211]]
  %rows = linalg.broadcast ins(%row : tensor<2xf32>) outs(%e : tensor<?x2xf32>) dimensions = [0]
  %z = linalg.matmul ins(%a, %b : tensor<?x3xf32>, tensor<3x2xf32>) outs(%rows : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %x, %y, %z : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
