// A row is reduced by all threads: each takes every 128th element. The threads of a warp exchange what they have, and
// one combines what warps have found. Sums of f32 are in f64. What is read by others is separated by barriers.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s

// CHECK: llvm.mlir.global external @tw_shared() {addr_space = 3 : i32
// CHECK: %[[T32:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[T:.*]] = arith.extui %[[T32]]
// CHECK: scf.for %{{.*}} = %[[T]] to %c200_i64 step %c128_i64 iter_args(%{{.*}}) -> (f64)
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK-COUNT-10: nvvm.shfl.sync bfly
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f64
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK: scf.for {{.*}} to %c4_i64 {{.*}} -> (f64)
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: nvvm.barrier0
// CHECK: arith.divf
// CHECK: nvvm.barrier0
// CHECK-NOT: nvvm.barrier0
tile.kernel @share(in %x: !tile.buffer<[M, 200], f32>, out %y: !tile.buffer<[M, 200], f32>)
    symbols [M] grid [M] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %row = tile.load %x[%m, %c0] : !tile.buffer<[M, 200], f32> -> tensor<1x200xf32>
  %sum = tile.reduce sum %row axis 1 : tensor<1x200xf32> -> tensor<1xf32>
  %column = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x200xf32>
  %share = arith.divf %row, %all : tensor<1x200xf32>
  tile.store %share, %y[%m, %c0] : tensor<1x200xf32>, !tile.buffer<[M, 200], f32>
}
