// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
//
// Attention is one operation, which reads through transposes; the log of its sums is only there where
// it is read.

// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, 0, 0, d3)>
// CHECK-LABEL: func.func @causal
// CHECK-NOT: linalg
// CHECK: tw.attention causal
// CHECK-SAME: indexing_maps = [#[[Q]], #[[K]], #[[V]], #[[O]]]
// CHECK-NOT: linalg.generic
func.func @causal(%q: !torch.vtensor<[2,4,5,8],f32>, %k: !torch.vtensor<[2,4,5,8],f32>) -> !torch.vtensor<[2,4,5,8],f32> {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %zero, %true, %none, %false : !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,5,8],f32>
  return %r : !torch.vtensor<[2,4,5,8],f32>
}

// A mask of one row is repeated; the query is read as it lies.
// CHECK-LABEL: func.func @masked
// CHECK: tw.attention ins
// CHECK-SAME: mask(%{{.*}} : tensor<2x1x1x5xi1>)
// CHECK-SAME: indexing_maps = [#[[TURNED]], #[[K]], #[[V]], #[[ROW]], #[[O]]]
func.func @masked(%q: !torch.vtensor<[2,3,4,8],f32>, %k: !torch.vtensor<[2,4,5,8],f32>, %m: !torch.vtensor<[2,1,1,5],i1>) -> !torch.vtensor<[2,4,3,8],f32> {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %t = torch.aten.transpose.int %q, %one, %two : !torch.vtensor<[2,3,4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4,3,8],f32>
  %r = torch.aten.scaled_dot_product_attention %t, %k, %k, %m, %zero, %false, %none, %false : !torch.vtensor<[2,4,3,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,1,1,5],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,3,8],f32>
  return %r : !torch.vtensor<[2,4,3,8],f32>
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

// Where only calls tell the numbers of heads, and no flag says whether they are shared, they are grouped.
// CHECK-LABEL: func.func @open_heads
// CHECK: tw.assert %{{.*}}, "aten._scaled_dot_product_flash_attention_for_cpu: the heads of the query are not a multiple of the key's
// CHECK: tw.attention ins(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : tensor<2x?x?x5x8xf32>, tensor<2x?x6x8xf32>, tensor<2x?x6x8xf32>)
func.func @open_heads(%q: !torch.vtensor<[2,?,5,8],f32>, %k: !torch.vtensor<[2,?,6,8],f32>) -> !torch.vtensor<[2,?,5,8],f32> {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %r:2 = torch.aten._scaled_dot_product_flash_attention_for_cpu %q, %k, %k, %zero, %false, %none, %none : !torch.vtensor<[2,?,5,8],f32>, !torch.vtensor<[2,?,6,8],f32>, !torch.vtensor<[2,?,6,8],f32>, !torch.float, !torch.bool, !torch.none, !torch.none -> !torch.vtensor<[2,?,5,8],f32>, !torch.vtensor<[2,?,5],f32>
  return %r#0 : !torch.vtensor<[2,?,5,8],f32>
}
