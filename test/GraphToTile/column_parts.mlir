// A product whose halves an elementwise operation multiplies is configured to have both in one
// program, which then multiplies them: one kernel. With `column_parts` 1 there would be two.
// RUN: tilewright-opt %s -tw-configure | FileCheck %s --check-prefix=CONFIG
// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -tile-simplify -tile-fuse | FileCheck %s

// CONFIG: func.func private @gated({{.*}}"contraction" {column_parts = 2 : i64, column_programs = {{[0-9]+}} : i64, columns = 16 : i64,
// Read by another operation as a whole, too.
// CONFIG: func.func private @whole({{.*}}"contraction" {column_parts = 1 : i64,

// CHECK: tile.kernel @gated_0_0({{.*}} out %{{.*}}: !tile.buffer<[8, 64], f32>) grid [{{[0-9]+}}, 4]
// CHECK: %[[X:.*]] = tile.dot
// CHECK: %[[GATE:.*]] = tile.dot
// CHECK: arith.mulf %[[X]], %[[GATE]]
// CHECK: tile.kernel @whole_0(
// CHECK: tile.kernel @whole_1(
// CHECK: func.func @main
// CHECK: tw.dispatch @gated_0_0
// CHECK-NOT: @gated
func.func private @gated(%a: tensor<8x32xf32>, %b: tensor<32x128xf32>, %out: tensor<8x64xf32>)
    -> tensor<8x64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x128xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8x128xf32>) -> tensor<8x128xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<8x32xf32>, tensor<32x128xf32>) outs(%0 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %x = tensor.extract_slice %1[0, 0] [8, 64] [1, 1] : tensor<8x128xf32> to tensor<8x64xf32>
  %gate = tensor.extract_slice %1[0, 64] [8, 64] [1, 1] : tensor<8x128xf32> to tensor<8x64xf32>
  %2 = linalg.mul ins(%x, %gate : tensor<8x64xf32>, tensor<8x64xf32>) outs(%out : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}
func.func private @whole(%a: tensor<8x32xf32>, %b: tensor<32x128xf32>, %out: tensor<8x64xf32>,
    %all: tensor<8x128xf32>) -> (tensor<8x64xf32>, tensor<8x128xf32>) attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%all : tensor<8x128xf32>) -> tensor<8x128xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<8x32xf32>, tensor<32x128xf32>) outs(%0 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %x = tensor.extract_slice %1[0, 0] [8, 64] [1, 1] : tensor<8x128xf32> to tensor<8x64xf32>
  %gate = tensor.extract_slice %1[0, 64] [8, 64] [1, 1] : tensor<8x128xf32> to tensor<8x64xf32>
  %2 = linalg.mul ins(%x, %gate : tensor<8x64xf32>, tensor<8x64xf32>) outs(%out : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %2, %1 : tensor<8x64xf32>, tensor<8x128xf32>
}

func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x128xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x128xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %f = tensor.empty() : tensor<8x128xf32>
  %x = tw.dispatch @gated(%a, %b) outs(%e) : (tensor<8x32xf32>, tensor<32x128xf32>) outs(tensor<8x64xf32>) -> tensor<8x64xf32>
  %y:2 = tw.dispatch @whole(%a, %b) outs(%e, %f) : (tensor<8x32xf32>, tensor<32x128xf32>)
         outs(tensor<8x64xf32>, tensor<8x128xf32>) -> tensor<8x64xf32>, tensor<8x128xf32>
  return %x, %y#0, %y#1 : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x128xf32>
}
