// RUN: tilewright-opt %s -tw-drop-dead-results -split-input-file | FileCheck %s

#in = affine_map<(i, k) -> (i, k)>
#out = affine_map<(i, k) -> (i)>

// Nobody reads the places, and the values do not follow from them.
// CHECK-LABEL: func.func @values
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<4xf32>)
// CHECK-NOT: i64
// CHECK: linalg.yield %{{.*}} : f32
// CHECK: return %[[R]]
func.func @values(%x: tensor<4x8xf32>, %v: tensor<4xf32>, %p: tensor<4xi64>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i64
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%e: f32, %best: f32, %at: i64):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i64
    %better = arith.cmpf ogt, %e, %best : f32
    %isFirst = arith.cmpi slt, %at, %zero : i64
    %take = arith.ori %better, %isFirst : i1
    %value = arith.select %better, %e, %best : f32
    %place = arith.select %take, %here, %at : i64
    linalg.yield %value, %place : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0 : tensor<4xf32>
}

// -----

#in = affine_map<(i, k) -> (i, k)>
#out = affine_map<(i, k) -> (i)>

// The values are needed to find the places.
// CHECK-LABEL: func.func @places
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: return %[[R]]#1
func.func @places(%x: tensor<4x8xf32>, %v: tensor<4xf32>, %p: tensor<4xi64>) -> tensor<4xi64> {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%e: f32, %best: f32, %at: i64):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i64
    %better = arith.cmpf ogt, %e, %best : f32
    %value = arith.select %better, %e, %best : f32
    %place = arith.select %better, %here, %at : i64
    linalg.yield %value, %place : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#1 : tensor<4xi64>
}

// -----

#all = affine_map<(i, k) -> (i, k)>
#out = affine_map<(i, k) -> (i)>

// Nobody reads the first result, but only its destination says how often k runs.
// CHECK-LABEL: func.func @size
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: return %[[R]]#1
func.func @size(%d: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %r:2 = linalg.generic {indexing_maps = [#all, #out], iterator_types = ["parallel", "reduction"]}
      outs(%d, %s : tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%o: f32, %sum: f32):
    %t = arith.addf %sum, %one : f32
    linalg.yield %one, %t : f32, f32
  } -> (tensor<4x8xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}
