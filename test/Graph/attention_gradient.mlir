// RUN: tilewright-opt %s -tw-fold-attention-transposes -tw-drop-dead-results | FileCheck %s
// RUN: tilewright-opt %s -tw-group-queries | FileCheck %s --check-prefix=GROUP
// RUN: tilewright-opt %s -tw-sum-group-gradients | FileCheck %s --check-prefix=SUM

#q = affine_map<(b, h, l, s, e, f) -> (b, h, l, e)>
#k = affine_map<(b, h, l, s, e, f) -> (b, h, s, e)>
#v = affine_map<(b, h, l, s, e, f) -> (b, h, s, f)>
#o = affine_map<(b, h, l, s, e, f) -> (b, h, l, f)>
#r = affine_map<(b, h, l, s, e, f) -> (b, h, l)>

// What is transposed before and after is read, and written, as it lies; nobody reads the gradient of
// the key, which goes.
// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5)>
// CHECK-DAG: #[[R:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[X:.*]]: tensor<2x7x4x8xf32>
// CHECK: %[[BOTH:.*]]:2 = tw.attention_gradient wrt <query|value> causal ins(%[[X]],
// CHECK-SAME: indexing_maps = [#[[Q]], #[[K]], #[[V]], #[[O]], #[[R]], #[[R]], #[[Q]], #[[V]]]
// CHECK-SAME: -> tensor<2x7x4x8xf32>, tensor<2x4x5x8xf32>
// CHECK: return %[[BOTH]]#0, %[[BOTH]]#1
func.func @transposed(%x: tensor<2x7x4x8xf32>, %k: tensor<2x4x5x8xf32>, %g: tensor<2x4x7x8xf32>, %l: tensor<2x4x7xf32>)
    -> (tensor<2x7x4x8xf32>, tensor<2x4x5x8xf32>) {
  %scale = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<2x4x7x8xf32>
  %q = linalg.transpose ins(%x : tensor<2x7x4x8xf32>) outs(%e : tensor<2x4x7x8xf32>) permutation = [0, 2, 1, 3]
  %s = tensor.empty() : tensor<2x4x5x8xf32>
  %r:3 = tw.attention_gradient wrt <query|key|value> causal
      ins(%q, %k, %k : tensor<2x4x7x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>)
      output(%g, %l, %l : tensor<2x4x7x8xf32>, tensor<2x4x7xf32>, tensor<2x4x7xf32>)
      scale %scale outs(%e, %s, %s : tensor<2x4x7x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>)
      {indexing_maps = [#q, #k, #v, #o, #r, #r, #q, #k, #v]}
      -> tensor<2x4x7x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
  %e1 = tensor.empty() : tensor<2x7x4x8xf32>
  %t = linalg.transpose ins(%r#0 : tensor<2x4x7x8xf32>) outs(%e1 : tensor<2x7x4x8xf32>) permutation = [0, 2, 1, 3]
  return %t, %r#2 : tensor<2x7x4x8xf32>, tensor<2x4x5x8xf32>
}

// Keys that are repeated for groups of queries are read once.
// GROUP-LABEL: func.func @grouped(
// GROUP-SAME: %[[Q:.*]]: tensor<2x4x7x8xf32>, %[[K:.*]]: tensor<2x2x5x8xf32>
// GROUP: tensor.expand_shape %[[Q]] {{.*}} into tensor<2x2x2x7x8xf32>
// GROUP: %[[R:.*]] = tw.attention_gradient wrt <key> ins(%{{.*}}, %[[K]], %[[K]] :
// GROUP-SAME: -> tensor<2x2x2x5x8xf32>
// GROUP: tensor.collapse_shape %[[R]] {{.*}} into tensor<2x4x5x8xf32>
func.func @grouped(%q: tensor<2x4x7x8xf32>, %k: tensor<2x2x5x8xf32>, %l: tensor<2x4x7xf32>) -> tensor<2x4x5x8xf32> {
  %scale = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<2x2x2x5x8xf32>
  %b = linalg.broadcast ins(%k : tensor<2x2x5x8xf32>) outs(%e : tensor<2x2x2x5x8xf32>) dimensions = [2]
  %a = tensor.collapse_shape %b [[0], [1, 2], [3], [4]] : tensor<2x2x2x5x8xf32> into tensor<2x4x5x8xf32>
  %s = tensor.empty() : tensor<2x4x5x8xf32>
  %r = tw.attention_gradient wrt <key> ins(%q, %a, %a : tensor<2x4x7x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>)
      output(%q, %l, %l : tensor<2x4x7x8xf32>, tensor<2x4x7xf32>, tensor<2x4x7xf32>)
      scale %scale outs(%s : tensor<2x4x5x8xf32>) {indexing_maps = [#q, #k, #v, #o, #r, #r, #k]} -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}

// What is summed over the groups is summed where it is computed, if both key and value are.
// SUM-LABEL: func.func @summed(
// SUM: %[[R:.*]]:3 = tw.attention_gradient
// SUM-SAME: -> tensor<2x3x7x8xf32>, tensor<2x5x8xf32>, tensor<2x8x5xf32>
// SUM-NOT: linalg.generic
// SUM: return %[[R]]#0, %[[R]]#1, %[[R]]#2
// SUM-LABEL: func.func @by_key(
// SUM: tw.attention_gradient
// SUM: linalg.generic
#gq = affine_map<(b, g, l, s, e, f) -> (b, g, l, e)>
#gk = affine_map<(b, g, l, s, e, f) -> (b, s, e)>
#gv = affine_map<(b, g, l, s, e, f) -> (b, s, f)>
#go = affine_map<(b, g, l, s, e, f) -> (b, g, l, f)>
#gr = affine_map<(b, g, l, s, e, f) -> (b, g, l)>
#gdk = affine_map<(b, g, l, s, e, f) -> (b, g, s, e)>
#gdv = affine_map<(b, g, l, s, e, f) -> (b, g, s, f)>
func.func @summed(%q: tensor<2x3x7x8xf32>, %k: tensor<2x5x8xf32>, %l: tensor<2x3x7xf32>)
    -> (tensor<2x3x7x8xf32>, tensor<2x5x8xf32>, tensor<2x8x5xf32>) {
  %scale = arith.constant 0.5 : f64
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x5x8xf32>
  %r:3 = tw.attention_gradient wrt <query|key|value> ins(%q, %k, %k : tensor<2x3x7x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>)
      output(%q, %l, %l : tensor<2x3x7x8xf32>, tensor<2x3x7xf32>, tensor<2x3x7xf32>)
      scale %scale outs(%q, %e, %e : tensor<2x3x7x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>)
      {indexing_maps = [#gq, #gk, #gv, #go, #gr, #gr, #gq, #gdk, #gdv]} -> tensor<2x3x7x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>
  %ek = tensor.empty() : tensor<2x5x8xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %sk = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, d, b, c)>, affine_map<(a, b, c, d) -> (a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%r#1 : tensor<2x3x5x8xf32>) outs(%zk : tensor<2x5x8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %y = arith.addf %sum, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x5x8xf32>
  %ev = tensor.empty() : tensor<2x8x5xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<2x8x5xf32>) -> tensor<2x8x5xf32>
  %sv = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, d, c, b)>, affine_map<(a, b, c, d) -> (a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%r#2 : tensor<2x3x5x8xf32>) outs(%zv : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %y = arith.addf %sum, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x8x5xf32>
  return %r#0, %sk, %sv : tensor<2x3x7x8xf32>, tensor<2x5x8xf32>, tensor<2x8x5xf32>
}

// A sum over keys, too, is another one.
func.func @by_key(%q: tensor<2x3x7x8xf32>, %k: tensor<2x5x8xf32>, %l: tensor<2x3x7xf32>) -> tensor<2x8xf32> {
  %scale = arith.constant 0.5 : f64
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x5x8xf32>
  %r = tw.attention_gradient wrt <key> ins(%q, %k, %k : tensor<2x3x7x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>)
      output(%q, %l, %l : tensor<2x3x7x8xf32>, tensor<2x3x7xf32>, tensor<2x3x7xf32>)
      scale %scale outs(%e : tensor<2x3x5x8xf32>)
      {indexing_maps = [#gq, #gk, #gv, #go, #gr, #gr, #gdk]} -> tensor<2x3x5x8xf32>
  %ek = tensor.empty() : tensor<2x8xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<2x8xf32>) -> tensor<2x8xf32>
  %sk = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, c, d, b)>, affine_map<(a, b, c, d) -> (a, b)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%r : tensor<2x3x5x8xf32>) outs(%zk : tensor<2x8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %y = arith.addf %sum, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x8xf32>
  return %sk : tensor<2x8xf32>
}

// So is what is rounded behind a sum of a wider type: it is rounded inside.
// SUM-LABEL: func.func @rounded(
// SUM: %[[R:.*]] = tw.attention_gradient wrt <key>
// SUM-SAME: -> tensor<2x5x8xbf16>
// SUM: %[[C:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<2x5x8xbf16>)
// SUM-NEXT: ^bb0(%[[X:.*]]: bf16, %{{.*}}: bf16):
// SUM-NEXT: linalg.yield %[[X]] : bf16
// SUM: return %[[C]]
func.func @rounded(%q: tensor<2x3x7x8xbf16>, %k: tensor<2x5x8xbf16>, %l: tensor<2x3x7xf32>) -> tensor<2x1x5x8xbf16> {
  %scale = arith.constant 0.5 : f64
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x5x8xbf16>
  %r = tw.attention_gradient wrt <key> ins(%q, %k, %k : tensor<2x3x7x8xbf16>, tensor<2x5x8xbf16>, tensor<2x5x8xbf16>)
      output(%q, %l, %l : tensor<2x3x7x8xbf16>, tensor<2x3x7xf32>, tensor<2x3x7xf32>)
      scale %scale outs(%e : tensor<2x3x5x8xbf16>)
      {indexing_maps = [#gq, #gk, #gv, #go, #gr, #gr, #gdk]} -> tensor<2x3x5x8xbf16>
  %ek = tensor.empty() : tensor<2x5x8xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %sk = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, d, b, c)>, affine_map<(a, b, c, d) -> (a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%r : tensor<2x3x5x8xbf16>) outs(%zk : tensor<2x5x8xf32>) {
  ^bb0(%x: bf16, %sum: f32):
    %w = arith.extf %x : bf16 to f32
    %y = arith.addf %sum, %w : f32
    linalg.yield %y : f32
  } -> tensor<2x5x8xf32>
  %en = tensor.empty() : tensor<2x1x5x8xbf16>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sk : tensor<2x5x8xf32>) outs(%en : tensor<2x1x5x8xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<2x1x5x8xbf16>
  return %n : tensor<2x1x5x8xbf16>
}

// Keys that another program has repeated are cut where their gradients are summed over groups.
// GROUP-LABEL: func.func @repeated_before(
// GROUP-SAME: %[[Q:[^:]*]]: tensor<2x6x7x8xf32>, %[[K:[^:]*]]: tensor<2x6x5x8xf32>
// GROUP-DAG: %[[QG:.*]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<2x2x3x7x8xf32>
// GROUP-DAG: %[[KG:.*]] = tensor.expand_shape %[[K]] {{.*}} into tensor<2x2x3x5x8xf32>
// GROUP: %[[R:.*]] = tw.attention_gradient wrt <key> ins(%[[QG]], %[[KG]],
// GROUP-SAME: -> tensor<2x2x3x5x8xf32>
func.func @repeated_before(%q: tensor<2x6x7x8xf32>, %k: tensor<2x6x5x8xf32>, %l: tensor<2x6x7xf32>) -> tensor<2x2x5x8xf32> {
  %scale = arith.constant 0.5 : f64
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x5x8xf32>
  %r = tw.attention_gradient wrt <key> ins(%q, %k, %k : tensor<2x6x7x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>)
      output(%q, %l, %l : tensor<2x6x7x8xf32>, tensor<2x6x7xf32>, tensor<2x6x7xf32>)
      scale %scale outs(%e : tensor<2x6x5x8xf32>) {indexing_maps = [#q, #k, #v, #o, #r, #r, #k]} -> tensor<2x6x5x8xf32>
  %g = tensor.expand_shape %r [[0], [1, 2], [3], [4]] output_shape [2, 2, 3, 5, 8] : tensor<2x6x5x8xf32> into tensor<2x2x3x5x8xf32>
  %ek = tensor.empty() : tensor<2x2x5x8xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<2x2x5x8xf32>) -> tensor<2x2x5x8xf32>
  %sk = linalg.generic {indexing_maps = [affine_map<(a, h, b, c, d) -> (a, h, d, b, c)>, affine_map<(a, h, b, c, d) -> (a, h, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%g : tensor<2x2x3x5x8xf32>) outs(%zk : tensor<2x2x5x8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %y = arith.addf %sum, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x2x5x8xf32>
  return %sk : tensor<2x2x5x8xf32>
}
