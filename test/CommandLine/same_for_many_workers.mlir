// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution by Winograd's method, attention with a linear layer and a softmax, and a product of two inputs: results are the same
// bytes for 1 and for 16 threads. For these some of the kernels have another variant.
// RUN: tilewright compile %s --target=cpu:x86-64-v3 -o %t.v3.so --report=json | FileCheck %s
// RUN: tilewright compile %s -o %t.so
// RUN: %python %S/Inputs/same_for_threads.py %t.v3.so 1,6,16 1x256x14x14 256x256x3x3 8x128x64 512x512 512x768 512x768
// RUN: %python %S/Inputs/same_for_threads.py %t.so 1,6,16 1x256x14x14 256x256x3x3 8x128x64 512x512 512x768 512x768

// CHECK-DAG: "variants": [{"workers_at_least": 6, "kind": "convolution"
// CHECK-DAG: "variants": [{"workers_at_least": 6, "kind": "contraction"
// CHECK-DAG: "kind": "winograd_weights"
// CHECK-DAG: "kind": "attention"
func.func @main(%x: !torch.vtensor<[1,256,14,14],f32>, %w: !torch.vtensor<[256,256,3,3],f32>, %t: !torch.vtensor<[8,128,64],f32>, %p: !torch.vtensor<[512,512],f32>, %q: !torch.vtensor<[512,768],f32>, %r: !torch.vtensor<[512,768],f32>)
    -> (!torch.vtensor<[1,256,14,14],f32>, !torch.vtensor<[128,512],f32>, !torch.vtensor<[768,768],f32>) {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %zero = torch.constant.float 0.0
  %n128 = torch.constant.int 128
  %n512 = torch.constant.int 512
  %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
  %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
  // A convolution by Winograd's method, whose weights are transformed in the call.
  %a = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !torch.vtensor<[1,256,14,14],f32>, !torch.vtensor<[256,256,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[1,256,14,14],f32>
  %b = torch.aten.relu %a : !torch.vtensor<[1,256,14,14],f32> -> !torch.vtensor<[1,256,14,14],f32>
  // Attention, a linear layer, and a softmax.
  %c = torch.aten.scaled_dot_product_attention %t, %t, %t, %none, %zero, %false, %none, %false : !torch.vtensor<[8,128,64],f32>, !torch.vtensor<[8,128,64],f32>, !torch.vtensor<[8,128,64],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[8,128,64],f32>
  %d = torch.aten.transpose.int %c, %0, %1 : !torch.vtensor<[8,128,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[128,8,64],f32>
  %s = torch.prim.ListConstruct %n128, %n512 : (!torch.int, !torch.int) -> !torch.list<int>
  %e = torch.aten.reshape %d, %s : !torch.vtensor<[128,8,64],f32>, !torch.list<int> -> !torch.vtensor<[128,512],f32>
  %f = torch.aten.mm %e, %p : !torch.vtensor<[128,512],f32>, !torch.vtensor<[512,512],f32> -> !torch.vtensor<[128,512],f32>
  %g = torch.aten.softmax.int %f, %1, %none : !torch.vtensor<[128,512],f32>, !torch.int, !torch.none -> !torch.vtensor<[128,512],f32>
  // A gradient of weights: a product of two inputs, the first transposed.
  %h = torch.aten.transpose.int %q, %0, %1 : !torch.vtensor<[512,768],f32>, !torch.int, !torch.int -> !torch.vtensor<[768,512],f32>
  %i = torch.aten.mm %h, %r : !torch.vtensor<[768,512],f32>, !torch.vtensor<[512,768],f32> -> !torch.vtensor<[768,768],f32>
  return %b, %g, %i : !torch.vtensor<[1,256,14,14],f32>, !torch.vtensor<[128,512],f32>, !torch.vtensor<[768,768],f32>
}
