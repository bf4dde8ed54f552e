// RUN: tilewright-opt %s -tw-configure -tw-tile-programs -split-input-file | FileCheck %s

// A window over rows that are padded: for each of its places one strided load, which begins outside
// at the edge. The body's test of the places is gone.
// CHECK-LABEL: tile.kernel @pool(in %in0: !tile.buffer<[3, 16], f32>
// CHECK: %[[BEFORE:.*]] = arith.constant -1 : index
// CHECK: tile.load %in0[%{{.*}}, %{{.*}}] strides [1, 2] pad %{{.*}} -> tensor<3x8xf32>
// CHECK: tile.load %in0[%{{.*}}, %{{.*}}] strides [1, 2] pad %{{.*}} -> tensor<3x8xf32>
// CHECK-NOT: tile.load
// CHECK-NOT: arith.cmpi
// CHECK: tile.store
func.func private @pool(%x: tensor<3x16xf32>, %out: tensor<3x8xf32>) -> tensor<3x8xf32>
    attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<3x8xf32>) -> tensor<3x8xf32>
  %window = tensor.empty() : tensor<2xi1>
  %y = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%window : tensor<2xi1>)
      outs(%f : tensor<3x8xf32>) {
  ^bb0(%w: i1, %s: f32):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %first = arith.muli %n, %c2 : index
    %from = arith.subi %first, %c1 : index
    %at = arith.addi %from, %k : index
    %low = arith.cmpi sge, %at, %c0 : index
    %high = arith.cmpi slt, %at, %c16 : index
    %inside = arith.andi %low, %high : i1
    %safe = arith.select %inside, %at, %c0 : index
    %e = tensor.extract %x[%m, %safe] : tensor<3x16xf32>
    %v = arith.select %inside, %e, %zero : f32
    %r = arith.addf %s, %v : f32
    linalg.yield %r : f32
  } -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

// A reduction that is none of those known goes from element to element, with all rows in vectors.
// CHECK-LABEL: tile.kernel @last_positive
// CHECK: tile.for
// CHECK: arith.cmpf ogt
// CHECK: arith.select
// CHECK: tile.yield
// CHECK: tile.store
func.func private @last_positive(%x: tensor<100x40xf32>, %out: tensor<40xf32>) -> tensor<40xf32>
    attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<40xf32>) -> tensor<40xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>],
      iterator_types = ["reduction", "parallel"]} ins(%x : tensor<100x40xf32>) outs(%f : tensor<40xf32>) {
  ^bb0(%a: f32, %s: f32):
    %c = arith.cmpf ogt, %a, %zero : f32
    %r = arith.select %c, %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<40xf32>
  return %y : tensor<40xf32>
}

// -----

// A bag of an embedding: a program has one bag, whose rows it adds up.
// CHECK-LABEL: tile.kernel @bag(in %in0: !tile.buffer<[3], i64>
// CHECK: tile.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: tile.load %{{.*}} -> tensor<1x16xf32>
// CHECK: arith.addf
// CHECK: tile.store
func.func private @bag(%ends: tensor<3xi64>, %table: tensor<9x16xf32>, %out: tensor<2x16xf32>)
    -> tensor<2x16xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : tensor<2x16xf32>) {
  ^bb0(%o: f32):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %after = arith.addi %m, %c1 : index
    %from = tensor.extract %ends[%m] : tensor<3xi64>
    %to = tensor.extract %ends[%after] : tensor<3xi64>
    %a = arith.index_cast %from : i64 to index
    %b = arith.index_cast %to : i64 to index
    %begin = tw.check_index %a in %c10, "offset %lld is not below %lld"
    %end = tw.check_index %b in %c10, "offset %lld is not below %lld"
    %r = scf.for %i = %begin to %end step %c1 iter_args(%s = %zero) -> (f32) {
      %e = tensor.extract %table[%i, %n] : tensor<9x16xf32>
      %t = arith.addf %s, %e : f32
      scf.yield %t : f32
    }
    linalg.yield %r : f32
  } -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

// -----

// A scatter: its own rows run in the order of the indices, columns side by side. What it is based on
// is stored first, by the same program.
// CHECK-LABEL: tile.kernel @add_rows(in %in{{.*}}: !tile.buffer<[5, 16], f32>
// CHECK: tile.store %{{.*}} : tensor<5x16xf32>
// CHECK: tile.for
// CHECK: tile.check
// CHECK: tile.load %out{{.*}} -> tensor<1x16xf32>
// CHECK: arith.addf
// CHECK: tile.store
func.func private @add_rows(%x: tensor<5x16xf32>, %at: tensor<30xi64>, %y: tensor<30x16xf32>,
                            %out: tensor<5x16xf32>)
    -> tensor<5x16xf32> attributes {tw.kernel} {
  %c5 = arith.constant 5 : index
  %b = linalg.copy ins(%x : tensor<5x16xf32>) outs(%out : tensor<5x16xf32>) -> tensor<5x16xf32>
  %s = tw.scatter add ins(%at, %y : tensor<30xi64>, tensor<30x16xf32>) outs(%b : tensor<5x16xf32>)
      attributes {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>]} {
  ^bb0(%i: i64, %v: f32):
    %p = arith.index_cast %i : i64 to index
    %row = tw.check_index %p in %c5, "index %lld is not one of %lld rows"
    %j = tw.index 1
    tw.yield %row, %j, %v : index, index, f32
  } -> tensor<5x16xf32>
  return %s : tensor<5x16xf32>
}

// -----

// Of two loops along an axis a program has one place of the outer one: a load that begins there.
// CHECK-LABEL: tile.kernel @unfold(in %in0: !tile.buffer<[1000], f32>
// CHECK-SAME: grid [3]
// CHECK: %[[K:.*]] = tile.program_id 0
// CHECK: tile.load %in0[%[[K]]] {{.*}} -> tensor<998xf32>
// CHECK-NOT: tile.iota
// CHECK: tile.store
func.func private @unfold(%x: tensor<1000xf32>, %out: tensor<3x998xf32>) -> tensor<3x998xf32>
    attributes {tw.kernel} {
  %y = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : tensor<3x998xf32>) {
  ^bb0(%o: f32):
    %k = linalg.index 0 : index
    %n = linalg.index 1 : index
    %at = arith.addi %k, %n : index
    %e = tensor.extract %x[%at] : tensor<1000xf32>
    linalg.yield %e : f32
  } -> tensor<3x998xf32>
  return %y : tensor<3x998xf32>
}

// -----

// Each element has a position of its own along the first axis. Neighbours in memory are never the
// same element, so a program updates a row of them at a time.
// CHECK-LABEL: tile.kernel @add_elements
// CHECK-SAME: grid [1]
// CHECK: tile.for
// CHECK: %[[P:.*]] = tile.check %{{.*}} : tensor<{{.*}}32xi64>
// CHECK: tile.gather %out
// CHECK: arith.addf
// CHECK: tile.scatter
func.func private @add_elements(%x: tensor<5x32xf32>, %at: tensor<30x32xi64>, %y: tensor<30x32xf32>,
                                %out: tensor<5x32xf32>)
    -> tensor<5x32xf32> attributes {tw.kernel} {
  %c5 = arith.constant 5 : index
  %b = linalg.copy ins(%x : tensor<5x32xf32>) outs(%out : tensor<5x32xf32>) -> tensor<5x32xf32>
  %s = tw.scatter add ins(%at, %y : tensor<30x32xi64>, tensor<30x32xf32>) outs(%b : tensor<5x32xf32>)
      attributes {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]} {
  ^bb0(%p: i64, %v: f32):
    %i = arith.index_cast %p : i64 to index
    %k = tw.check_index %i in %c5, "index %lld is not below %lld"
    %j = tw.index 1
    tw.yield %k, %j, %v : index, index, f32
  } -> tensor<5x32xf32>
  return %s : tensor<5x32xf32>
}
