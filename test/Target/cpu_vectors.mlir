// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile program becomes vector code for the CPU that is named: rows of 32 numbers are vectors of its registers, as
// loops or in the llvm dialect.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v3 loops})' | FileCheck %s --check-prefixes=ALL,LOOPS,V3
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4 loops})' | FileCheck %s --check-prefixes=ALL,LOOPS,V4
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=x86-64-v4})' | FileCheck %s --check-prefixes=ALL,LLVM
// RUN: not tilewright-opt %s -pass-pipeline='builtin.module(tw-target-cpu{cpu=z80})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// ALL-NOT: tile.kernel
// ALL: llvm.func internal @double_loops(
// LOOPS: scf.for
// V3-COUNT-4: arith.addf {{.*}} : vector<8xf32>
// V4-COUNT-2: arith.addf {{.*}} : vector<16xf32>
// LLVM-NOT: scf.
// LLVM-COUNT-2: llvm.fadd {{.*}} : vector<16xf32>
// ALL: llvm.func {{.*}}@double_info(
// UNKNOWN: there is no target "cpu:z80"
tile.kernel @double(in %x: !tile.buffer<[8, 32], f32>, out %y: !tile.buffer<[8, 32], f32>) grid [8] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[8, 32], f32> -> tensor<1x32xf32>
  %u = arith.addf %t, %t : tensor<1x32xf32>
  tile.store %u, %y[%p, %c0] : tensor<1x32xf32>, !tile.buffer<[8, 32], f32>
}
