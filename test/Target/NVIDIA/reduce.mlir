// A row is reduced by all threads: each has four neighbours of it, which it reads once, in 128 bits, and keeps in
// registers; threads beyond the row's end compute what the last one does, and drop it. The threads of a warp exchange
// what they have reduced, and after a barrier each thread combines what warps have found. Nobody waits for the result.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s

// CHECK: llvm.mlir.global external @tw_shared() {addr_space = 3 : i32
// CHECK: nvvm.griddepcontrol {{ *}}wait
// CHECK: %[[T32:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[T:.*]] = arith.extui %[[T32]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[T]], %c50_i64
// CHECK: arith.minsi %[[T]], %c49_i64
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK: arith.select %[[IN]]
// CHECK-COUNT-5: nvvm.shfl.sync {{ *}}bfly
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f32
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} -> vector<2xf32>
// CHECK-NOT: nvvm.barrier0
// CHECK-COUNT-4: arith.divf
// CHECK: scf.if %[[IN]]
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: nvvm.barrier0
// CHECK-NOT: nvvm.barrier0
tile.kernel @share(in %x: !tile.buffer<[100, 200], f32>, out %y: !tile.buffer<[100, 200], f32>)
    grid [100] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %row = tile.load %x[%m, %c0] : !tile.buffer<[100, 200], f32> -> tensor<1x200xf32>
  %sum = tile.reduce sum %row axis 1 : tensor<1x200xf32> -> tensor<1xf32>
  %column = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x200xf32>
  %share = arith.divf %row, %all : tensor<1x200xf32>
  tile.store %share, %y[%m, %c0] : tensor<1x200xf32>, !tile.buffer<[100, 200], f32>
}
