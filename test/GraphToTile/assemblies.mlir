// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -cse -split-input-file | FileCheck %s

// A concatenation: a program stores the parts of its rows, each where it goes.
// CHECK: tile.kernel @concat(in %in0: !tile.buffer<[5, 3], f32>, in %[[Y:.*]]: !tile.buffer<[5, 4], f32>,
// CHECK-SAME: out %[[OUT:.*]]: !tile.buffer<[5, 7], f32>) grid [5]
// CHECK: tile.load %in0
// CHECK: tile.store %{{.*}}, %[[OUT]][%{{.*}}, %{{.*}}] : tensor<1x3xf32>
// CHECK: tile.load %[[Y]]
// CHECK: %[[AT:.*]] = arith.constant 3 : index
// CHECK: tile.store %{{.*}}, %[[OUT]][%{{.*}}, %[[AT]]] : tensor<1x4xf32>
func.func private @concat(%x: tensor<5x3xf32>, %y: tensor<5x4xf32>, %out: tensor<5x7xf32>)
    -> tensor<5x7xf32> attributes {tw.kernel} {
  %a = tensor.insert_slice %x into %out[0, 0] [5, 3] [1, 1] : tensor<5x3xf32> into tensor<5x7xf32>
  %b = tensor.insert_slice %y into %a[0, 3] [5, 4] [1, 1] : tensor<5x4xf32> into tensor<5x7xf32>
  return %b : tensor<5x7xf32>
}

// -----

// Padding is one load that begins outside.
// CHECK-LABEL: tile.kernel @pad(in %in0: !tile.buffer<[3, 4], f32>
// CHECK: %[[BEFORE:.*]] = arith.constant -1 : index
// CHECK: %[[V:.*]] = tile.load %in0[%{{.*}}, %[[BEFORE]]] pad %{{.*}} -> tensor<3x6xf32>
// CHECK-NEXT: tile.store %[[V]], %out1
func.func private @pad(%x: tensor<3x4xf32>, %out: tensor<3x6xf32>) -> tensor<3x6xf32>
    attributes {tw.kernel} {
  %c = arith.constant 1.5 : f32
  %f = linalg.fill ins(%c : f32) outs(%out : tensor<3x6xf32>) -> tensor<3x6xf32>
  %p = tensor.insert_slice %x into %f[0, 1] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<3x6xf32>
  return %p : tensor<3x6xf32>
}

// -----

// Rows at a computed place are written over others; the sizes that the call gives tell that whole
// columns are.
// CHECK-LABEL: func.func @main
// CHECK: tw.dispatch @update(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: tile.kernel @update({{.*}}in %{{.*}}: !tile.buffer<[2, [[N:d[0-9]+]]], f32>, out %{{.*}}: !tile.buffer<[{{.*}}, [[N]]], f32>, %n0: i64)
// CHECK: tile.store
// CHECK: tile.store
func.func @main(%x: tensor<?x?xf32>, %y: tensor<2x?xf32>, %at: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = tw.dispatch @update(%x, %y, %at, %n) outs(%e)
     : (tensor<?x?xf32>, tensor<2x?xf32>, index, index) outs(tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
func.func private @update(%x: tensor<?x?xf32>, %y: tensor<2x?xf32>, %at: index, %n: index,
                          %out: tensor<?x?xf32>)
    -> tensor<?x?xf32> attributes {tw.kernel} {
  %b = linalg.copy ins(%x : tensor<?x?xf32>) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = tensor.insert_slice %y into %b[%at, 0] [2, %n] [1, 1] : tensor<2x?xf32> into tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// -----

// A part of what an operation computes is read from memory: two kernels.
// CHECK-LABEL: tile.kernel @part_0
// CHECK: math.exp
// CHECK-LABEL: tile.kernel @part_1(in %in0: !tile.buffer<[4, 6], f32>
// CHECK: %[[C:.*]] = arith.constant 2 : index
// CHECK: tile.load %in0[%{{.*}}, %[[C]]]
func.func private @part(%x: tensor<4x6xf32>, %out: tensor<4x3xf32>) -> tensor<4x3xf32>
    attributes {tw.kernel} {
  %e = tensor.empty() : tensor<4x6xf32>
  %a = linalg.exp ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = tensor.extract_slice %a[0, 2] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %y = linalg.negf ins(%s : tensor<4x3xf32>) outs(%out : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: tile.kernel @scan
// CHECK: tile.scan sum %{{.*}} axis 1 reverse
func.func private @scan(%x: tensor<4x6xf32>, %out: tensor<4x6xf32>) -> tensor<4x6xf32>
    attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %y = tw.scan dim 1 reverse ins(%x : tensor<4x6xf32>) initial(%zero : f32) outs(%out : tensor<4x6xf32>) {
  ^bb0(%s: f32, %a: f32):
    %r = arith.addf %s, %a : f32
    tw.yield %r : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: tile.kernel @first_greatest
// CHECK-DAG: tile.reduce max
// CHECK-DAG: tile.reduce argmax
func.func private @first_greatest(%x: tensor<4x6xi32>, %most: tensor<4xi32>, %place: tensor<4xi64>)
    -> (tensor<4xi32>, tensor<4xi64>) attributes {tw.kernel} {
  %least = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i64
  %f = linalg.fill ins(%least : i32) outs(%most : tensor<4xi32>) -> tensor<4xi32>
  %g = linalg.fill ins(%zero : i64) outs(%place : tensor<4xi64>) -> tensor<4xi64>
  %y:2 = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x6xi32>)
      outs(%f, %g : tensor<4xi32>, tensor<4xi64>) {
  ^bb0(%a: i32, %b: i32, %p: i64):
    %c = arith.cmpi slt, %b, %a : i32
    %n = linalg.index 1 : index
    %i = arith.index_cast %n : index to i64
    %r = arith.select %c, %a, %b : i32
    %q = arith.select %c, %i, %p : i64
    linalg.yield %r, %q : i32, i64
  } -> (tensor<4xi32>, tensor<4xi64>)
  return %y#0, %y#1 : tensor<4xi32>, tensor<4xi64>
}

// -----

// Long rows of a concatenation are copied in long pieces, of equal lengths; programs share the rows
// of each part.
// CHECK-LABEL: tile.kernel @long
// CHECK-SAME: grid [2, 3]
// CHECK: tile.load {{.*}} -> tensor<2x6672xf32>
// CHECK: tile.store
// CHECK: tile.load {{.*}} -> tensor<3x6672xf32>
// CHECK: tile.store
func.func private @long(%x: tensor<4x20000xf32>, %y: tensor<6x20000xf32>, %out: tensor<10x20000xf32>)
    -> tensor<10x20000xf32> attributes {tw.kernel} {
  %a = tensor.insert_slice %x into %out[0, 0] [4, 20000] [1, 1] : tensor<4x20000xf32> into tensor<10x20000xf32>
  %b = tensor.insert_slice %y into %a[4, 0] [6, 20000] [1, 1] : tensor<6x20000xf32> into tensor<10x20000xf32>
  return %b : tensor<10x20000xf32>
}

// -----

// Who computes the parts stores them where they belong: one kernel, without the parts in memory.
// CHECK: tile.kernel @sums(in %[[X:.*]]: !tile.buffer<[5, 8], f32>, in %{{.*}}, out %[[OUT:.*]]: !tile.buffer<[5, 2], f32>)
// CHECK: %[[S:.*]] = tile.reduce sum
// CHECK: %[[P:.*]] = tile.reduce sum
// CHECK-NOT: tile.load
// CHECK: tile.store %{{.*}}, %[[OUT]]
// CHECK: tile.store %{{.*}}, %[[OUT]]
// CHECK-NOT: tile.kernel
func.func private @sums(%x: tensor<5x8xf32>, %y: tensor<5x8xf32>, %out: tensor<5x2xf32>) -> tensor<5x2xf32>
    attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x8xf32>) outs(%f : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<5x8xf32>) outs(%f : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %c = tensor.expand_shape %s [[0, 1]] output_shape [5, 1] : tensor<5xf32> into tensor<5x1xf32>
  %d = tensor.expand_shape %t [[0, 1]] output_shape [5, 1] : tensor<5xf32> into tensor<5x1xf32>
  %i = tensor.insert_slice %c into %out[0, 0] [5, 1] [1, 1] : tensor<5x1xf32> into tensor<5x2xf32>
  %j = tensor.insert_slice %d into %i[0, 1] [5, 1] [1, 1] : tensor<5x1xf32> into tensor<5x2xf32>
  return %j : tensor<5x2xf32>
}
