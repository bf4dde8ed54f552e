// RUN: tilewright-opt %s -tile-fuse='least-transposed-run=4' -split-input-file | FileCheck %s
// RUN: tilewright-opt %s -tile-fuse='least-transposed-run=5' -split-input-file 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: tilewright-opt %s -tile-fuse -split-input-file | FileCheck %s --check-prefix=NEVER

// What adds to a product and transposes it is written again behind its store: on the box of the product, 4 x 8,
// whose elements are stored as 8 x 4.
// CHECK-LABEL: func.func @follows
// CHECK: tw.dispatch @product_0(%{{.*}}, %{{.*}}, %{{.*}}) outs(%{{.*}}){{.*}}:
// CHECK-NOT: tw.dispatch
// SHORT: not fused with its producer: transposed, few of the elements that it stores would be side by side
// NEVER-LABEL: func.func @follows
// NEVER: tw.dispatch @product
// NEVER: tw.dispatch @transposed
func.func @follows(%a: tensor<16x32xf32>, %b: tensor<32x64xf32>, %z: tensor<64xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %c = tw.dispatch @product(%a, %b) outs(%e) : (tensor<16x32xf32>, tensor<32x64xf32>) outs(tensor<16x64xf32>) -> tensor<16x64xf32>
  %t = tensor.empty() : tensor<64x16xf32>
  %y = tw.dispatch @transposed(%c, %z) outs(%t) : (tensor<16x64xf32>, tensor<64xf32>) outs(tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
// CHECK: tile.kernel @product_0(in %in0: !tile.buffer<[16, 32], f32>, in %in1: !tile.buffer<[32, 64], f32>,
// CHECK-SAME: in %in2: !tile.buffer<[64], f32>, out %out3: !tile.buffer<[64, 16], f32>) grid [4, 8]
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[COLUMN:.*]] = arith.muli
// CHECK: %[[ACC:.*]] = tile.dot
// CHECK: %[[TURNED:.*]] = tile.transpose %[[ACC]] [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK: tile.load %in2[%[[COLUMN]]] : !tile.buffer<[64], f32> -> tensor<8xf32>
// CHECK: %[[ALL:.*]] = tile.broadcast %{{.*}} : tensor<8x1xf32> -> tensor<8x4xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[TURNED]], %[[ALL]]
// CHECK: tile.store %[[SUM]], %out3[%[[COLUMN]], %[[ROW]]] : tensor<8x4xf32>
// CHECK-NOT: tile.store
tile.kernel @product(in %a: !tile.buffer<[16, 32], f32>, in %b: !tile.buffer<[32, 64], f32>,
                     out %c: !tile.buffer<[16, 64], f32>) grid [4, 8] {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %m = arith.muli %i, %c4 : index
  %n = arith.muli %j, %c8 : index
  %acc = tile.full %zero : f32 -> tensor<4x8xf32>
  %x = tile.load %a[%m, %c0] : !tile.buffer<[16, 32], f32> -> tensor<4x32xf32>
  %w = tile.load %b[%c0, %n] : !tile.buffer<[32, 64], f32> -> tensor<32x8xf32>
  %r = tile.dot %x, %w, %acc : tensor<4x32xf32>, tensor<32x8xf32>, tensor<4x8xf32>
  tile.store %r, %c[%m, %n] : tensor<4x8xf32>, !tile.buffer<[16, 64], f32>
}
tile.kernel @transposed(in %x: !tile.buffer<[16, 64], f32>, in %z: !tile.buffer<[64], f32>,
                        out %y: !tile.buffer<[64, 16], f32>) grid [4] {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %p = tile.program_id 0
  %n = arith.muli %p, %c16 : index
  %t = tile.load %x[%c0, %n] : !tile.buffer<[16, 64], f32> -> tensor<16x16xf32>
  %u = tile.transpose %t [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  %b = tile.load %z[%n] : !tile.buffer<[64], f32> -> tensor<16xf32>
  %c = tile.reshape %b : tensor<16xf32> -> tensor<16x1xf32>
  %d = tile.broadcast %c : tensor<16x1xf32> -> tensor<16x16xf32>
  %s = arith.addf %u, %d : tensor<16x16xf32>
  tile.store %s, %y[%n, %c0] : tensor<16x16xf32>, !tile.buffer<[64, 16], f32>
}
