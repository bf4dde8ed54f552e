// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call never waits for threads that a small dispatch does not need: its caller runs the loop alone, however many there are.
// Large ones are cut into pieces. Neither depends on time, nor on which thread then takes a piece.
// RUN: sed -e 's/ROWS/16/g' -e 's/COLUMNS/64/g' %s > %t.small.mlir
// RUN: tilewright profile %t.small.mlir --threads=16 --repeat=3 --input=16x64xf32=random:1 --input=64x64xf32=random:2 --trace=%t.small.trace
// RUN: %python %S/Inputs/shared_dispatches.py %t.small.trace | FileCheck %s --check-prefix=SMALL
// RUN: sed -e 's/ROWS/1024/g' -e 's/COLUMNS/1024/g' %s > %t.large.mlir
// RUN: tilewright profile %t.large.mlir --threads=16 --repeat=3 --input=1024x1024xf32=random:1 --input=1024x1024xf32=random:2 --trace=%t.large.trace
// RUN: %python %S/Inputs/shared_dispatches.py %t.large.trace | FileCheck %s --check-prefix=LARGE

// SMALL: 2 dispatches, shared: none
// LARGE: 2 dispatches, shared: generic+1, matmul
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @main(%x: tensor<ROWSxCOLUMNSxf32>, %w: tensor<COLUMNSxCOLUMNSxf32>) -> (tensor<ROWSxCOLUMNSxf32>, tensor<ROWSxf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<ROWSxCOLUMNSxf32>
  %sums = linalg.fill ins(%zero : f32) outs(%empty : tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32>
  %y = linalg.matmul ins(%x, %w : tensor<ROWSxCOLUMNSxf32>, tensor<COLUMNSxCOLUMNSxf32>)
                     outs(%sums : tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<ROWSxCOLUMNSxf32>) outs(%empty : tensor<ROWSxCOLUMNSxf32>) {
  ^bb0(%a: f32, %out: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<ROWSxCOLUMNSxf32>
  %none = tensor.empty() : tensor<ROWSxf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<ROWSxf32>) -> tensor<ROWSxf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<ROWSxCOLUMNSxf32>) outs(%start : tensor<ROWSxf32>) {
  ^bb0(%a: f32, %sum: f32):
    %b = arith.addf %a, %sum : f32
    linalg.yield %b : f32
  } -> tensor<ROWSxf32>
  return %y, %s : tensor<ROWSxCOLUMNSxf32>, tensor<ROWSxf32>
}
