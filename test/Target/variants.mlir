// A kernel with variants is one function, which asks the sizes that it is called with. `N` is the
// second of the scalars: `M` stands before it.
// RUN: tilewright-opt %s -tw-target-cpu=cpu=x86-64-v3 | FileCheck %s

// CHECK: llvm.func @copy$any(
// CHECK: llvm.func @copy(%{{.*}}: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[SCALARS]][1]
// CHECK: %[[N:.*]] = llvm.load %[[PLACE]]
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: llvm.icmp "sge" %[[N]], %[[ONE]]
// CHECK: llvm.call @copy_one(
// CHECK: llvm.icmp "sle"
// CHECK: llvm.call @copy_few(
// CHECK: llvm.call @copy$any(
// CHECK: llvm.func @copy_info(
// CHECK: llvm.call @copy_one_info(
// CHECK: llvm.call @copy$any_info(
// CHECK: llvm.func @copy_one(
// CHECK: llvm.func @copy_few(
tile.kernel @copy(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>) symbols [M, N] grid [M, N]
    attributes {tile.variants = [@copy_one, @copy_few]} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %t = tile.load %x[%i, %j] : !tile.buffer<[M, N], f32> -> tensor<1x1xf32>
  tile.store %t, %y[%i, %j] : tensor<1x1xf32>, !tile.buffer<[M, N], f32>
}

tile.kernel @copy_one(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>)
    symbols [M, N {min = 1, max = 1}] grid [M] {
  %i = tile.program_id 0
  %zero = arith.constant 0 : index
  %t = tile.load %x[%i, %zero] : !tile.buffer<[M, N], f32> -> tensor<1x1xf32>
  tile.store %t, %y[%i, %zero] : tensor<1x1xf32>, !tile.buffer<[M, N], f32>
}

tile.kernel @copy_few(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>)
    symbols [M, N {max = 8}] grid [M] {
  %i = tile.program_id 0
  %zero = arith.constant 0 : index
  %t = tile.load %x[%i, %zero] : !tile.buffer<[M, N], f32> -> tensor<1x8xf32>
  tile.store %t, %y[%i, %zero] : tensor<1x8xf32>, !tile.buffer<[M, N], f32>
}
