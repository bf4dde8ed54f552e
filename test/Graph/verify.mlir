// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @few(%q: tensor<4x8xf32>, %scale: f64) -> tensor<4x8xf32> {
  // expected-error@+1 {{needs 4 indexing maps, but has 3}}
  %r = tw.attention ins(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) scale %scale
      outs(%q : tensor<4x8xf32>) {indexing_maps = [affine_map<(l, s, e, f) -> (l, e)>,
      affine_map<(l, s, e, f) -> (s, e)>, affine_map<(l, s, e, f) -> (s, f)>]} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @along(%q: tensor<4x8xf32>, %scale: f64) -> tensor<4x8xf32> {
  // expected-error@+1 {{the key must run along dimension 1}}
  %r = tw.attention ins(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) scale %scale
      outs(%q : tensor<4x8xf32>) {indexing_maps = [affine_map<(l, s, e, f) -> (l, e)>,
      affine_map<(l, s, e, f) -> (l, e)>, affine_map<(l, s, e, f) -> (s, f)>,
      affine_map<(l, s, e, f) -> (l, f)>]} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @sizes(%q: tensor<4x8xf32>, %k: tensor<5x9xf32>, %scale: f64) -> tensor<4x9xf32> {
  %e = tensor.empty() : tensor<4x9xf32>
  // expected-error@+1 {{dimension 2 is 8, but 9 in the key}}
  %r = tw.attention ins(%q, %k, %k : tensor<4x8xf32>, tensor<5x9xf32>, tensor<5x9xf32>) scale %scale
      outs(%e : tensor<4x9xf32>) {indexing_maps = [affine_map<(l, s, e, f) -> (l, e)>,
      affine_map<(l, s, e, f) -> (s, e)>, affine_map<(l, s, e, f) -> (s, f)>,
      affine_map<(l, s, e, f) -> (l, f)>]} -> tensor<4x9xf32>
  return %r : tensor<4x9xf32>
}

// -----

func.func @types(%q: tensor<4x8xf32>, %k: tensor<5x8xbf16>, %scale: f64) -> tensor<4x8xf32> {
  // expected-error@+1 {{query, key and value must have one type of floats}}
  %r = tw.attention ins(%q, %k, %k : tensor<4x8xf32>, tensor<5x8xbf16>, tensor<5x8xbf16>) scale %scale
      outs(%q : tensor<4x8xf32>) {indexing_maps = [affine_map<(l, s, e, f) -> (l, e)>,
      affine_map<(l, s, e, f) -> (s, e)>, affine_map<(l, s, e, f) -> (s, f)>,
      affine_map<(l, s, e, f) -> (l, f)>]} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#q = affine_map<(l, s, e, f) -> (l, e)>
#k = affine_map<(l, s, e, f) -> (s, e)>
#v = affine_map<(l, s, e, f) -> (s, f)>
#o = affine_map<(l, s, e, f) -> (l, f)>
#r = affine_map<(l, s, e, f) -> (l)>
func.func @gradients(%q: tensor<4x8xf32>, %l: tensor<4xf32>, %scale: f64) -> tensor<4x8xf32> {
  // expected-error@+1 {{needs 2 results and as many outs, but has 1 and 1}}
  %r = tw.attention_gradient wrt <query|value> ins(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      output(%q, %l, %l : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) scale %scale
      outs(%q : tensor<4x8xf32>) {indexing_maps = [#q, #k, #v, #o, #r, #r, #q]} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#q = affine_map<(l, s, e, f) -> (l, e)>
#k = affine_map<(l, s, e, f) -> (s, e)>
#v = affine_map<(l, s, e, f) -> (s, f)>
#o = affine_map<(l, s, e, f) -> (l, f)>
#r = affine_map<(l, s, e, f) -> (l)>
func.func @sums(%q: tensor<4x8xbf16>, %l: tensor<4xbf16>, %scale: f64) -> tensor<4x8xbf16> {
  // expected-error@+1 {{the log of sums and delta must be of 'f32'}}
  %r = tw.attention_gradient wrt <key> ins(%q, %q, %q : tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>)
      output(%q, %l, %l : tensor<4x8xbf16>, tensor<4xbf16>, tensor<4xbf16>) scale %scale
      outs(%q : tensor<4x8xbf16>) {indexing_maps = [#q, #k, #v, #o, #r, #r, #k]} -> tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}

// -----

#q = affine_map<(h, l, s, e, f) -> (h, l, e)>
#k = affine_map<(h, l, s, e, f) -> (s, e)>
#v = affine_map<(h, l, s, e, f) -> (h, s, f)>
#o = affine_map<(h, l, s, e, f) -> (h, l, f)>
#r = affine_map<(h, l, s, e, f) -> (h, l)>
func.func @batches(%q: tensor<2x4x8xf32>, %k: tensor<4x8xf32>, %l: tensor<2x4xf32>, %scale: f64)
    -> (tensor<4x8xf32>, tensor<2x4x8xf32>) {
  // expected-error@+1 {{gradients of key and value must both run along dimension 0, or neither}}
  %r:2 = tw.attention_gradient wrt <key|value> ins(%q, %k, %q : tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<2x4x8xf32>)
      output(%q, %l, %l : tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>) scale %scale
      outs(%k, %q : tensor<4x8xf32>, tensor<2x4x8xf32>) {indexing_maps = [#q, #k, #v, #o, #r, #r, #k, #v]}
      -> tensor<4x8xf32>, tensor<2x4x8xf32>
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<2x4x8xf32>
}
