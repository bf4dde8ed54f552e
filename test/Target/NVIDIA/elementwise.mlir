// One block a program, four neighbours a thread. What lies beyond the buffer is not touched: neighbours of which not
// all are there are read and written one by one. There is no scratch memory and no barrier, and polynomials
// instead of libm.
// RUN: tilewright kernel print %s --as=loops --target=nvidia:sm_90a | FileCheck %s
// RUN: tilewright kernel print %s --as=assembly --target=nvidia:sm_90a | FileCheck %s --check-prefix=PTX

// CHECK: llvm.func @kernel(%[[X:.*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias},
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>
// CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: scf.while
// CHECK: ^bb0(%[[PROGRAM:.*]]: i64):
// CHECK: %[[BEGIN:.*]] = arith.muli %[[PROGRAM]], %c160_i64
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]],
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[AT]],
// CHECK: %[[LAST:.*]] = arith.cmpi ult,
// CHECK: %[[ALL:.*]] = arith.andi %[[FIRST]], %[[LAST]]
// CHECK: scf.if %[[ALL]] -> (f32, f32, f32, f32)
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: else
// CHECK: scf.if %[[FIRST]] -> (f32)
// CHECK: llvm.load {{.*}} -> f32
// CHECK: math.fma

// PTX: .target sm_90a
// PTX: .entry kernel(
// PTX: .reqntid 64
// PTX-NOT: call
// PTX-NOT: bar.sync
// PTX-DAG: ld.global{{.*}}.v4.b32
// PTX-DAG: ld.global{{.*}}.b32
// PTX-DAG: fma.rn.f32
// PTX-DAG: st.global.v4.b32
// PTX-DAG: st.global.b32
tile.kernel @expOf(in %x: !tile.buffer<[403], f32>, out %y: !tile.buffer<[403], f32>)
    grid [3] {
  %p = tile.program_id 0
  %size = arith.constant 160 : index
  %begin = arith.muli %p, %size : index
  %t = tile.load %x[%begin] : !tile.buffer<[403], f32> -> tensor<160xf32>
  %e = math.exp %t : tensor<160xf32>
  tile.store %e, %y[%begin] : tensor<160xf32>, !tile.buffer<[403], f32>
}
