// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s

// One element that several operations make of a sum is computed by all threads, as scalars are: nobody waits for it.

// The sum, of what each warp has:
// CHECK: nvvm.barrier0
// CHECK: math.sqrt
// CHECK: arith.divf
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.store
tile.kernel @scaled(in %x: !tile.buffer<[100, 256], f32>, out %y: !tile.buffer<[100, 256], f32>) grid [100] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %row = tile.load %x[%m, %c0] : !tile.buffer<[100, 256], f32> -> tensor<1x256xf32>
  %sum = tile.reduce sum %row axis 1 : tensor<1x256xf32> -> tensor<1xf32>
  %column = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %root = math.sqrt %column : tensor<1x1xf32>
  %ones = tile.full %one : f32 -> tensor<1x1xf32>
  %scale = arith.divf %ones, %root : tensor<1x1xf32>
  %all = tile.broadcast %scale : tensor<1x1xf32> -> tensor<1x256xf32>
  %out = arith.mulf %row, %all : tensor<1x256xf32>
  tile.store %out, %y[%m, %c0] : tensor<1x256xf32>, !tile.buffer<[100, 256], f32>
}
