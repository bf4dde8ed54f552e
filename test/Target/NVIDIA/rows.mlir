// A row of 4096 f16 is read once, in accesses of 128 bits, and stays in registers: 256 threads have two groups of
// eight neighbours each. All of them know what warps have reduced after one barrier each.
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | grep -c 'ld.global.*v4.b32' | grep -x 2
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | grep -c 'st.global.*v4.b32' | grep -x 2
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | grep -c 'bar.sync\|barrier.sync' | grep -x 3

// CHECK: .reqntid 256
// CHECK-NOT: ld.global{{.*}}.b16
// CHECK-NOT: st.global{{.*}}.b16
tile.kernel @softmax(in %x: !tile.buffer<[M, 4096], f16>, out %y: !tile.buffer<[M, 4096], f16>) symbols [M] grid [M] {
  %m = tile.program_id 0
  %c0 = arith.constant 0 : index
  %narrow = tile.load %x[%m, %c0] : !tile.buffer<[M, 4096], f16> -> tensor<1x4096xf16>
  %row = arith.extf %narrow : tensor<1x4096xf16> to tensor<1x4096xf32>
  %most = tile.reduce max %row axis 1 : tensor<1x4096xf32> -> tensor<1xf32>
  %column = tile.reshape %most : tensor<1xf32> -> tensor<1x1xf32>
  %mosts = tile.broadcast %column : tensor<1x1xf32> -> tensor<1x4096xf32>
  %less = arith.subf %row, %mosts : tensor<1x4096xf32>
  %e = math.exp %less : tensor<1x4096xf32>
  %sum = tile.reduce sum %e axis 1 : tensor<1x4096xf32> -> tensor<1xf32>
  %sums = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %divisors = tile.broadcast %sums : tensor<1x1xf32> -> tensor<1x4096xf32>
  %share = arith.divf %e, %divisors : tensor<1x4096xf32>
  %out = arith.truncf %share : tensor<1x4096xf32> to tensor<1x4096xf16>
  tile.store %out, %y[%m, %c0] : tensor<1x4096xf16>, !tile.buffer<[M, 4096], f16>
}
