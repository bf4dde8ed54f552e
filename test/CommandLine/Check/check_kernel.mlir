// A kernel that is wrong, given in the place of the compiler's, is named: the dispatches behind it get the
// reference's values, so that they are not.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: tilewright compile %models/small_mlp/small_mlp.pt2 -o %t.dir/model.so --dump-to=%t.dir/dumps
// RUN: sed 's/maximum(/0.5 * maximum(/' %t.dir/dumps/kernels/linear_relu.cpp > %t.dir/wrong.cpp
// RUN: not tilewright check %models/small_mlp/small_mlp.pt2 --kernels=%t.dir/wrong.cpp --interpret --input=@%models/small_mlp/c0s0_in0.npy 2>&1 | FileCheck %s
// CHECK: error[TW-CLI-0004]: output "output_0" differs
// CHECK: error[TW-CLI-0010]: dispatch 0 "linear+1" is the first that differs from the reference target
// CHECK: note: it runs kernel {{.*}}, which computes: linear, relu
// CHECK: note: its result is the value of small_mlp.pt2: node relu (#1), from basic.py:{{[0-9]+}} in SmallMlp.forward
// CHECK: note: 82 of 160 elements differ
// CHECK: note: [2, 5]: 0.757{{[0-9]+}}, expected 1.514
// CHECK: note: the interpreter computes the same from its kernel: the kernel is wrong, not its code
// CHECK: note: dispatches: 2 compared, of which 1 differ; 0 not compared
