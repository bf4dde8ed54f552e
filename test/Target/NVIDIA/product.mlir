// RUN: tilewright kernel print %s --target=nvidia:sm_90a --as=assembly | FileCheck %s

// A product of f16 on the tensor cores: TMA brings both operands, wgmma multiplies, and the result goes out
// through shared memory.

// CHECK: .reqntid 384
// CHECK-COUNT-12: mbarrier.init
// CHECK: griddepcontrol.wait
// CHECK: griddepcontrol.launch_dependents
// CHECK: setmaxnreg.inc.sync.aligned.u32 232
// CHECK: wgmma.fence
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 	1
// CHECK: mbarrier.arrive
// CHECK: wgmma.wait_group.sync.aligned 	0
// CHECK: stmatrix.sync.aligned.m8n8.x4
// CHECK: fence.proxy.async.shared::cta
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta
// CHECK: cp.async.bulk.commit_group
// CHECK: setmaxnreg.dec.sync.aligned.u32 40
// CHECK: elect.sync
// CHECK: mbarrier.try_wait.parity
// CHECK: mov.b32 [[BYTES:%r[0-9]+]], 32768;
// CHECK-NEXT: mbarrier.arrive.expect_tx{{.*}}, [[BYTES]];
// CHECK-COUNT-3: cp.async.bulk.tensor.2d.shared::cluster.global
tile.kernel @product(in %a: !tile.buffer<[M, 200], f16>, in %b: !tile.buffer<[200, 192], f16>,
    out %c: !tile.buffer<[M, 192], f16>) symbols [M] grid [M ceildiv 128, 2] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = tile.program_id 0
  %n = tile.program_id 1
  %row = arith.muli %m, %c128 : index
  %column = arith.muli %n, %c128 : index
  %none = tile.full %zero : f32 -> tensor<128x128xf32>
  %sum = tile.for %k = %c0 to %c4 step %c1 carry (%acc = %none : tensor<128x128xf32>) {
    %at = arith.muli %k, %c64 : index
    %x = tile.load %a[%row, %at] : !tile.buffer<[M, 200], f16> -> tensor<128x64xf16>
    %y = tile.load %b[%at, %column] : !tile.buffer<[200, 192], f16> -> tensor<64x128xf16>
    %d = tile.dot %x, %y, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    tile.yield %d : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %c[%row, %column] : tensor<128x128xf16>, !tile.buffer<[M, 192], f16>
}
