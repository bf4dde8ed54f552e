// A short row has a warp of its own, eight of them in a block, each with its own program: nobody waits but the lanes
// of a warp, and there is no shared memory. Each lane has two groups of four neighbours, the second one if it is there.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s

// CHECK: nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK: %[[T32:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[T:.*]] = arith.extui %[[T32]]
// CHECK: %[[WARP:.*]] = arith.divui %[[T]], %c32_i64
// CHECK: %[[LANE:.*]] = arith.remui %[[T]], %c32_i64
// CHECK: %[[BLOCK:.*]] = arith.muli %{{.*}}, %c8_i64
// CHECK: %[[FIRST:.*]] = arith.addi %[[BLOCK]], %[[WARP]]
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %c8_i64
// CHECK: scf.while (%{{.*}} = %[[FIRST]])
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-5: nvvm.shfl.sync {{ *}}bfly
// CHECK-NOT: nvvm.barrier0
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: nvvm.bar.warp.sync
// CHECK: arith.addi %{{.*}}, %[[STEP]]
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
