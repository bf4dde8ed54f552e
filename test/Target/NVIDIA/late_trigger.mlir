// When the next launch may begin: of attention of few keys, of which programs have one trip, when results are stored.
// RUN: tilewright kernel print %s --target=nvidia:sm_90a --as=assembly | FileCheck %s
// CHECK: griddepcontrol.wait
// CHECK-NOT: griddepcontrol.launch_dependents
// CHECK: wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 	0
// CHECK: griddepcontrol.launch_dependents
// CHECK: stmatrix
// Where the configuration says otherwise, behind the wait.
// RUN: sed 's/grid \[2\]/grid [2] attributes {tile.configuration = #tile.config<"attention" {groups = 1 : i64, keys = 64 : i64, one_loop = false, queries = 64 : i64, query_programs = 1 : i64, split_keys = false, split_parts = 0 : i64, transposed = false} on <"nvidia" {late_trigger = false, ping_pong = false, stages = 1 : i64, warp_groups = 1 : i64}>>}/' %s > %t.mlir
// RUN: tilewright kernel print %t.mlir --target=nvidia:sm_90a --as=assembly | FileCheck %s --check-prefix=EARLY
// EARLY: griddepcontrol.wait
// EARLY-NEXT: griddepcontrol.launch_dependents
// EARLY: wgmma.mma_async
// EARLY-NOT: griddepcontrol.launch_dependents
tile.kernel @few_keys(in %q: !tile.buffer<[128, 64], f16>, in %k: !tile.buffer<[64, 64], f16>,
    in %v: !tile.buffer<[64, 64], f16>, out %o: !tile.buffer<[128, 64], f16>) grid [2] {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %id = tile.program_id 0
  %row = arith.muli %id, %c64 : index
  %x = tile.load %q[%row, %c0] : !tile.buffer<[128, 64], f16> -> tensor<64x64xf16>
  %y = tile.load %k[%c0, %c0] : !tile.buffer<[64, 64], f16> -> tensor<64x64xf16>
  %z = tile.load %v[%c0, %c0] : !tile.buffer<[64, 64], f16> -> tensor<64x64xf16>
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : f32 -> tensor<64x64xf32>
  %yt = tile.transpose %y [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %s = tile.dot %x, %yt, %none : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %a = tile.reduce max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  %a1 = tile.reshape %a : tensor<64xf32> -> tensor<64x1xf32>
  %wide = tile.broadcast %a1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %d = arith.subf %s, %wide : tensor<64x64xf32>
  %w = math.exp %d : tensor<64x64xf32>
  %b = tile.reduce sum %w axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  %b1 = tile.reshape %b : tensor<64xf32> -> tensor<64x1xf32>
  %h = arith.truncf %w : tensor<64x64xf32> to tensor<64x64xf16>
  %p = tile.dot %h, %z, %none : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %all = tile.broadcast %b1 : tensor<64x1xf32> -> tensor<64x64xf32>
  %mean = arith.divf %p, %all : tensor<64x64xf32>
  %out = arith.truncf %mean : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %out, %o[%row, %c0] : tensor<64x64xf16>, !tile.buffer<[128, 64], f16>
}
