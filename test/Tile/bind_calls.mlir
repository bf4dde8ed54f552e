// RUN: tilewright-opt %s -tile-bind-calls -split-input-file | FileCheck %s

// All sizes are known: the kernel is specialised, once for the same sizes, and loses its symbols.
// Its arguments come in the order inputs, outputs, scalars.
// CHECK-LABEL: func.func @specialized
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: tw.dispatch @scale(%arg0, %arg1) outs(%[[E]]) : (tensor<4x8xf32>, f64) outs(tensor<4x8xf32>)
// CHECK: tw.dispatch @scale(
// CHECK: tw.dispatch @scale_0(%arg2, %arg1) outs(%{{.*}}) : (tensor<2x8xf32>, f64)
// CHECK: tile.kernel @scale(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>, %s: f64) grid [4] attributes {tile.destinations}
// CHECK: tile.kernel @scale_0(in %x: !tile.buffer<[2, 8], f32>
func.func @specialized(%x: tensor<4x8xf32>, %s: f64, %z: tensor<2x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>) {
  %0 = tw.kernel_call "mylib.scale"(%s, %x) : (f64, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = tw.kernel_call "scale"(%s, %0) : (f64, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = tw.kernel_call "scale"(%s, %z) : (f64, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<2x8xf32>
}
tile.kernel @scale(out %y: !tile.buffer<[M, N], f32>, %s: f64, in %x: !tile.buffer<[M, N], f32>)
    symbols [M, N] grid [M] {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %t = tile.load %x[%m, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %f = arith.truncf %s : f64 to f32
  %u = tile.full %f : f32 -> tensor<1x?xf32, #tile.dims<[N]>>
  %v = arith.mulf %t, %u : tensor<1x?xf32, #tile.dims<[N]>>
  tile.store %v, %y[%m, %c0] : tensor<1x?xf32, #tile.dims<[N]>>, !tile.buffer<[M, N], f32>
}
// The one that nobody calls goes.
// CHECK-NOT: @unused
tile.kernel @unused(in %x: !tile.buffer<[N], f32>) symbols [N] grid [N] {
}

// -----

// What is known becomes a number (K), the rest is solved by the host program: M from the first
// argument, N from 2 * N + 1, which is checked.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[M:.*]] = tensor.dim %arg0
// CHECK: %[[B:.*]] = tensor.dim %arg1
// CHECK: %[[REST:.*]] = arith.subi %[[B]]
// CHECK: %[[N:.*]] = arith.divsi %[[REST]]
// CHECK: tw.assert %{{.*}}, "kernel join: no integer N gives N * 2 + 1 = %lld (size 1 of \22b\22)"
// CHECK: tw.assert %{{.*}}, "kernel join: symbol N is %lld, but must be at most 100"
// CHECK: tensor.empty(%[[M]], %[[N]]) : tensor<?x?xf32>
// CHECK: tw.dispatch @join(%arg0, %arg1) outs
// CHECK: tile.kernel @join(in %a: !tile.buffer<[M, 6], f32>, in %b: !tile.buffer<[6, N * 2 + 1], f32>, out %y: !tile.buffer<[M, N], f32>) symbols [M, N {max = 100}]
func.func @dynamic(%a: tensor<?x6xf32>, %b: tensor<6x?xf32>) -> tensor<?x?xf32> {
  %0 = tw.kernel_call "join"(%a, %b) : (tensor<?x6xf32>, tensor<6x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
tile.kernel @join(in %a: !tile.buffer<[M, K], f32>, in %b: !tile.buffer<[K, 2 * N + 1], f32>,
    out %y: !tile.buffer<[M, N], f32>) symbols [M, K, N {max = 100}] grid [1] {
}

// -----

// An int argument that is a symbol; the size of the result is not that of an input.
// CHECK-LABEL: func.func @symbols
// CHECK: %[[N:.*]] = arith.index_cast %arg1 : i64 to index
// CHECK: tw.assert %{{.*}}, "kernel repeat: symbol N would be %lld by argument \22n\22; symbols are not negative"
// CHECK: %[[SIZE:.*]] = arith.muli %[[N]],
// CHECK: tensor.empty(%[[SIZE]])
// CHECK: tw.dispatch @repeat(%arg0, %{{.*}}) outs
func.func @symbols(%x: tensor<3xf32>, %n: i64) -> tensor<?xf32> {
  %0 = tw.kernel_call "repeat"(%x, %n) : (tensor<3xf32>, i64) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
tile.kernel @repeat(in %x: !tile.buffer<[K], f32>, %n: index as N, out %y: !tile.buffer<[N * K], f32>)
    symbols [K, N] grid [N] {
}

// -----

// What a kernel reads and writes is an input, which stays, and an out that begins as a copy of it.
// CHECK-LABEL: func.func @in_place
// CHECK: %[[X:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: %[[Y:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: %[[R:.*]]:2 = tw.dispatch @add(%arg1, %arg0) outs(%[[X]], %[[Y]])
// CHECK: return %[[R]]#0
// CHECK: tile.kernel @add(in %b: !tile.buffer<[N], f32>, in %x_before_: !tile.buffer<[N], f32>, inout %x: !tile.buffer<[N], f32>, out %x_before: !tile.buffer<[N], f32>)
// CHECK-SAME: tile.begins = array<i64: 1, 2>
// CHECK: tile.load %x[
func.func @in_place(%x: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = tw.kernel_call "add"(%b, %x) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0 : tensor<?xf32>
}
tile.kernel @add(in %b: !tile.buffer<[N], f32>, inout %x: !tile.buffer<[N], f32>, out %x_before: !tile.buffer<[N], f32>) symbols [N] grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.buffer<[N], f32> -> tensor<?xf32, #tile.dims<[N]>>
  %u = tile.load %b[%c0] : !tile.buffer<[N], f32> -> tensor<?xf32, #tile.dims<[N]>>
  %v = arith.addf %t, %u : tensor<?xf32, #tile.dims<[N]>>
  tile.store %v, %x[%c0] : tensor<?xf32, #tile.dims<[N]>>, !tile.buffer<[N], f32>
  tile.store %t, %x_before[%c0] : tensor<?xf32, #tile.dims<[N]>>, !tile.buffer<[N], f32>
}

// -----

// A kernel may say itself as which input a buffer begins; what the call gives for it is then not read.
// CHECK: tile.kernel @begun(in %x_before: !tile.buffer<[4], f32>, in %b: !tile.buffer<[4], f32>, inout %x: !tile.buffer<[4], f32>)
// CHECK-SAME: tile.begins = array<i64: 1, 2>
func.func @begun_by_itself(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tw.kernel_call "begun"(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
tile.kernel @begun(inout %x: !tile.buffer<[4], f32>, in %b: !tile.buffer<[4], f32>) grid [1] attributes {tile.begins = array<i64: 1, 0>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %v = arith.addf %t, %t : tensor<4xf32>
  tile.store %v, %x[%c0] : tensor<4xf32>, !tile.buffer<[4], f32>
}

// -----

// What a body has of sizes is checked before a program runs: what divides must not be 0, and extents
// of tiles and sizes of the grid must not be negative, nor overflow, nor be too many together; each once.
// CHECK-LABEL: func.func @sizes
// CHECK: tw.assert %{{.*}}, "kernel parts: N - 1 overflows where N is %lld"
// CHECK: tw.assert %{{.*}}, "kernel parts: size 0 of the grid, N - 1, is %lld, which is negative"
// CHECK: tw.assert %{{.*}}, "kernel parts: the grid, [N - 1], has more than 1099511627776 programs where N is %lld"
// CHECK: tw.assert %{{.*}}, "kernel parts: M ceildiv N divides by %lld"
// CHECK: tw.assert %{{.*}}, "kernel parts: N - 4 overflows where N is %lld"
// CHECK: tw.assert %{{.*}}, "kernel parts: an extent of a tile, N - 4, is %lld, which is negative"
// CHECK: tw.assert %{{.*}}, "kernel parts: a tile, [1, N - 4], has more than 68719476736 elements where N is %lld"
// CHECK-NOT: tw.assert
// CHECK: tw.dispatch @parts
func.func @sizes(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tw.kernel_call "parts"(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
tile.kernel @parts(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32> init 0.0 : f32)
    symbols [M, N] grid [N - 1] {
  %c0 = arith.constant 0 : index
  %m = tile.size (M ceildiv N)
  %t = tile.load %x[%m, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N - 4]>>
  %u = arith.addf %t, %t : tensor<1x?xf32, #tile.dims<[N - 4]>>
  tile.store %u, %y[%m, %c0] : tensor<1x?xf32, #tile.dims<[N - 4]>>, !tile.buffer<[M, N], f32>
}
