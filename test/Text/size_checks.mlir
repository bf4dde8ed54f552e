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
// RUN: not tilewright run %t/concat.mlir --input=2x3xf32=1 --input=2x5xf32=1 2>&1 | FileCheck %s --check-prefix=CONCAT
// RUN: not tilewright run %t/empty.mlir --input=i64=-5 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not tilewright run %t/pad.mlir --input=4xf32=1 --input=i64=-9 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: tilewright run %t/pad.mlir --input=4xf32=1 --input=i64=-3 --expected-output=1xf32=1
// RUN: not tilewright run %t/maps.mlir --input=3xf32=1 --input=3xf32=1 2>&1 | FileCheck %s --check-prefix=BACKWARDS
// RUN: not tilewright run %t/maps.mlir --input=4xf32=1 --input=2xf32=1 2>&1 | FileCheck %s --check-prefix=MOD
// RUN: tilewright run %t/maps.mlir --input=4xf32=1,2,3,4 --input=3xf32=10,20,30 --expected-output=4xf32=14,23,32,11
// RUN: not tilewright run %t/loop.mlir --input=4xf32=1 --input=i64=0 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: tilewright run %t/loop.mlir --input=4xf32=1 --input=i64=2 --expected-output=4xf32=8

// What text says of sizes is checked where only the call knows them; what must hold is not asked.

// PRODUCT: error[TW-RUNTIME-0013]: product.mlir:9:8: linalg.matmul: size 0 of operand 1 is 6, not 5
// SLICE: error[TW-RUNTIME-0013]: slice.mlir:4:8: tensor.extract_slice: reaches 0 at 9, where the size is 9
// OFFSET: error[TW-RUNTIME-0013]: slice.mlir:4:8: tensor.extract_slice: offset 0 is -1, which is negative
// CAST: error[TW-RUNTIME-0013]: cast.mlir:2:8: tensor.cast: size 0 is 3, not 4
// WINDOW: error[TW-RUNTIME-0013]: window.mlir:6:8: linalg.conv_1d: reads size 0 of operand 0 at 4, where the size is 4
// CONCAT: error[TW-RUNTIME-0013]: concat.mlir:2:8: tensor.concat: size 1 of operand 1 is 5, not 3
// EMPTY: error[TW-RUNTIME-0013]: empty.mlir:3:8: tensor.empty: size 0 is -5, which is negative
// PAD: error[TW-RUNTIME-0013]: pad.mlir:4:8: tensor.pad: size 0 is -5, which is negative
// BACKWARDS: error[TW-RUNTIME-0013]: maps.mlir:3:8: linalg.generic: reads size 0 of operand 0 at 3, where the size is 3
// MOD: error[TW-RUNTIME-0013]: maps.mlir:3:8: linalg.generic: reads size 0 of operand 1 at 2, where the size is 2
// STEP: error[TW-RUNTIME-0013]: loop.mlir:5:8: scf.for: the step is not positive

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
//--- concat.mlir
func.func @main(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>) -> tensor<4x?xf32> {
  %y = tensor.concat dim(0) %a, %b : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}
//--- empty.mlir
func.func @main(%n: i64) -> tensor<?xf32> {
  %size = arith.index_cast %n : i64 to index
  %e = tensor.empty(%size) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %y = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
//--- pad.mlir
func.func @main(%x: tensor<4xf32>, %n: i64) -> tensor<?xf32> {
  %low = arith.index_cast %n : i64 to index
  %z = arith.constant 0.0 : f32
  %y = tensor.pad %x low[%low] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<4xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}
//--- maps.mlir
func.func @main(%x: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i mod 3)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %w : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
//--- loop.mlir
func.func @main(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %step = arith.index_cast %n : i64 to index
  %r = scf.for %i = %c0 to %c5 step %step iter_args(%t = %x) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %d = linalg.add ins(%t, %t : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
