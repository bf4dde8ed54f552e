// RUN: tilewright-opt %s -tile-fuse -split-input-file | FileCheck %s

// A pointwise consumer is written again behind the store: on the box of the product, 4 x 8.
// CHECK-LABEL: func.func @follows
// CHECK: tw.dispatch @product_0(%{{.*}}, %{{.*}}, %{{.*}}) outs(%{{.*}}){{.*}}:
// CHECK-NOT: tw.dispatch
func.func @follows(%a: tensor<16x32xf32>, %b: tensor<32x64xf32>, %z: tensor<64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %c = tw.dispatch @product(%a, %b) outs(%e) : (tensor<16x32xf32>, tensor<32x64xf32>) outs(tensor<16x64xf32>) -> tensor<16x64xf32>
  %y = tw.dispatch @bias(%c, %z) outs(%e) : (tensor<16x64xf32>, tensor<64xf32>) outs(tensor<16x64xf32>) -> tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}
// CHECK: tile.kernel @product_0(in %in0: !tile.buffer<[16, 32], f32>, in %in1: !tile.buffer<[32, 64], f32>,
// CHECK-SAME: in %in2: !tile.buffer<[64], f32>, out %out3: !tile.buffer<[16, 64], f32>) grid [4, 8]
// CHECK: %[[ACC:.*]] = tile.dot
// CHECK: %[[LOAD:.*]] = tile.load %in2[%[[COLUMN:.*]]] : !tile.buffer<[64], f32> -> tensor<8xf32>
// CHECK: %[[ROW:.*]] = tile.reshape %[[LOAD]] : tensor<8xf32> -> tensor<1x8xf32>
// CHECK: %[[ALL:.*]] = tile.broadcast %[[ROW]] : tensor<1x8xf32> -> tensor<4x8xf32>
// CHECK: arith.addf %[[ACC]], %[[ALL]]
// CHECK: tile.store %{{.*}}, %out3[%{{.*}}, %[[COLUMN]]] : tensor<4x8xf32>
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
// One row and all columns a program.
tile.kernel @bias(in %x: !tile.buffer<[16, 64], f32>, in %z: !tile.buffer<[64], f32>,
                  out %y: !tile.buffer<[16, 64], f32>) grid [16] {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %row = tile.load %x[%i, %c0] : !tile.buffer<[16, 64], f32> -> tensor<1x64xf32>
  %b = tile.load %z[%c0] : !tile.buffer<[64], f32> -> tensor<64xf32>
  %c = tile.reshape %b : tensor<64xf32> -> tensor<1x64xf32>
  %s = arith.addf %row, %c : tensor<1x64xf32>
  tile.store %s, %y[%i, %c0] : tensor<1x64xf32>, !tile.buffer<[16, 64], f32>
}

// -----

// A pointwise producer takes the place of a load. Boxes of 8 reach beyond 20 columns, where the load
// read 0: selected.
// CHECK-LABEL: func.func @replaces
// CHECK: tw.dispatch @{{.*}}(%{{.*}}) outs
// CHECK-NOT: tw.dispatch
func.func @replaces(%x: tensor<20xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<20xf32>
  %f = tensor.empty() : tensor<3xf32>
  %c = tw.dispatch @exp(%x) outs(%e) : (tensor<20xf32>) outs(tensor<20xf32>) -> tensor<20xf32>
  %y = tw.dispatch @sums(%c) outs(%f) : (tensor<20xf32>) outs(tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK: tile.kernel
// CHECK-SAME: grid [3]
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[E:.*]] = math.exp %[[X]]
// CHECK: %[[AT:.*]] = tile.iota 0
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[AT]]
// CHECK: %[[P:.*]] = arith.select %[[IN]], %[[E]]
// CHECK: tile.reduce sum %[[P]]
tile.kernel @exp(in %x: !tile.buffer<[20], f32>, out %y: !tile.buffer<[20], f32>) grid [20] {
  %i = tile.program_id 0
  %t = tile.load %x[%i] : !tile.buffer<[20], f32> -> tensor<1xf32>
  %e = math.exp %t : tensor<1xf32>
  tile.store %e, %y[%i] : tensor<1xf32>, !tile.buffer<[20], f32>
}
tile.kernel @sums(in %x: !tile.buffer<[20], f32>, out %y: !tile.buffer<[3], f32>) grid [3] {
  %c8 = arith.constant 8 : index
  %i = tile.program_id 0
  %at = arith.muli %i, %c8 : index
  %t = tile.load %x[%at] : !tile.buffer<[20], f32> -> tensor<8xf32>
  %s = tile.reduce sum %t axis 0 : tensor<8xf32> -> tensor<f32>
  %r = tile.reshape %s : tensor<f32> -> tensor<1xf32>
  tile.store %r, %y[%i] : tensor<1xf32>, !tile.buffer<[3], f32>
}

// -----

// Exponentials would be computed again by every program that reads all of them.
// CHECK-LABEL: func.func @again
// CHECK: tw.dispatch @exp
// CHECK: tw.dispatch @all
func.func @again(%x: tensor<20xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<20xf32>
  %f = tensor.empty() : tensor<4xf32>
  %c = tw.dispatch @exp(%x) outs(%e) : (tensor<20xf32>) outs(tensor<20xf32>) -> tensor<20xf32>
  %y = tw.dispatch @all(%c) outs(%f) : (tensor<20xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
tile.kernel @exp(in %x: !tile.buffer<[20], f32>, out %y: !tile.buffer<[20], f32>) grid [20] {
  %i = tile.program_id 0
  %t = tile.load %x[%i] : !tile.buffer<[20], f32> -> tensor<1xf32>
  %e = math.exp %t : tensor<1xf32>
  tile.store %e, %y[%i] : tensor<1xf32>, !tile.buffer<[20], f32>
}
tile.kernel @all(in %x: !tile.buffer<[20], f32>, out %y: !tile.buffer<[4], f32>) grid [4] {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %t = tile.load %x[%c0] : !tile.buffer<[20], f32> -> tensor<20xf32>
  %s = tile.reduce sum %t axis 0 : tensor<20xf32> -> tensor<f32>
  %r = tile.reshape %s : tensor<f32> -> tensor<1xf32>
  tile.store %r, %y[%i] : tensor<1xf32>, !tile.buffer<[4], f32>
}

// -----

// A symbol of a kernel may have any name, "program_0" too: it is not a program's coordinate. What is
// read at a size is not what is stored at the coordinate.
// CHECK-LABEL: func.func @named
// CHECK: tw.dispatch @twice
// CHECK: tw.dispatch @element
func.func @named(%x: tensor<8xf32>, %p: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %c = tw.dispatch @twice(%x) outs(%e) : (tensor<8xf32>) outs(tensor<8xf32>) -> tensor<8xf32>
  %y = tw.dispatch @element(%c, %p) outs(%e) : (tensor<8xf32>, index) outs(tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
tile.kernel @twice(in %x: !tile.buffer<[8], f32>, out %y: !tile.buffer<[8], f32>) grid [8] {
  %i = tile.program_id 0
  %a = tile.load %x[%i] : !tile.buffer<[8], f32> -> tensor<1xf32>
  %r = arith.addf %a, %a : tensor<1xf32>
  tile.store %r, %y[%i] : tensor<1xf32>, !tile.buffer<[8], f32>
}
tile.kernel @element(in %x: !tile.buffer<[8], f32>, out %y: !tile.buffer<[8], f32>, %p: index as program_0)
    symbols [program_0 {max = 7}] grid [8] {
  %i = tile.program_id 0
  %at = tile.size program_0
  %a = tile.load %x[%at] : !tile.buffer<[8], f32> -> tensor<1xf32>
  tile.store %a, %y[%i] : tensor<1xf32>, !tile.buffer<[8], f32>
}

// -----

// A consumer is written behind each of two stores of every second element; what begins outside is
// dropped, and so reads numbers there.
// CHECK-LABEL: func.func @everySecond
// CHECK: tw.dispatch @halves_0
// CHECK-NOT: tw.dispatch
// CHECK: tile.load %in1[%[[EVEN:.*]]] strides [2] pad
// CHECK: tile.store %{{.*}}, %out2[%[[EVEN]]] strides [2] drop
// CHECK: %[[ODD:.*]] = arith.addi
// CHECK: tile.load %in1[%[[ODD]]] strides [2] pad
// CHECK: tile.store %{{.*}}, %out2[%[[ODD]]] strides [2] drop
func.func @everySecond(%a: tensor<16xf32>, %z: tensor<31xf32>) -> tensor<31xf32> {
  %e = tensor.empty() : tensor<31xf32>
  %c = tw.dispatch @halves(%a) outs(%e) : (tensor<16xf32>) outs(tensor<31xf32>) -> tensor<31xf32>
  %y = tw.dispatch @sum(%c, %z) outs(%e) : (tensor<31xf32>, tensor<31xf32>) outs(tensor<31xf32>) -> tensor<31xf32>
  return %y : tensor<31xf32>
}
tile.kernel @halves(in %a: !tile.buffer<[16], f32>, out %c: !tile.buffer<[31], f32>) grid [4] {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %i = tile.program_id 0
  %from = arith.muli %i, %c4 : index
  %even = arith.muli %i, %c8 : index
  %x = tile.load %a[%from] : !tile.buffer<[16], f32> -> tensor<4xf32>
  %exp = math.exp %x : tensor<4xf32>
  tile.store %x, %c[%even] strides [2] drop : tensor<4xf32>, !tile.buffer<[31], f32>
  %odd = arith.addi %even, %c1 : index
  tile.store %exp, %c[%odd] strides [2] drop : tensor<4xf32>, !tile.buffer<[31], f32>
}
tile.kernel @sum(in %x: !tile.buffer<[31], f32>, in %z: !tile.buffer<[31], f32>,
                 out %y: !tile.buffer<[31], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.buffer<[31], f32> -> tensor<31xf32>
  %b = tile.load %z[%c0] : !tile.buffer<[31], f32> -> tensor<31xf32>
  %s = arith.addf %a, %b : tensor<31xf32>
  tile.store %s, %y[%c0] : tensor<31xf32>, !tile.buffer<[31], f32>
}

// -----

// In a loop whose trips read other elements, too: 8 at a time, where the last ones of 20 are absent.
// CHECK-LABEL: func.func @inLoop
// CHECK: tw.dispatch @{{.*}}(%{{.*}}) outs
// CHECK-NOT: tw.dispatch
func.func @inLoop(%x: tensor<4x20xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x20xf32>
  %f = tensor.empty() : tensor<4xf32>
  %c = tw.dispatch @exp(%x) outs(%e) : (tensor<4x20xf32>) outs(tensor<4x20xf32>) -> tensor<4x20xf32>
  %y = tw.dispatch @sums(%c) outs(%f) : (tensor<4x20xf32>) outs(tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK: tile.kernel
// CHECK: tile.for %[[K:[a-z0-9]+]] =
// CHECK: %[[X:.*]] = tile.load %{{.*}}[%{{.*}}, %[[K]]]
// CHECK: %[[E:.*]] = math.exp %[[X]]
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %[[E]]
// CHECK: tile.reduce sum %[[P]]
// CHECK: combine
tile.kernel @exp(in %x: !tile.buffer<[4, 20], f32>, out %y: !tile.buffer<[4, 20], f32>) grid [4] {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %t = tile.load %x[%i, %c0] : !tile.buffer<[4, 20], f32> -> tensor<1x20xf32>
  %e = math.exp %t : tensor<1x20xf32>
  tile.store %e, %y[%i, %c0] : tensor<1x20xf32>, !tile.buffer<[4, 20], f32>
}
tile.kernel @sums(in %x: !tile.buffer<[4, 20], f32>, out %y: !tile.buffer<[4], f32>) grid [4] {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c20 = arith.constant 20 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.full %f0 : f32 -> tensor<1xf32>
  %i = tile.program_id 0
  %r = tile.for %k = %c0 to %c20 step %c8 carry (%sum = %zero : tensor<1xf32>) {
    %t = tile.load %x[%i, %k] : !tile.buffer<[4, 20], f32> -> tensor<1x8xf32>
    %s = tile.reduce sum %t axis 1 : tensor<1x8xf32> -> tensor<1xf32>
    %n = arith.addf %sum, %s : tensor<1xf32>
    tile.yield %n : tensor<1xf32>
  } combine (%a : tensor<1xf32>, %b : tensor<1xf32>) {
    %n = arith.addf %a, %b : tensor<1xf32>
    tile.yield %n : tensor<1xf32>
  }
  tile.store %r, %y[%i] : tensor<1xf32>, !tile.buffer<[4], f32>
}
