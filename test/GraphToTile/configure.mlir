// RUN: tilewright-opt %s -tw-configure | FileCheck %s
// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s --check-prefix=TILE

// For AVX2: as many rows and vectors of 8 columns as 16 registers hold, and as many programs at a time as are
// worth handing over.
// CHECK: func.func private @product
// CHECK-SAME: tile.configuration = #tile.dispatch_config<cuts[ none] kernels[<"contraction" {column_parts = 1 : i64, column_programs = 4 : i64, columns = 16 : i64,
// CHECK-SAME: rows = {{[0-9]+}} : i64,{{.*}} on <"cpu" {accumulators_in_memory = false, interleaved = false}>>]>
// TILE: tile.kernel @product({{.*}} grid [11, 16]
// TILE-SAME: tile.configuration = #tile.config<"contraction"
func.func private @product(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %out: tensor<64x256xf32>)
    -> tensor<64x256xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<64x256xf32>) -> tensor<64x256xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x256xf32>) outs(%0 : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %1 : tensor<64x256xf32>
}

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<64x256xf32>
  %y = tw.dispatch @product(%a, %b) outs(%e) : (tensor<64x64xf32>, tensor<64x256xf32>)
       outs(tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
