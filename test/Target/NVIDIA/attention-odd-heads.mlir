// RUN: tilewright kernel print %s --kernel=attention --target=nvidia:sm_90a --as=assembly | FileCheck %s
// RUN: tilewright kernel print %s --kernel=hidden --target=nvidia:sm_90a --as=assembly | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_PTXAS= tilewright kernel compile %s --kernel=inside --target=nvidia:sm_90a -o %t.so --report | \
// RUN:   FileCheck %s --check-prefix=INSIDE

// Heads of 72, no multiple of 16: TMA brings zeros behind what is summed (five products of 16), sums have 72 columns, and
// what is stored goes out in pieces of 64 and of 8.

// CHECK-COUNT-5: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-NOT: m64n64k16
// CHECK: wgmma.wait_group
// CHECK: wgmma.mma_async.sync.aligned.m64n72k16.f32.f16.f16
// CHECK: stmatrix.sync.aligned.m8n8.x4
// CHECK: cp.async.bulk.tensor.3d.global.shared::cta
// CHECK: stmatrix.sync.aligned.m8n8.x2
// CHECK-NOT: stmatrix
// CHECK: cp.async.bulk.tensor.3d.global.shared::cta
tile.kernel @attention(in %q: !tile.buffer<[200, 3, 72], f16>, in %k: !tile.buffer<[256, 3, 72], f16>,
    in %v: !tile.buffer<[256, 3, 72], f16>, out %o: !tile.buffer<[200, 3, 72], f16>) grid [3, 2] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %root = arith.constant 0.117851131 : f32
  %head = tile.program_id 0
  %id = tile.program_id 1
  %row = arith.muli %id, %c128 : index
  %x3 = tile.load %q[%row, %head, %c0] : !tile.buffer<[200, 3, 72], f16> -> tensor<128x1x72xf16>
  %x = tile.reshape %x3 : tensor<128x1x72xf16> -> tensor<128x72xf16>
  %most0 = tile.full %inf : f32 -> tensor<128x1xf32>
  %total0 = tile.full %zero : f32 -> tensor<128x1xf32>
  %none = tile.full %zero : f32 -> tensor<128x72xf32>
  %empty = tile.full %zero : f32 -> tensor<128x64xf32>
  %scale = tile.full %root : f32 -> tensor<128x64xf32>
  %m, %t, %r = tile.for %i = %c0 to %c4 step %c1 carry (%most = %most0 : tensor<128x1xf32>,
      %total = %total0 : tensor<128x1xf32>, %acc = %none : tensor<128x72xf32>) {
    %at = arith.muli %i, %c64 : index
    %y3 = tile.load %k[%at, %head, %c0] : !tile.buffer<[256, 3, 72], f16> -> tensor<64x1x72xf16>
    %y = tile.reshape %y3 : tensor<64x1x72xf16> -> tensor<64x72xf16>
    %yt = tile.transpose %y [1, 0] : tensor<64x72xf16> -> tensor<72x64xf16>
    %d = tile.dot %x, %yt, %empty : tensor<128x72xf16>, tensor<72x64xf16>, tensor<128x64xf32>
    %s = arith.mulf %d, %scale : tensor<128x64xf32>
    %a = tile.reduce max %s axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %a1 = tile.reshape %a : tensor<128xf32> -> tensor<128x1xf32>
    %next = arith.maximumf %most, %a1 : tensor<128x1xf32>
    %wide = tile.broadcast %next : tensor<128x1xf32> -> tensor<128x64xf32>
    %less = arith.subf %s, %wide : tensor<128x64xf32>
    %w = math.exp %less : tensor<128x64xf32>
    %fading = arith.subf %most, %next : tensor<128x1xf32>
    %fade = math.exp %fading : tensor<128x1xf32>
    %kept = arith.mulf %total, %fade : tensor<128x1xf32>
    %b = tile.reduce sum %w axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %b1 = tile.reshape %b : tensor<128xf32> -> tensor<128x1xf32>
    %sum = arith.addf %kept, %b1 : tensor<128x1xf32>
    %fades = tile.broadcast %fade : tensor<128x1xf32> -> tensor<128x72xf32>
    %before = arith.mulf %acc, %fades : tensor<128x72xf32>
    %h = arith.truncf %w : tensor<128x64xf32> to tensor<128x64xf16>
    %z3 = tile.load %v[%at, %head, %c0] : !tile.buffer<[256, 3, 72], f16> -> tensor<64x1x72xf16>
    %z = tile.reshape %z3 : tensor<64x1x72xf16> -> tensor<64x72xf16>
    %p = tile.dot %h, %z, %before : tensor<128x64xf16>, tensor<64x72xf16>, tensor<128x72xf32>
    tile.yield %next, %sum, %p : tensor<128x1xf32>, tensor<128x1xf32>, tensor<128x72xf32>
  }
  %all = tile.broadcast %t : tensor<128x1xf32> -> tensor<128x72xf32>
  %mean = arith.divf %r, %all : tensor<128x72xf32>
  %out = arith.truncf %mean : tensor<128x72xf32> to tensor<128x72xf16>
  %out3 = tile.reshape %out : tensor<128x72xf16> -> tensor<128x1x72xf16>
  tile.store %out3, %o[%row, %head, %c0] : tensor<128x1x72xf16>, !tile.buffer<[200, 3, 72], f16>
}

// Heads of 256 have room for one loop alone: it hides keys beyond the end in all blocks of them.

// HIDDEN: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// HIDDEN: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
tile.kernel @hidden(in %q: !tile.buffer<[100, 256], bf16>, in %k: !tile.buffer<[200, 256], bf16>,
    in %v: !tile.buffer<[200, 256], bf16>, out %o: !tile.buffer<[100, 256], bf16>) grid [1] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 200 : i32
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %root = arith.constant 0.0625 : f32
  %x = tile.load %q[%c0, %c0] : !tile.buffer<[100, 256], bf16> -> tensor<128x256xbf16>
  %most0 = tile.full %inf : f32 -> tensor<128x1xf32>
  %total0 = tile.full %zero : f32 -> tensor<128x1xf32>
  %none = tile.full %zero : f32 -> tensor<128x256xf32>
  %empty = tile.full %zero : f32 -> tensor<128x64xf32>
  %scale = tile.full %root : f32 -> tensor<128x64xf32>
  %hides = tile.full %inf : f32 -> tensor<128x64xf32>
  %ends = tile.full %end : i32 -> tensor<1x64xi32>
  %m, %t, %r = tile.for %i = %c0 to %c4 step %c1 carry (%most = %most0 : tensor<128x1xf32>,
      %total = %total0 : tensor<128x1xf32>, %acc = %none : tensor<128x256xf32>) {
    %at = arith.muli %i, %c64 : index
    %y = tile.load %k[%at, %c0] : !tile.buffer<[200, 256], bf16> -> tensor<64x256xbf16>
    %yt = tile.transpose %y [1, 0] : tensor<64x256xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %x, %yt, %empty : tensor<128x256xbf16>, tensor<256x64xbf16>, tensor<128x64xf32>
    %scaled = arith.mulf %d, %scale : tensor<128x64xf32>
    %place = tile.iota 1 from %at : tensor<1x64xi32>
    %is1 = arith.cmpi slt, %place, %ends : tensor<1x64xi32>
    %is = tile.broadcast %is1 : tensor<1x64xi1> -> tensor<128x64xi1>
    %s = arith.select %is, %scaled, %hides : tensor<128x64xi1>, tensor<128x64xf32>
    %a = tile.reduce max %s axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %a1 = tile.reshape %a : tensor<128xf32> -> tensor<128x1xf32>
    %next = arith.maximumf %most, %a1 : tensor<128x1xf32>
    %wide = tile.broadcast %next : tensor<128x1xf32> -> tensor<128x64xf32>
    %less = arith.subf %s, %wide : tensor<128x64xf32>
    %w = math.exp %less : tensor<128x64xf32>
    %fading = arith.subf %most, %next : tensor<128x1xf32>
    %fade = math.exp %fading : tensor<128x1xf32>
    %kept = arith.mulf %total, %fade : tensor<128x1xf32>
    %b = tile.reduce sum %w axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    %b1 = tile.reshape %b : tensor<128xf32> -> tensor<128x1xf32>
    %sum = arith.addf %kept, %b1 : tensor<128x1xf32>
    %fades = tile.broadcast %fade : tensor<128x1xf32> -> tensor<128x256xf32>
    %before = arith.mulf %acc, %fades : tensor<128x256xf32>
    %h = arith.truncf %w : tensor<128x64xf32> to tensor<128x64xbf16>
    %z = tile.load %v[%at, %c0] : !tile.buffer<[200, 256], bf16> -> tensor<64x256xbf16>
    %p = tile.dot %h, %z, %before : tensor<128x64xbf16>, tensor<64x256xbf16>, tensor<128x256xf32>
    tile.yield %next, %sum, %p : tensor<128x1xf32>, tensor<128x1xf32>, tensor<128x256xf32>
  }
  %all = tile.broadcast %t : tensor<128x1xf32> -> tensor<128x256xf32>
  %mean = arith.divf %r, %all : tensor<128x256xf32>
  %out = arith.truncf %mean : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %out, %o[%c0, %c0] : tensor<128x256xbf16>, !tile.buffer<[100, 256], bf16>
}

// Behind what is summed lie other numbers, which TMA would bring.

// INSIDE: multiplies without tensor cores: rows of 24 elements, no multiple of 16, with others behind them
tile.kernel @inside(in %q: !tile.buffer<[64, 32], f16>, in %k: !tile.buffer<[64, 32], f16>,
    in %v: !tile.buffer<[64, 32], f16>, out %o: !tile.buffer<[64, 32], f16>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x = tile.load %q[%c0, %c0] : !tile.buffer<[64, 32], f16> -> tensor<64x24xf16>
  %y = tile.load %k[%c0, %c0] : !tile.buffer<[64, 32], f16> -> tensor<64x24xf16>
  %z = tile.load %v[%c0, %c0] : !tile.buffer<[64, 32], f16> -> tensor<64x32xf16>
  %empty = tile.full %zero : f32 -> tensor<64x64xf32>
  %none = tile.full %zero : f32 -> tensor<64x32xf32>
  %yt = tile.transpose %y [1, 0] : tensor<64x24xf16> -> tensor<24x64xf16>
  %s = tile.dot %x, %yt, %empty : tensor<64x24xf16>, tensor<24x64xf16>, tensor<64x64xf32>
  %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %r = tile.dot %h, %z, %none : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
  %out = arith.truncf %r : tensor<64x32xf32> to tensor<64x32xf16>
  tile.store %out, %o[%c0, %c0] : tensor<64x32xf16>, !tile.buffer<[64, 32], f16>
}
