// RUN: tilewright kernel print %s --target=nvidia:sm_90a --as=assembly | FileCheck %s

// Two chained products on the tensor cores: the second one's left operand stays in registers, and the first
// one's next sums are begun before it.

// CHECK: .reqntid 384
// CHECK: prefetch.tensormap
// CHECK: griddepcontrol.wait
// CHECK: setmaxnreg.inc.sync.aligned.u32 232
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: wgmma.wait_group.sync.aligned 	0
// CHECK: shfl.sync.bfly
// CHECK: ex2.approx.ftz.f32
// CHECK: cvt.rn.f16x2.f32
// The loop: turns, scores, sums, and both are waited for one after the other.
// CHECK: bar.sync {{.*}}, 256
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: wgmma.commit_group
// CHECK: setp.ne.b32 p,
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK: wgmma.commit_group
// CHECK: bar.arrive {{.*}}, 256
// CHECK: wgmma.wait_group.sync.aligned 	1
// CHECK: wgmma.wait_group.sync.aligned 	0
// CHECK: stmatrix.sync.aligned.m8n8.x4
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta
tile.kernel @attention(in %q: !tile.buffer<[256, 64], f16>, in %k: !tile.buffer<[256, 64], f16>,
    in %v: !tile.buffer<[256, 128], f16>, out %o: !tile.buffer<[256, 128], f16>) grid [2] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %id = tile.program_id 0
  %row = arith.muli %id, %c128 : index
  %x = tile.load %q[%row, %c0] : !tile.buffer<[256, 64], f16> -> tensor<128x64xf16>
  %most0 = tile.full %inf : f32 -> tensor<128x1xf32>
  %total0 = tile.full %zero : f32 -> tensor<128x1xf32>
  %none = tile.full %zero : f32 -> tensor<128x128xf32>
  %empty = tile.full %zero : f32 -> tensor<128x64xf32>
  %m, %t, %r = tile.for %i = %c0 to %c4 step %c1 carry (%most = %most0 : tensor<128x1xf32>,
      %total = %total0 : tensor<128x1xf32>, %acc = %none : tensor<128x128xf32>) {
    %at = arith.muli %i, %c64 : index
    %y = tile.load %k[%at, %c0] : !tile.buffer<[256, 64], f16> -> tensor<64x64xf16>
    %yt = tile.transpose %y [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %x, %yt, %empty : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    %a = tile.reduce max %s axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %a1 = tile.reshape %a : tensor<128xf32> -> tensor<128x1xf32>
    %next = arith.maximumf %most, %a1 : tensor<128x1xf32>
    %wide = tile.broadcast %next : tensor<128x1xf32> -> tensor<128x64xf32>
    %d = arith.subf %s, %wide : tensor<128x64xf32>
    %w = math.exp %d : tensor<128x64xf32>
    %less = arith.subf %most, %next : tensor<128x1xf32>
    %fade = math.exp %less : tensor<128x1xf32>
    %kept = arith.mulf %total, %fade : tensor<128x1xf32>
    %b = tile.reduce sum %w axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %b1 = tile.reshape %b : tensor<128xf32> -> tensor<128x1xf32>
    %sum = arith.addf %kept, %b1 : tensor<128x1xf32>
    %fades = tile.broadcast %fade : tensor<128x1xf32> -> tensor<128x128xf32>
    %before = arith.mulf %acc, %fades : tensor<128x128xf32>
    %h = arith.truncf %w : tensor<128x64xf32> to tensor<128x64xf16>
    %z = tile.load %v[%at, %c0] : !tile.buffer<[256, 128], f16> -> tensor<64x128xf16>
    %p = tile.dot %h, %z, %before : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    tile.yield %next, %sum, %p : tensor<128x1xf32>, tensor<128x1xf32>, tensor<128x128xf32>
  }
  %all = tile.broadcast %t : tensor<128x1xf32> -> tensor<128x128xf32>
  %mean = arith.divf %r, %all : tensor<128x128xf32>
  %out = arith.truncf %mean : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %out, %o[%row, %c0] : tensor<128x128xf16>, !tile.buffer<[256, 128], f16>
}
