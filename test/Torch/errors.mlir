// RUN: tilewright-opt %s -split-input-file -verify-diagnostics
// Errors speak of operands by the names PyTorch's schema gives them.

func.func @missing(%a: !torch.vtensor<[2,2],f32>) {
  // expected-error@+2 {{'torch.aten.mm' expects 2 operands, got 1; missing 'mat2'}}
  // expected-note@+1 {{schema: aten::mm(Tensor self, Tensor mat2) -> Tensor}}
  %r = torch.aten.mm %a : !torch.vtensor<[2,2],f32> -> !torch.vtensor<[2,2],f32>
  return
}

// -----

func.func @wrong_type(%a: !torch.vtensor<[2,2],f32>, %i: !torch.int) {
  // expected-error@+2 {{'torch.aten.mm' op operand #1 'mat2' must be 'Tensor', but got '!torch.int'}}
  // expected-note@+1 {{schema: aten::mm(Tensor self, Tensor mat2) -> Tensor}}
  %r = torch.aten.mm %a, %i : !torch.vtensor<[2,2],f32>, !torch.int -> !torch.vtensor<[2,2],f32>
  return
}

// -----

func.func @written(%a: !torch.vtensor<[2],f32>, %i: !torch.int) {
  // expected-error@+2 {{operand #0 'self' must be a mutable (!torch.tensor) 'Tensor', but got '!torch.vtensor<[2],f32>'}}
  // expected-note@+1 {{schema: aten::add_.Scalar(}}
  %r = torch.aten.add_.Scalar %a, %i, %i : !torch.vtensor<[2],f32>, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
  return
}

// -----

func.func @results(%a: !torch.vtensor<[2,2],f32>, %i: !torch.int, %b: !torch.bool) {
  // expected-error@+2 {{'torch.aten.max.dim' op expects 2 results, got 1}}
  // expected-note@+1 {{-> (Tensor values, Tensor indices)}}
  %r = "torch.aten.max.dim"(%a, %i, %b) : (!torch.vtensor<[2,2],f32>, !torch.int, !torch.bool) -> !torch.vtensor<[2],f32>
  return
}

// -----

func.func @unknown(%a: !torch.vtensor<[2],f32>) {
  // expected-error@+1 {{'torch.aten.nosuchop' is unknown}}
  %r = torch.aten.nosuchop %a : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return
}

// -----

func.func @list_of_floats(%l: !torch.list<float>, %n: !torch.none) {
  // expected-error@+2 {{operand #0 'size' must be 'SymInt[]', but got '!torch.list<float>'}}
  // expected-note@+1 {{schema: aten::zeros(}}
  %r = torch.aten.zeros %l, %n, %n, %n, %n : !torch.list<float>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],f32>
  return
}

// -----

// expected-error@+1 {{'!torch.dict' takes 2 types, got 1}}
func.func private @dict(!torch.dict<int>)

// -----

// expected-error@+1 {{a size cannot be negative; an unknown one is '?'}}
func.func private @negative(!torch.vtensor<[-3],f32>)
