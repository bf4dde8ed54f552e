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
