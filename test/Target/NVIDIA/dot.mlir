// A thread has a block of the result in registers, and reads its operands in place. Products of f32
// are fused multiply-adds of f32. The accumulator of the loop is updated where it lies, in shared
// memory.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s --check-prefix=PTX --implicit-check-not=tf32

// CHECK: scf.while
// CHECK: nvvm.barrier0
// CHECK: scf.for %[[TRIP:.*]] =
// CHECK: %[[SUMS:.*]]:16 = scf.for {{.*}} to %c32_i64
// CHECK-COUNT-16: math.fma
// CHECK: nvvm.barrier0
// CHECK: llvm.store {{.*}} : f32
// PTX-DAG: fma.rn.f32
// PTX-DAG: st.shared.b32
tile.kernel @product(in %a: !tile.buffer<[M, K], f32>, in %b: !tile.buffer<[K, 160], f32>,
    out %c: !tile.buffer<[M, 160], f32>) symbols [M, K] grid [M ceildiv 32] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %rows = arith.constant 32 : index
  %m = arith.muli %p, %rows : index
  %depth = tile.size K
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : f32 -> tensor<32x160xf32>
  %sum = tile.for %k = %c0 to %depth step %rows carry (%acc = %none : tensor<32x160xf32>) {
    %x = tile.load %a[%m, %k] : !tile.buffer<[M, K], f32> -> tensor<32x32xf32>
    %y = tile.load %b[%k, %c0] : !tile.buffer<[K, 160], f32> -> tensor<32x160xf32>
    %next = tile.dot %x, %y, %acc : tensor<32x32xf32>, tensor<32x160xf32>, tensor<32x160xf32>
    tile.yield %next : tensor<32x160xf32>
  }
  tile.store %sum, %c[%m, %c0] : tensor<32x160xf32>, !tile.buffer<[M, 160], f32>
}
