// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What AArch64's code of a few kernels is made of: whole vectors, fused operations where both of their parts allow it,
// and no calls.

// RUN: tilewright kernel print %s --kernel=softmax --as=assembly --target=cpu:aarch64 | FileCheck %s --check-prefix=SOFTMAX --implicit-check-not='{{[[:space:]]}}bl{{[[:space:]]}}'
// exp is a polynomial.
// SOFTMAX: fmla v{{[0-9]+}}.4s
// SOFTMAX: fmul v{{[0-9]+}}.4s
tile.kernel @softmax(in %x: !tile.buffer<[64, 1000], f32>, out %y: !tile.buffer<[64, 1000], f32>) grid [64] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[64, 1000], f32> -> tensor<1x1000xf32>
  %m = tile.reduce max %t axis 1 : tensor<1x1000xf32> -> tensor<1xf32>
  %r = tile.reshape %m : tensor<1xf32> -> tensor<1x1xf32>
  %b = tile.broadcast %r : tensor<1x1xf32> -> tensor<1x1000xf32>
  %d = arith.subf %t, %b : tensor<1x1000xf32>
  %e = math.exp %d : tensor<1x1000xf32>
  %s = tile.reduce sum %e axis 1 : tensor<1x1000xf32> -> tensor<1xf32>
  %u = tile.reshape %s : tensor<1xf32> -> tensor<1x1xf32>
  %v = tile.broadcast %u : tensor<1x1xf32> -> tensor<1x1000xf32>
  %q = arith.divf %e, %v : tensor<1x1000xf32>
  tile.store %q, %y[%p, %c0] : tensor<1x1000xf32>, !tile.buffer<[64, 1000], f32>
}

// A product that is used once is fused with the sum; one that is used again keeps its value: x * x - max(x * x) is 0 at
// the maximum. There, no operation is fused.
// RUN: tilewright kernel print %s --kernel=fused --as=assembly --target=cpu:aarch64 | FileCheck %s --check-prefix=FUSED --implicit-check-not=fadd
// FUSED: fmla v{{[0-9]+}}.4s
tile.kernel @fused(in %x: !tile.buffer<[8, 32], f32>, in %z: !tile.buffer<[8, 32], f32>, out %y: !tile.buffer<[8, 32], f32>) grid [8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[8, 32], f32> -> tensor<1x32xf32>
  %a = tile.load %z[%p, %c0] : !tile.buffer<[8, 32], f32> -> tensor<1x32xf32>
  %m = arith.mulf %t, %a : tensor<1x32xf32>
  %s = arith.addf %m, %a : tensor<1x32xf32>
  tile.store %s, %y[%p, %c0] : tensor<1x32xf32>, !tile.buffer<[8, 32], f32>
}
// RUN: tilewright kernel print %s --kernel=rounded --as=assembly --target=cpu:aarch64 | FileCheck %s --check-prefix=ROUNDED --implicit-check-not=fmla --implicit-check-not=fmls
// ROUNDED: fmul v{{[0-9]+}}.4s
// ROUNDED: fsub v{{[0-9]+}}.4s
tile.kernel @rounded(in %x: !tile.buffer<[8, 32], f32>, out %y: !tile.buffer<[8, 32], f32>) grid [8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[8, 32], f32> -> tensor<1x32xf32>
  %s = arith.mulf %t, %t : tensor<1x32xf32>
  %m = tile.reduce max %s axis 1 : tensor<1x32xf32> -> tensor<1xf32>
  %r = tile.reshape %m : tensor<1xf32> -> tensor<1x1xf32>
  %b = tile.broadcast %r : tensor<1x1xf32> -> tensor<1x32xf32>
  %d = arith.subf %s, %b : tensor<1x32xf32>
  tile.store %d, %y[%p, %c0] : tensor<1x32xf32>, !tile.buffer<[8, 32], f32>
}

// f16 is converted by instructions, and f32 to bf16 in whole vectors.
// RUN: tilewright kernel print %s --kernel=half --as=assembly --target=cpu:aarch64 | FileCheck %s --check-prefix=HALF --implicit-check-not='{{[[:space:]]}}bl{{[[:space:]]}}'
// HALF-DAG: fcvtl v{{[0-9]+}}.4s
// HALF-DAG: fcvtn
// HALF-DAG: addhn v{{[0-9]+}}.4h
tile.kernel @half(in %x: !tile.buffer<[8, 32], f16>, out %y: !tile.buffer<[8, 32], f16>, out %z: !tile.buffer<[8, 32], bf16>) grid [8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[8, 32], f16> -> tensor<1x32xf16>
  %w = arith.extf %t : tensor<1x32xf16> to tensor<1x32xf32>
  %d = arith.addf %w, %w : tensor<1x32xf32>
  %n = arith.truncf %d : tensor<1x32xf32> to tensor<1x32xf16>
  %b = arith.truncf %d : tensor<1x32xf32> to tensor<1x32xbf16>
  tile.store %n, %y[%p, %c0] : tensor<1x32xf16>, !tile.buffer<[8, 32], f16>
  tile.store %b, %z[%p, %c0] : tensor<1x32xbf16>, !tile.buffer<[8, 32], bf16>
}
