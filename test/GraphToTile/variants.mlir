// A product whose rows only calls tell has a kernel for one row and one for few, beside that for
// any number: small blocks read no more of the first operand than there is.
// RUN: tilewright-opt %s -tw-configure | FileCheck %s
// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s --check-prefix=TILE
// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -tile-fuse | FileCheck %s --check-prefix=FUSED

// CHECK: func.func private @product
// CHECK-SAME: kernels[<"contraction" {{.*}} variants[<1, <"contraction" {{.*}}rows = 1 : i64{{.*}}>>, <2, <"contraction" {{.*}}rows = 2 : i64{{.*}}>>, <4, <"contraction" {{.*}}rows = 4 : i64{{.*}}>>, <6, <"contraction"
// TILE: tile.kernel @product({{.*}}symbols [[[M:[a-z0-9_]+]]] grid
// TILE-SAME: tile.variants = [@product_max1
// TILE: tile.kernel @product_max1({{.*}}symbols [[[M]] {min = 1, max = 1}] grid

// What follows the product follows it in each variant.
// FUSED: tile.variants = [@product_max1{{[_0-9]*}}
// FUSED: tile.kernel @product_max1{{.*}}min = 1, max = 1
// FUSED: tile.dot
// FUSED: math.tanh
// FUSED: tile.store
// FUSED-NOT: tile.kernel @after

func.func private @product(%a: tensor<?x128xf32>, %b: tensor<128x256xf32>, %out: tensor<?x256xf32>)
    -> tensor<?x256xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x256xf32>) -> tensor<?x256xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<?x128xf32>, tensor<128x256xf32>) outs(%0 : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %1 : tensor<?x256xf32>
}

func.func private @after(%a: tensor<?x256xf32>, %out: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tw.kernel} {
  %0 = linalg.tanh ins(%a : tensor<?x256xf32>) outs(%out : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}

func.func @main(%a: tensor<?x128xf32>, %b: tensor<128x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %x = tw.dispatch @product(%a, %b) outs(%e) : (tensor<?x128xf32>, tensor<128x256xf32>)
       outs(tensor<?x256xf32>) -> tensor<?x256xf32>
  %f = tensor.empty(%m) : tensor<?x256xf32>
  %y = tw.dispatch @after(%x) outs(%f) : (tensor<?x256xf32>) outs(tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
