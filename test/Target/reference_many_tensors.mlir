// RUN: tilewright-opt %s -tw-target-reference | FileCheck %s

// So many tensors that the table of their buffers grows while results are placed in it: each result still
// has its own sizes, so that nothing is stored to the first element alone.
// CHECK: llvm.func internal @k_loops
// CHECK-NOT: llvm.store %{{[0-9]+}}, %arg
// CHECK: llvm.func @k_info
func.func @k(%x: tensor<12x3xf32>, %o0: tensor<12x3xf32>, %o1: tensor<12x3xf32>, %o2: tensor<12x3xf32>, %o3: tensor<12x3xf32>, %o4: tensor<12x3xf32>, %o5: tensor<12x3xf32>, %o6: tensor<12x3xf32>, %o7: tensor<12x3xf32>, %o8: tensor<12x3xf32>, %o9: tensor<12x3xf32>, %o10: tensor<12x3xf32>, %o11: tensor<12x3xf32>, %o12: tensor<12x3xf32>, %o13: tensor<12x3xf32>, %o14: tensor<12x3xf32>, %o15: tensor<12x3xf32>, %o16: tensor<12x3xf32>, %o17: tensor<12x3xf32>, %o18: tensor<12x3xf32>, %o19: tensor<12x3xf32>, %o20: tensor<12x3xf32>, %o21: tensor<12x3xf32>, %o22: tensor<12x3xf32>, %o23: tensor<12x3xf32>) -> (tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>) attributes {tw.kernel} {
  %s = tensor.extract_slice %x[0, 0] [1, 3] [1, 1] : tensor<12x3xf32> to tensor<1x3xf32>
  %c0 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o0 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r0 = tensor.insert_slice %s into %c0[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c1 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o1 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r1 = tensor.insert_slice %s into %c1[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c2 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o2 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r2 = tensor.insert_slice %s into %c2[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c3 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o3 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r3 = tensor.insert_slice %s into %c3[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c4 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o4 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r4 = tensor.insert_slice %s into %c4[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c5 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o5 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r5 = tensor.insert_slice %s into %c5[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c6 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o6 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r6 = tensor.insert_slice %s into %c6[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c7 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o7 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r7 = tensor.insert_slice %s into %c7[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c8 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o8 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r8 = tensor.insert_slice %s into %c8[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c9 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o9 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r9 = tensor.insert_slice %s into %c9[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c10 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o10 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r10 = tensor.insert_slice %s into %c10[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c11 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o11 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r11 = tensor.insert_slice %s into %c11[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c12 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o12 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r12 = tensor.insert_slice %s into %c12[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c13 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o13 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r13 = tensor.insert_slice %s into %c13[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c14 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o14 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r14 = tensor.insert_slice %s into %c14[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c15 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o15 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r15 = tensor.insert_slice %s into %c15[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c16 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o16 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r16 = tensor.insert_slice %s into %c16[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c17 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o17 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r17 = tensor.insert_slice %s into %c17[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c18 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o18 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r18 = tensor.insert_slice %s into %c18[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c19 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o19 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r19 = tensor.insert_slice %s into %c19[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c20 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o20 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r20 = tensor.insert_slice %s into %c20[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c21 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o21 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r21 = tensor.insert_slice %s into %c21[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c22 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o22 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r22 = tensor.insert_slice %s into %c22[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  %c23 = linalg.copy ins(%x : tensor<12x3xf32>) outs(%o23 : tensor<12x3xf32>) -> tensor<12x3xf32>
  %r23 = tensor.insert_slice %s into %c23[11, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<12x3xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23 : tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>, tensor<12x3xf32>
}
