// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=2x3xf32=1,0,0,0,1,0 --input=3x4xf32=1,2,3,4,5,6,7,8,9,10,11,12 --input=4xf32=-3 --expected-output=2x4xf32=0,0,0,1,2,3,4,5 --expected-output=2xf32=1,14 | FileCheck %s
// RUN: not tilewright run %t.so --input=9x3xf32=1 --input=3x4xf32=1 --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=ASSERT

// linalg on tensors of a size that is known at run time, with a function and an assertion.

// CHECK: all 8 elements agree
// CHECK: all 2 elements agree
// ASSERT: error[TW-RUNTIME-0013]: at most eight rows

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
module {
  func.func private @bias(%x: tensor<?x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %b : tensor<?x4xf32>, tensor<4xf32>) outs(%e : tensor<?x4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.addf %p, %q : f32
        %z = arith.constant 0.0 : f32
        %m = arith.maximumf %s, %z : f32
        linalg.yield %m : f32
    } -> tensor<?x4xf32>
    return %r : tensor<?x4xf32>
  }
  func.func @main(%x: tensor<?x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %zero = arith.constant 0.000000e+00 : f32
    %n = tensor.dim %x, %c0 : tensor<?x3xf32>
    %ok = arith.cmpi slt, %n, %c9 : index
    cf.assert %ok, "at most eight rows"
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %mm = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
    %y = call @bias(%mm, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    %e1 = tensor.empty(%n) : tensor<?xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y : tensor<?x4xf32>) outs(%f1 : tensor<?xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = arith.addf %p, %o : f32
        linalg.yield %s : f32
    } -> tensor<?xf32>
    return %y, %sum : tensor<?x4xf32>, tensor<?xf32>
  }
}
