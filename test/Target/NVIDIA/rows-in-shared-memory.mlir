// Registers of 512 threads do not hold a row, so three blocks share a multiprocessor, each with the row of one program in
// shared memory, which is read from there for each operation: an exponential is computed twice.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s --check-prefix=PTX

// CHECK: nvvm.minctasm = 3 : i32, nvvm.reqntid = array<i32: 512, 1, 1>
// CHECK: nvvm.mbarrier.init
// CHECK: scf.while
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xf16>
// CHECK: nvvm.shfl.sync
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xf16>
// CHECK: nvvm.shfl.sync
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xf16>
// CHECK: llvm.store {{.*}} : vector<8xf16>
// CHECK: nvvm.barrier0
// PTX: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
// PTX-COUNT-16: ex2.approx
// PTX-NOT: ld.global
tile.kernel @softmax(in %x: !tile.buffer<[M, 32768], f16>, out %y: !tile.buffer<[M, 32768], f16>)
    symbols [M] grid [M] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %row = tile.load %x[%m, %c0] : !tile.buffer<[M, 32768], f16> -> tensor<1x32768xf16>
  %wide = arith.extf %row : tensor<1x32768xf16> to tensor<1x32768xf32>
  %max = tile.reduce max %wide axis 1 : tensor<1x32768xf32> -> tensor<1xf32>
  %column = tile.reshape %max : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x32768xf32>
  %below = arith.subf %wide, %all : tensor<1x32768xf32>
  %e = math.exp %below : tensor<1x32768xf32>
  %sum = tile.reduce sum %e axis 1 : tensor<1x32768xf32> -> tensor<1xf32>
  %sums = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %totals = tile.broadcast %sums : tensor<1x1xf32> -> tensor<1x32768xf32>
  %share = arith.divf %e, %totals : tensor<1x32768xf32>
  %p = arith.truncf %share : tensor<1x32768xf32> to tensor<1x32768xf16>
  tile.store %p, %y[%m, %c0] : tensor<1x32768xf16>, !tile.buffer<[M, 32768], f16>
}
