// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
//
// The gradients of attention are one operation, which reads the output only for delta.

// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (0, d1, d3, d4)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d3, d4)>

// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<2x4x5x8xf32>, %[[X:[a-z0-9]+]]: tensor<2x4x5x8xf32>, %[[L:[a-z0-9]+]]: tensor<2x4x5xf32>
// CHECK: %[[DELTA:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[X]]
// CHECK: %[[R:.*]]:3 = tw.attention_gradient wrt <query|key|value> causal ins(%[[X]], %[[X]], %[[X]]
// CHECK-SAME: output(%[[G]], %[[L]], %[[DELTA]] :
// CHECK-SAME: indexing_maps = [#[[Q]], #[[K]], #[[V]], #[[O]], #[[ROW]], #[[ROW]], #[[Q]], #[[K]], #[[V]]]
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @causal(%g: !torch.vtensor<[2,4,5,8],f32>, %x: !torch.vtensor<[2,4,5,8],f32>, %l: !torch.vtensor<[2,4,5],f32>)
    -> (!torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %true = torch.constant.bool true
  %r:3 = torch.aten._scaled_dot_product_flash_attention_for_cpu_backward %g, %x, %x, %x, %x, %l, %zero, %true, %none, %none : !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5],f32>, !torch.float, !torch.bool, !torch.none, !torch.none -> !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>
  return %r#0, %r#1, %r#2 : !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>
}

// Keys that all of the batch shares: their gradient is a sum over it. The gradient of a mask is spelt
// out. Blocks of 32 fill the log of sums up.
// CHECK-LABEL: func.func @shared(
// CHECK: tensor.extract_slice {{.*}} tensor<2x4x32xf32> to tensor<2x4x5xf32>
// CHECK: tw.attention_gradient wrt <query|key|value> ins(
// CHECK-SAME: mask(%{{.*}} : tensor<1x4x5x5xf32>)
// CHECK-SAME: #[[ONE]]
// CHECK-SAME: #[[SUM]]
// CHECK-SAME: -> tensor<2x4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>
// CHECK: math.exp
func.func @shared(%g: !torch.vtensor<[2,4,5,8],f32>, %k: !torch.vtensor<[1,4,5,8],f32>, %m: !torch.vtensor<[1,4,5,5],f32>, %l: !torch.vtensor<[2,4,32],f32>)
    -> (!torch.vtensor<[1,4,5,8],f32>, !torch.vtensor<[1,4,5,5],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %wanted = torch.prim.ListConstruct %true, %true, %true, %true : (!torch.bool, !torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
  %seed = torch.constant.int 0
  %r:4 = torch.aten._scaled_dot_product_efficient_attention_backward %g, %g, %k, %k, %m, %g, %l, %l, %l, %zero, %wanted, %false, %none : !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[1,4,5,8],f32>, !torch.vtensor<[1,4,5,8],f32>, !torch.vtensor<[1,4,5,5],f32>, !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,32],f32>, !torch.vtensor<[2,4,32],f32>, !torch.vtensor<[2,4,32],f32>, !torch.float, !torch.list<bool>, !torch.bool, !torch.none -> !torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[1,4,5,8],f32>, !torch.vtensor<[1,4,5,8],f32>, !torch.vtensor<[1,4,5,5],f32>
  return %r#1, %r#3 : !torch.vtensor<[1,4,5,8],f32>, !torch.vtensor<[1,4,5,5],f32>
}

// Weights in the place of the log of sums: the forward pass becomes one operation, which the output
// comes from.
// CHECK-LABEL: func.func @decomposed(
// CHECK: %[[F:.*]]:2 = tw.attention ins(
// CHECK-NOT: tensor<4x5x5xf32>
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[F]]#0
// CHECK: tw.attention_gradient {{.*}} output(%{{.*}}, %[[F]]#1, %[[D]] :
// CHECK: return %[[F]]#0
func.func @decomposed(%g: !torch.vtensor<[4,5,8],f32>, %x: !torch.vtensor<[4,5,8],f32>, %w: !torch.vtensor<[4,5,5],f32>)
    -> (!torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %o = torch.aten.bmm %w, %x : !torch.vtensor<[4,5,5],f32>, !torch.vtensor<[4,5,8],f32> -> !torch.vtensor<[4,5,8],f32>
  %r:3 = torch.aten._scaled_dot_product_flash_attention_for_cpu_backward %g, %x, %x, %x, %o, %w, %zero, %false, %none, %none : !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,5],f32>, !torch.float, !torch.bool, !torch.none, !torch.none -> !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>
  return %o, %r#0 : !torch.vtensor<[4,5,8],f32>, !torch.vtensor<[4,5,8],f32>
}
