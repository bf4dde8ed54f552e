// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
//
// Attention stays recognisable: contraction, scale and mask, softmax, contraction.

// CHECK-LABEL: func.func @causal
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK: arith.cmpi sle
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: linalg.generic
func.func @causal(%q: !torch.vtensor<[2,4,5,8],f32>, %k: !torch.vtensor<[2,4,5,8],f32>) -> !torch.vtensor<[2,4,5,8],f32> {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %zero, %true, %none, %false : !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,5,8],f32>
  return %r : !torch.vtensor<[2,4,5,8],f32>
}

// The class of a target is checked before it is read; one that is ignored is not read.
// CHECK-LABEL: func.func @likelihood
// CHECK: arith.cmpi ne
// CHECK: tw.check_index {{.*}}index %lld is out of range for dimension 1 with size %lld"
// CHECK: tensor.extract
func.func @likelihood(%x: !torch.vtensor<[5,7],f32>, %t: !torch.vtensor<[5],si64>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %mean = torch.constant.int 1
  %ignored = torch.constant.int -100
  %r = torch.aten.nll_loss_nd %x, %t, %none, %mean, %ignored : !torch.vtensor<[5,7],f32>, !torch.vtensor<[5],si64>, !torch.none, !torch.int, !torch.int -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}
