// Programs read twice as much that is the same in all of them as of their own. So each multiprocessor has one block, which
// keeps that in shared memory, and whose threads take the row of one program after the other into registers: then the next
// one comes to where it was. Blocks claim programs by a counter in the workspace, which is set to 0 before each launch.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s --check-prefix=PTX --implicit-check-not=ld.global --implicit-check-not=local
// RUN: env TILEWRIGHT_PTXAS= tilewright kernel compile %s --target=nvidia:sm_90a -o %t.claims.so
// RUN: tilewright inspect %t.claims.so | FileCheck %s --check-prefix=ARTIFACT
// ARTIFACT: memory 64 bytes planned
// ARTIFACT: norm_fill:
// ARTIFACT: norm: {{.*}} 197 kB (196768 bytes) of shared memory
// Fewer programs do not pay for that, and how many there are has to be known.
// RUN: sed 's/4096/2000/g' %s > %t.few.mlir
// RUN: tilewright kernel print %t.few.mlir --as=loops --target=nvidia:sm_90a | FileCheck %s --check-prefix=FEW
// RUN: sed 's/4096/M/g; s/grid/symbols [M] grid/' %s > %t.unknown.mlir
// RUN: tilewright kernel print %t.unknown.mlir --as=loops --target=nvidia:sm_90a | FileCheck %s --check-prefix=FEW
// RUN: env TILEWRIGHT_PTXAS= tilewright kernel compile %t.unknown.mlir --target=nvidia:sm_90a -o %t.so --report | FileCheck %s --check-prefix=WHY
// WHY: does not keep what all programs read in shared memory: how many programs there are is known only at the call
// Rows of which two have room beside what is kept come to one place while the other is in use.
// RUN: sed 's/32768/24576/g' %s > %t.two.mlir
// RUN: tilewright kernel print %t.two.mlir --as=loops --target=nvidia:sm_90a | FileCheck %s --check-prefix=TWO
// Those that two blocks hold in registers need none of it.
// RUN: sed 's/32768/16384/g' %s > %t.held.mlir
// RUN: tilewright kernel print %t.held.mlir --as=loops --target=nvidia:sm_90a | FileCheck %s --check-prefix=HELD

// CHECK: llvm.func @kernel(%[[X:.*]]: !llvm.ptr {llvm.noalias}, {{.*}}, %[[COUNTER:[^ ]*]]: !llvm.ptr)
// CHECK-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 1024, 1, 1>
// CHECK: nvvm.griddepcontrol wait
// CHECK-COUNT-2: nvvm.mbarrier.init
// CHECK: nvvm.barrier0
// The first row, and what is kept.
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c65536_i32
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c131072_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: llvm.atomicrmw uinc_wrap %[[COUNTER]], %c2147483647_i32 syncscope("device") monotonic
// CHECK: scf.while (%[[NUMBER:.*]] = {{.*}}, %[[TURN:.*]] = %c0_i32, %[[COUNTED:.*]] = {{.*}})
// CHECK: arith.cmpi ult, %[[NUMBER]], %c4096_i32
// CHECK: nvvm.mbarrier.try_wait.parity
// What has been claimed goes to all threads, before the barrier behind which its row may come.
// CHECK: %[[CLAIMED:.*]] = arith.addi %[[COUNTED]], {{.*}} : i32
// CHECK: llvm.store %[[CLAIMED]], {{.*}} : i32, !llvm.ptr<3>
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<8xf16>
// CHECK-NOT: llvm.load
// CHECK: nvvm.barrier0
// The row of that program, and the next claim.
// CHECK: arith.cmpi ult, %[[CLAIMED]], %c4096_i32
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c65536_i32
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: llvm.atomicrmw uinc_wrap %[[COUNTER]]
// CHECK: nvvm.mbarrier.try_wait.parity {{.*}}, %c0_i32
// CHECK: nvvm.shfl.sync
// CHECK: llvm.load {{.*}} -> vector<8xf16>
// CHECK: llvm.store {{.*}} : vector<8xf16>
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK: llvm.func @kernel_fill({{.*}}, %[[WORKSPACE:[^ ]*]]: !llvm.ptr)
// CHECK: llvm.store %c0_i32, %[[WORKSPACE]] : i32
// PTX: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
// PTX-COUNT-4: st.global.v4.b32

// FEW: nvvm.minctasm = 3 : i32, nvvm.reqntid = array<i32: 512, 1, 1>
// FEW-NOT: llvm.atomicrmw
// FEW-NOT: @kernel_fill
// TWO: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 1024, 1, 1>
// TWO-COUNT-3: nvvm.mbarrier.init
// TWO: arith.remui {{.*}}, %c2_i32
// HELD-NOT: nvvm.mbarrier
tile.kernel @norm(in %x: !tile.buffer<[4096, 32768], f16>, in %w: !tile.buffer<[32768], f16>,
                  in %b: !tile.buffer<[32768], f16>, out %y: !tile.buffer<[4096, 32768], f16>) grid [4096] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %row = tile.load %x[%m, %c0] : !tile.buffer<[4096, 32768], f16> -> tensor<1x32768xf16>
  %wide = arith.extf %row : tensor<1x32768xf16> to tensor<1x32768xf32>
  %sum = tile.reduce sum %wide axis 1 : tensor<1x32768xf32> -> tensor<1xf32>
  %column = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %all = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x32768xf32>
  %apart = arith.subf %wide, %all : tensor<1x32768xf32>
  %weights = tile.load %w[%c0] : !tile.buffer<[32768], f16> -> tensor<32768xf16>
  %weight_row = tile.reshape %weights : tensor<32768xf16> -> tensor<1x32768xf16>
  %weight = arith.extf %weight_row : tensor<1x32768xf16> to tensor<1x32768xf32>
  %scaled = arith.mulf %apart, %weight : tensor<1x32768xf32>
  %biases = tile.load %b[%c0] : !tile.buffer<[32768], f16> -> tensor<32768xf16>
  %bias_row = tile.reshape %biases : tensor<32768xf16> -> tensor<1x32768xf16>
  %bias = arith.extf %bias_row : tensor<1x32768xf16> to tensor<1x32768xf32>
  %moved = arith.addf %scaled, %bias : tensor<1x32768xf32>
  %p = arith.truncf %moved : tensor<1x32768xf32> to tensor<1x32768xf16>
  tile.store %p, %y[%m, %c0] : tensor<1x32768xf16>, !tile.buffer<[4096, 32768], f16>
}
