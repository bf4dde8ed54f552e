// RUN: tilewright-opt %s -tw-target-reference | FileCheck %s

// A kernel becomes three functions: its loops with what is known about overlap, how often they run,
// and the callable one. Boxes of 8192 elements are the iterations.
// CHECK-LABEL: llvm.func internal @k_loops(
// The input and the out may be one buffer, so neither is noalias; the scalars are.
// CHECK-SAME: %[[X:[^:]*]]: !llvm.ptr {llvm.readonly}, %[[OUT:[^:]*]]: !llvm.ptr, %{{.*}}: !llvm.ptr {llvm.noalias}
// CHECK: llvm.getelementptr inbounds %[[X]]
// CHECK: llvm.load {{.*}}access_groups
// CHECK: llvm.call @tanhf({{.*}}) {{.*}}memory_effects
// CHECK: llvm.store
// CHECK-LABEL: llvm.func @k_info(
// CHECK: 8191
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.call @k_loops
func.func private @k(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32>
    attributes {tw.kernel, tw.rows = 1 : i64} {
  %y = linalg.map {math.tanh} ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>)
  return %y : tensor<?xf32>
}
