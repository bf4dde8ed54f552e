// RUN: tilewright-opt %s -tw-to-destination-style -tw-form-dispatches -split-input-file | FileCheck %s

// What becomes one kernel, and what does not (lib/Dispatch/Groups.cpp).

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// A transposed reader shares no rows with its producer.

// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-2: tw.dispatch
func.func @transposed(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// Unless all of it is tiny: then one serial kernel is best.

// CHECK-LABEL: func.func @tiny
// CHECK: tw.dispatch
// CHECK-NOT: tw.dispatch
// CHECK: return
func.func @tiny(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %a = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}

// -----

// The same kernel twice is one function.

// CHECK-LABEL: func.func @twice
// CHECK: tw.dispatch @k0(%arg0)
// CHECK: tw.dispatch @k0(%arg1)
// CHECK: func.func private @k0
// CHECK-NOT: func.func private
func.func @twice(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.exp ins(%y : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// A second product whose other operand is large would read it again for every row.

// CHECK-LABEL: func.func @two_products
// CHECK-COUNT-2: tw.dispatch
func.func @two_products(%x: tensor<64x512xf32>, %v: tensor<512x512xf32>, %w: tensor<512x512xf32>)
    -> tensor<64x512xf32> {
  %e = tensor.empty() : tensor<64x512xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %a = linalg.matmul ins(%x, %v : tensor<64x512xf32>, tensor<512x512xf32>) outs(%f : tensor<64x512xf32>) -> tensor<64x512xf32>
  %b = linalg.matmul ins(%a, %w : tensor<64x512xf32>, tensor<512x512xf32>) outs(%f : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %b : tensor<64x512xf32>
}

// -----

// With small weights the whole network is one kernel.

// CHECK-LABEL: func.func @small_network
// CHECK: tw.dispatch
// CHECK-NOT: tw.dispatch
// CHECK: return
func.func @small_network(%x: tensor<64x32xf32>, %v: tensor<32x64xf32>, %w: tensor<64x32xf32>)
    -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %o = tensor.empty() : tensor<64x32xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = linalg.fill ins(%z : f32) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  %a = linalg.matmul ins(%x, %v : tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x32xf32>) outs(%g : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %b : tensor<64x32xf32>
}

// -----

// What a scatter updates is copied by its own kernel.

// CHECK-LABEL: func.func @scatter
// CHECK-COUNT-1: tw.dispatch
// CHECK-NOT: tw.dispatch
func.func @scatter(%x: tensor<500x64xf32>, %at: tensor<30xi64>, %y: tensor<30x64xf32>)
    -> tensor<500x64xf32> {
  %s = tw.scatter add ins(%at, %y : tensor<30xi64>, tensor<30x64xf32>) outs(%x : tensor<500x64xf32>)
      attributes {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>]} {
  ^bb0(%i: i64, %v: f32):
    %row = arith.index_cast %i : i64 to index
    %j = tw.index 1
    tw.yield %row, %j, %v : index, index, f32
  } -> tensor<500x64xf32>
  return %s : tensor<500x64xf32>
}
