// A kernel with variants for numbers of workers asks for that number, which stands behind its other scalars, here a size of each tensor
// and an index.
// RUN: tilewright-opt %s -tw-target-cpu=cpu=x86-64-v3 | FileCheck %s

// CHECK: llvm.func @copy(%{{.*}}: !llvm.ptr, %[[SCALARS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[SCALARS]][3]
// CHECK: %[[WORKERS:.*]] = llvm.load %[[PLACE]]
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: llvm.icmp "sge" %[[WORKERS]], %[[FOUR]]
// CHECK: llvm.call @copy_many(
// CHECK: llvm.call @copy$any(
// CHECK: llvm.func @copy_info(
// CHECK: llvm.getelementptr %{{.*}}[3]
// CHECK: llvm.call @copy_many_info(
// CHECK: llvm.call @copy$any_info(
tile.kernel @copy(in %x: !tile.buffer<[M, 8], f32>, %k: index, out %y: !tile.buffer<[M, 8], f32>) symbols [M] grid [M]
    attributes {tile.variants = [@copy_many]} {
  %i = tile.program_id 0
  %zero = arith.constant 0 : index
  %t = tile.load %x[%i, %zero] : !tile.buffer<[M, 8], f32> -> tensor<1x8xf32>
  tile.store %t, %y[%i, %zero] : tensor<1x8xf32>, !tile.buffer<[M, 8], f32>
}

tile.kernel @copy_many(in %x: !tile.buffer<[M, 8], f32>, %k: index, out %y: !tile.buffer<[M, 8], f32>) symbols [M]
    grid [M, 2] attributes {tile.workers = 4} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %four = arith.constant 4 : index
  %at = arith.muli %j, %four : index
  %t = tile.load %x[%i, %at] : !tile.buffer<[M, 8], f32> -> tensor<1x4xf32>
  tile.store %t, %y[%i, %at] : tensor<1x4xf32>, !tile.buffer<[M, 8], f32>
}
