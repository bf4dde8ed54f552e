// RUN: split-file %s %t
// RUN: tilewright run %t/rows.mlir --input=3x2xf32=1,2,3,4,5,6 --input=2xi64=2,0 --expected-output=2x2xf32=5,6,1,2
// RUN: not tilewright run %t/rows.mlir --input=3x2xf32=1 --input=2xi64=2,3 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: not tilewright run %t/rows.mlir --input=3x2xf32=1 --input=2xi64=-1,0 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not tilewright run %t/rows.mlir --input=0x2xf32= --input=2xi64=0,0 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: tilewright run %t/rows.mlir --input=0x2xf32= --input=0xi64= --expected-output=0x2xf32=
// RUN: tilewright run %t/shifted.mlir --input=4xf32=1,2,3,4 --expected-output=4xf32=0,1,2,3
// RUN: not tilewright run %t/branch.mlir --input=4xf32=1,2,3,4 --input=i64=4 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: tilewright run %t/branch.mlir --input=4xf32=1,2,3,4 --input=i64=5 --expected-output=4xf32=0

// A body that looks up an element outside of a tensor ends the call with an error; an element that
// is not selected may be outside.

// ABOVE: error[TW-RUNTIME-0013]: rows.mlir:12:10: tensor.extract: position 0 is 3, where the size is 3
// BELOW: error[TW-RUNTIME-0013]: rows.mlir:12:10: tensor.extract: position 0 is -1, where the size is 3
// EMPTY: error[TW-RUNTIME-0013]: rows.mlir:12:10: tensor.extract: size 0 of the tensor is 0
// BRANCH: error[TW-RUNTIME-0013]: branch.mlir:10:12: tensor.extract: position 0 is 4, where the size is 4

//--- rows.mlir
func.func @main(%table: tensor<?x?xf32>, %ids: tensor<?xi64>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %width = tensor.dim %table, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %width) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi64>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%id: i64, %old: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %v = tensor.extract %table[%row, %column] : tensor<?x?xf32>
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
//--- shifted.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<4xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %before = arith.subi %i, %c1 : index
    %inside = arith.cmpi sge, %before, %c0 : index
    %v = tensor.extract %x[%before] : tensor<4xf32>
    %chosen = arith.select %inside, %v, %zero : f32
    linalg.yield %chosen : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
//--- branch.mlir
func.func @main(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %at = arith.index_cast %n : i64 to index
  %isWanted = arith.cmpi ne, %at, %c5 : index
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%old: f32):
    %v = scf.if %isWanted -> (f32) {
      %w = tensor.extract %x[%at] : tensor<4xf32>
      scf.yield %w : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
