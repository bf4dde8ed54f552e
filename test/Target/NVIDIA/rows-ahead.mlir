// A row takes all threads of a multiprocessor, so the block runs one program after the other. One thread begins to copy
// two rows to shared memory, and as soon as all threads have read one, which registers hold, that of the program after the
// next one.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s --check-prefix=PTX

// CHECK: nvvm.reqntid = array<i32: 1024, 1, 1>
// CHECK-COUNT-4: nvvm.mbarrier.init
// The first two programs':
// CHECK-COUNT-2: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: llvm.load {{.*}} -> vector<8xf16>
// CHECK: nvvm.barrier0
// CHECK: nvvm.mbarrier.arrive
// The third one's:
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: nvvm.shfl.sync
// CHECK: llvm.store {{.*}} : vector<8xf16>
// PTX: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
// PTX: ld.shared{{.*}}.v4
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
  %p = arith.truncf %below : tensor<1x32768xf32> to tensor<1x32768xf16>
  tile.store %p, %y[%m, %c0] : tensor<1x32768xf16>, !tile.buffer<[M, 32768], f16>
}
