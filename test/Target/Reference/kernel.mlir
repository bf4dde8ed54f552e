// RUN: tilewright-opt %s -tw-target-reference | FileCheck %s

// A kernel becomes three functions: its loops, what it needs, and the callable one. There is one
// iteration, on one thread.
// CHECK-LABEL: llvm.func internal @k_loops(
// CHECK-SAME: %[[X:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[OUT:[^:]*]]: !llvm.ptr {llvm.noalias}
// CHECK: llvm.getelementptr inbounds %[[X]]
// CHECK: llvm.call @tanhf({{.*}}) {{.*}}memory_effects
// CHECK: llvm.getelementptr inbounds %[[OUT]]
// CHECK: llvm.store
// The result is written where it is returned: no workspace.
// CHECK-LABEL: llvm.func @k_info(
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.store %[[ONE]], %arg1
// CHECK: llvm.store %[[ZERO]]
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.call @k_loops
func.func private @k(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32>
    attributes {tw.kernel} {
  %y = linalg.map {math.tanh} ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>)
  return %y : tensor<?xf32>
}
