// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists, tuples, dictionaries, and changes of static type.
include "IR/Torch/TorchBase.td"

def ListConstructOp : TorchOp<"prim.ListConstruct", [Pure]> {
  let summary = "[a, b, ...]";
  let arguments = (ins Variadic<AnyTorchType>:$elements);
  let results = (outs TorchListType:$result);
  let assemblyFormat = "$elements attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def ListUnpackOp : TorchOp<"prim.ListUnpack", [NoMemoryEffect]> {
  let summary = "The elements of a list whose length is the number of results";
  let arguments = (ins AnyTorchType:$operand);
  let results = (outs Variadic<AnyTorchType>:$results);
  let assemblyFormat = [{
    $operand attr-dict `:` qualified(type($operand)) `->` qualified(type($results))
  }];
  let hasCanonicalizeMethod = 1;
}
def TupleConstructOp : TorchOp<"prim.TupleConstruct", [Pure]> {
  let summary = "(a, b, ...)";
  let arguments = (ins Variadic<AnyTorchType>:$elements);
  let results = (outs TorchTupleType:$result);
  let assemblyFormat = [{
    $elements attr-dict `:` qualified(type($elements)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def DictConstructOp : TorchOp<"prim.DictConstruct", [SameVariadicOperandSize, NoMemoryEffect]> {
  let summary = "{key: value, ...}";
  let arguments = (ins Variadic<AnyTorchType>:$keys, Variadic<AnyTorchType>:$values);
  let results = (outs TorchDictType:$result);
  let assemblyFormat = [{
    `keys` `(` ($keys^ `:` qualified(type($keys)))? `)`
    `values` `(` ($values^ `:` qualified(type($values)))? `)`
    attr-dict `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def DerefineOp : TorchOp<"derefine", [Pure]> {
  let summary = "The value as one of a wider type, such as an int as an optional int";
  let arguments = (ins AnyTorchType:$operand);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` qualified(type($operand)) `to` qualified(type($result))
  }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
