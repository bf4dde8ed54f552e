// One block a program, one element a thread; what lies beyond the buffer is not touched. There is no
// scratch memory and no barrier, and polynomials instead of libm.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s --check-prefix=PTX

// CHECK: llvm.func @kernel(%[[X:.*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias},
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 160, 1, 1>
// CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: scf.for %[[PROGRAM:.*]] =
// CHECK: %[[BEGIN:.*]] = arith.muli %[[PROGRAM]], %c160_i64
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]],
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[AT]],
// CHECK: scf.if %[[IN]] -> (f32)
// CHECK: llvm.load
// CHECK: math.fma

// PTX: .target sm_90a
// PTX: .entry kernel(
// PTX: .reqntid 160
// PTX-NOT: call
// PTX: ld.global{{.*}}.b32
// PTX: fma.rn.f32
// PTX: st.global.b32
tile.kernel @expOf(in %x: !tile.buffer<[N], f32>, out %y: !tile.buffer<[N], f32>)
    symbols [N] grid [N ceildiv 160] {
  %p = tile.program_id 0
  %size = arith.constant 160 : index
  %begin = arith.muli %p, %size : index
  %t = tile.load %x[%begin] : !tile.buffer<[N], f32> -> tensor<160xf32>
  %e = math.exp %t : tensor<160xf32>
  tile.store %e, %y[%begin] : tensor<160xf32>, !tile.buffer<[N], f32>
}
