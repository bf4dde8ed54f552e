// RUN: split-file %s %t
// RUN: not tilewright run %t/product.mlir --input=3x5xf32=1 --input=6x7xf32=1 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: tilewright run %t/product.mlir --input=3x5xf32=1 --input=5x7xf32=1 --expected-output=3x7xf32=5
// RUN: tilewright run %t/product.mlir --input=3x0xf32=1 --input=0x7xf32=1 --expected-output=3x7xf32=0
// RUN: not tilewright run %t/slice.mlir --input=9xf32=1 --input=i64=3 --input=i64=7 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not tilewright run %t/slice.mlir --input=9xf32=1 --input=i64=-1 --input=i64=4 2>&1 | FileCheck %s --check-prefix=OFFSET
// RUN: tilewright run %t/slice.mlir --input=9xf32=1 --input=i64=3 --input=i64=6 --expected-output=6xf32=1
// RUN: tilewright run %t/slice.mlir --input=9xf32=1 --input=i64=9 --input=i64=0
// RUN: not tilewright run %t/cast.mlir --input=3xf32=1 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not tilewright run %t/window.mlir --input=4xf32=1 --input=3xf32=1 --input=i64=3 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: tilewright run %t/window.mlir --input=4xf32=1 --input=3xf32=1 --input=i64=2 --expected-output=2xf32=3

// What text says of sizes is checked where only the call knows them; what must hold is not asked.

// PRODUCT: error[TW-RUNTIME-0013]: product.mlir:9:8: linalg.matmul: size 0 of operand 1 is 6, not 5
// SLICE: error[TW-RUNTIME-0013]: slice.mlir:4:8: tensor.extract_slice: reaches 0 at 9, where the size is 9
// OFFSET: error[TW-RUNTIME-0013]: slice.mlir:4:8: tensor.extract_slice: offset 0 is -1, which is negative
// CAST: error[TW-RUNTIME-0013]: cast.mlir:2:8: tensor.cast: size 0 is 3, not 4
// WINDOW: error[TW-RUNTIME-0013]: window.mlir:6:8: linalg.conv_1d: reads size 0 of operand 0 at 4, where the size is 4

//--- product.mlir
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
//--- slice.mlir
func.func @main(%x: tensor<9xf32>, %i: i64, %n: i64) -> tensor<?xf32> {
  %offset = arith.index_cast %i : i64 to index
  %size = arith.index_cast %n : i64 to index
  %y = tensor.extract_slice %x[%offset] [%size] [1] : tensor<9xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}
//--- cast.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
//--- window.mlir
func.func @main(%x: tensor<4xf32>, %w: tensor<3xf32>, %n: i64) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %size = arith.index_cast %n : i64 to index
  %e = tensor.empty(%size) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.conv_1d ins(%x, %w : tensor<4xf32>, tensor<3xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
